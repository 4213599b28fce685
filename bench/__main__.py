"""Runs every measurement in this folder, one after the other."""

import subprocess
import sys
from pathlib import Path

here = Path(__file__).parent
failed = []
for script in sorted(here.glob("*.py")):
    if script.name.startswith("_"):
        continue
    print(f"== {script.stem}", flush=True)
    if subprocess.run([sys.executable, str(script)], cwd=here.parent, check=False).returncode:
        failed.append(script.stem)
if failed:
    sys.exit(f"failed: {', '.join(failed)}")
