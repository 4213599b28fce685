"""`smdp lock`: a plan locked before outcomes are seen, and its preregistration."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from smdp.commands.terminal import say
from smdp.errors import SettingError

if TYPE_CHECKING:
    from smdp.analysis.locked_plan import LockedPlan

EPILOG = """\
examples:
  smdp lock plan.toml --data study.csv --out locked.toml
  smdp lock plan.toml --out locked.toml --registration plan.docx      before there are data
  smdp run plan.toml --data study.csv --hide-outcome --out trial/     to try it, outcome shuffled
  smdp lock trial/analysis.smdp --out locked.toml                     plan and table of a trial
  smdp run plan.toml --data study.csv --locked locked.toml --out results/

The locked file holds the plan, the fingerprints of plan and table, the date and the versions; it is
refused once it was changed. A report of an analysis that is held against it lists every deviation.

exit code: 0 done, 2 an error
"""


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "lock",
        help="lock a plan before outcomes are seen, and write its preregistration",
        description="Lock an analysis plan: what will be done with which table, and since when "
        "that is fixed. Nothing is analysed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "plan", type=Path, help="the plan (.toml or .json), or a saved analysis (.smdp)"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="the table, if it is there already"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", required=True, help="the locked plan (.toml)"
    )
    parser.add_argument(
        "--registration",
        type=Path,
        metavar="FILE",
        help="the plan as the text of a preregistration (.docx, .html or .md)",
    )
    parser.add_argument("--title", default="", help="of the preregistration")
    parser.add_argument("--author", default="", help="of the preregistration")
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from smdp.analysis.locked_plan import lock_plan
    from smdp.analysis.plan import read_plan
    from smdp.analysis.provenance import source_of
    from smdp.atomic_write import write_whole
    from smdp.report.documents import check_ending, document_bytes

    if options.registration is not None:
        check_ending(options.registration)
    for path in filter(None, (options.out, options.registration)):
        if path.exists() and not options.overwrite:
            raise SettingError(f"'{path}' is there already.", "Name another, or add --overwrite.")
    if options.plan.suffix.lower() == ".smdp":
        locked = _of_analysis(options)
    else:
        plan, source = read_plan(options.plan), None
        if options.data is not None:
            from smdp.data.read_table import read_table

            source = source_of(read_table(options.data, sheet=plan.reading.sheet))
        locked = lock_plan(plan, source)
    say(f"{write_whole(options.out, locked.to_toml().encode())}")
    say(f"locked on {locked.date}, fingerprint {locked.fingerprint}")
    if options.registration is not None:
        from smdp.report.locked import build_preregistration

        report = build_preregistration(locked, title=options.title, author=options.author)
        content = document_bytes(report, options.registration.suffix)
        say(f"{write_whole(options.registration, content)}")
    return 0


def _of_analysis(options: argparse.Namespace) -> LockedPlan:
    """A saved analysis knows its table, and whether the outcome is hidden."""
    from smdp.analysis.analysis import load_analysis

    if options.data is not None:
        raise SettingError(
            "A saved analysis has its own table, so --data says nothing.",
            "Leave --data out, or lock the plan alone (plan.toml) with another table.",
        )
    return load_analysis(options.plan).lock()
