"""`smdp run`: carry out an analysis plan."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from smdp.commands.terminal import ProgressBar, complain, say
from smdp.data.files.registry import formats_in_words
from smdp.errors import SettingError, SmdpError

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan

NOT_FINISHED, INTERRUPTED = 1, 130
EPILOG = """\
examples:
  smdp run plan.toml --data study.csv --out results/
  smdp run analysis.smdp --out again/          the plan and the data of a saved analysis
  smdp run plan.toml --data study.csv --out results/ --stop-after screening

A plan is exported by the dashboard, or written by hand; what is left out has its default:
  [roles]
  subject = "student"
  time = "report"
  action = "module"
  states = ["stress", "urge", "cigs"]
  utility = { variable = "cigs", sign = -1 }   # minus the next value; or a column's name

  [screening]
  level = 0.1
  seed = 1

exit code: 0 done, 1 the plan could not be done to its end, 2 an error, 130 interrupted
"""


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "run",
        help="carry out an analysis plan, with the numbers that the dashboard gives",
        description="Carry out an analysis plan on a table, without the dashboard. The same plan "
        "and the same table give the same numbers, to the last digit, as the clicks did. "
        "Everything runs on this machine, unless a cluster is named.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "plan", type=Path, help="the plan (.toml or .json), or a saved analysis (.smdp)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help=f"the table: {formats_in_words()} (default: the one in the .smdp); tables that "
        "the plan joins to it lie in the same folder",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        required=True,
        help="where the results go: analysis.smdp, plan.toml, script.py, summary.txt, tables/*.csv",
    )
    parser.add_argument(
        "--stop-after", metavar="STEP", help="the last step to do, such as screening"
    )
    parser.add_argument(
        "--locked",
        type=Path,
        metavar="FILE",
        help="a plan locked before (smdp lock): reports then list every deviation from it",
    )
    parser.add_argument(
        "--hide-outcome",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="shuffle the outcome among the rows, to try a plan before it is locked (default: as "
        "the .smdp has it)",
    )
    parser.add_argument(
        "--without-data",
        action="store_true",
        help="write nothing that holds values or names of single people",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace results that are in the folder already"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="J",
        help="processes to divide the work among (1); numbers do not depend on it",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="use a Dask cluster instead, such as tcp://10.0.0.1:8786",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from smdp.analysis.analysis import AnalysisCancelled, run_analysis
    from smdp.analysis.result_files import write_results
    from smdp.parallel import workers

    saved = _saved(options)
    plan, table, tables = _plan_and_tables(options, saved)
    locked = None if saved is None else saved.locked
    if options.locked is not None:
        from smdp.analysis.locked_plan import read_locked

        locked = read_locked(options.locked)
    hidden = options.hide_outcome
    if hidden is None:
        hidden = saved is not None and saved.outcome_hidden
    check_folder(options.out, options.overwrite)
    bar = ProgressBar(shown=False) if options.quiet else ProgressBar()
    code = 0
    try:
        with workers(options.jobs, options.scheduler):
            analysis = run_analysis(table, plan, tables=tables, outcome_hidden=hidden, progress=bar)
    except AnalysisCancelled as stop:
        analysis, code = stop.finished, INTERRUPTED
    finally:
        bar.end()
    if code == INTERRUPTED and not analysis.results:
        complain("smdp: Interrupted before the first step was done; nothing was written.")
        return code
    if locked is not None:
        analysis = analysis.with_locked(locked)
    written = write_results(analysis, options.out, with_data=not options.without_data)
    if code == INTERRUPTED:
        complain("smdp: Interrupted. The steps that were done by then were written.")
    elif analysis.stopped:
        code = NOT_FINISHED
    if not options.quiet:
        _report(analysis, options.out, len(written))
    return code


def _saved(options: argparse.Namespace) -> Analysis | None:
    """What the plan is taken from, if it is a saved analysis."""
    from smdp.analysis.analysis import load_analysis

    return load_analysis(options.plan) if options.plan.suffix.lower() == ".smdp" else None


def _plan_and_tables(
    options: argparse.Namespace, saved: Analysis | None
) -> tuple[AnalysisPlan, Any, Any]:
    """The plan, the table, and those that are joined, if they are not files beside the table."""
    from smdp.analysis.plan import read_plan

    table: Any = options.data
    tables: Any = None
    if saved is not None:
        plan = saved.plan
        if table is None:
            table, tables = saved.table, saved.frames
        if table is None:
            raise SettingError(
                f"'{options.plan.name}' was saved without its data.", "Name the table: --data FILE."
            )
    else:
        plan = read_plan(options.plan)
        if table is None:
            raise SettingError(
                "The option --data is missing: the table to be analysed.",
                "Add --data study.csv, say.",
            )
    if options.stop_after is not None:
        plan = plan.replace(stop_after=options.stop_after)
    return plan, table, tables


def check_folder(folder: Path, overwrite: bool) -> None:
    """Find out now, and not after an hour, whether the results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not overwrite:
            raise SettingError(
                f"The folder '{folder}' is not empty.",
                "Name another with --out, or add --overwrite.",
            )
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise SmdpError(
            f"The results cannot be written to '{folder}': {error.strerror}.",
            "Name another folder with --out.",
        ) from None


def _report(analysis: Analysis, folder: Path, files: int) -> None:
    for problem in analysis.warnings:
        if problem.severity != "note":
            complain(f"smdp: {problem.severity}: {problem}")
    if analysis.locked is not None:
        say(f"{len(analysis.deviations)} deviations from the locked plan")
    width = max(map(len, analysis.records), default=0)
    for name, record in analysis.records.items():
        took = "" if record.seconds is None else f"  ({record.seconds:.1f} s)"
        say(f"{name.ljust(width)}  {record.summary}{took}")
    say(f"{files} files in {folder}")
