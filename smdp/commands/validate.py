"""`smdp validate`: new data before a saved analysis."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from smdp.commands.terminal import ProgressBar, complain, say
from smdp.data.files.registry import formats_in_words
from smdp.errors import SettingError

EPILOG = """\
examples:
  smdp validate study.smdp --data new.csv
  smdp validate study.smdp --data log.csv --out checked/       the log of a device
  smdp validate study.smdp --data new.csv --out checked/ --refit

With --out: analysis.smdp, report.html and the tables; with --refit also version.smdp, the same plan
done anew with both tables.

exit code: 0 keep, 3 refit, 4 withdraw, 5 cannot tell (the gravest of all policies), 2 an error
"""
CODES = {"keep": 0, "cannot tell": 5, "refit": 3, "withdraw": 4}


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "validate",
        help="judge a saved analysis on new people: keep, refit or withdraw",
        description="Judge the frozen policies of a saved analysis on a second table with the same "
        "columns: are these people like the first, does the feature map suffice for them, what "
        "is each policy worth there? Nothing of the analysis is fitted anew, unless asked for.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("analysis", type=Path, help="the saved analysis (.smdp), with its data")
    parser.add_argument(
        "--data", type=Path, metavar="FILE", required=True,
        help=f"the new table: {formats_in_words()}",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where results and report go")
    parser.add_argument("--sheet", metavar="NAME", help="of a workbook")
    parser.add_argument("--seed", type=int, metavar="S", help="of permutations and folds (1)")
    parser.add_argument(
        "--same-units", action="store_true",
        help="judge even where a variable looks as if it were in another unit",
    )  # fmt: skip
    parser.add_argument(
        "--refit", action="store_true", help="also learn everything anew from both tables"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace results that are in the folder already"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no sentences")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from smdp.analysis.analysis import load_analysis
    from smdp.analysis.new_table import with_new_table
    from smdp.analysis.refit import refit_on_both
    from smdp.analysis.result_files import write_results
    from smdp.commands.run import check_folder
    from smdp.data.read_table import read_table
    from smdp.steps.step_plans import NewDataPlan
    from smdp.steps.versions import versions_table
    from smdp.words.new_data import describe_new_data, reasons

    if options.refit and options.out is None:
        raise SettingError("--refit has nowhere to go.", "Add --out FOLDER.")
    if options.out is not None:
        check_folder(options.out, options.overwrite)
    analysis = load_analysis(options.analysis)
    new = read_table(options.data, sheet=options.sheet)
    changes: dict[str, Any] = {} if options.seed is None else {"seed": options.seed}
    if options.same_units:
        rules = (analysis.plan.new_data or NewDataPlan()).settings
        changes["settings"] = replace(rules, same_units=True)
    analysis = with_new_table(analysis, new, options.data.name, sheet=options.sheet, **changes)
    bar = ProgressBar(shown=False) if options.quiet else ProgressBar()
    try:
        analysis = analysis.run("new_data", progress=bar)
    finally:
        bar.end()
    found = analysis.new_data
    assert found is not None
    for problem in analysis.records["new_data"].warnings:
        complain(f"smdp: {problem.severity}: {problem}")
    if not options.quiet:
        for sentence in describe_new_data(found, analysis.outcome_name):
            say(sentence)
    for own in found.policies:
        say(f"{own.policy}: {own.verdict.decision}")
        if not options.quiet:
            for line in reasons(own, found.settings, found):
                say(f"  {line}")
    if options.out is not None:
        files = [*write_results(analysis, options.out)]
        files.append(analysis.report(options.out / "report.html"))
        if options.refit:
            second = refit_on_both(analysis).run_all(progress=bar)
            bar.end()
            files.append(second.save(options.out / "version.smdp"))
            say(versions_table(second).to_string(index=False))
        say(f"{len(files)} files in {options.out}")
    gravest = max(found.policies, key=lambda own: RANK.index(own.verdict.decision))
    return CODES[gravest.verdict.decision]


RANK = ("keep", "cannot tell", "refit", "withdraw")
