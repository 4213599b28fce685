"""Runs the measurements in this folder, one after the other.

Those that take many minutes, simulation studies of tests, only with --slow; their tables are
kept beside them.
"""

import subprocess
import sys
from pathlib import Path

SLOW = {
    "abstaining",
    "as_in_the_paper",
    "before_and_after",
    "closed_set",
    "dimension_test",
    "effects",
    "feature_map",
    "ingredients",
    "markov",
    "new_data",
    "optimum",
    "passport",
    "pessimistic",
    "policies",
    "policy_value",
    "scale",
    "size_and_power",
    "student_learners",
    "student_sample",
    "tests_by_person",
    "twin",
    "whole_analysis",
    "whole_value",
}

here = Path(__file__).parent
failed = []
for script in sorted(here.glob("*.py")):
    if script.name.startswith("_") or (script.stem in SLOW and "--slow" not in sys.argv):
        continue
    print(f"== {script.stem}", flush=True)
    if subprocess.run([sys.executable, str(script)], cwd=here.parent, check=False).returncode:
        failed.append(script.stem)
if failed:
    sys.exit(f"failed: {', '.join(failed)}")
