"""`smdp bench`: measure, and print the figures."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from smdp.errors import SmdpError

CHECKOUT = Path(__file__).resolve().parents[2]


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "bench",
        help="measure how fast it is, in a checkout of the source",
        description="Run the measurements in the folder 'bench' of a checkout, one after the "
        "other, and print their figures. They compare with other programs where there are any.",
        epilog="Example: smdp bench",
    )
    parser.add_argument(
        "--slow",
        action="store_true",
        help="also those that take hours: size and power of the tests by simulation",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if not (CHECKOUT / "bench" / "__main__.py").is_file():
        raise SmdpError(
            "The measurements are not part of an installation.",
            "Run this command from a checkout of the source, where the folder 'bench' is.",
        )
    command = [sys.executable, "-m", "bench", *(["--slow"] if options.slow else [])]
    return subprocess.run(command, cwd=CHECKOUT, check=False).returncode
