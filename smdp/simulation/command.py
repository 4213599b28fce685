"""`smdp simulate`: run a simulation study, take it up again, and compare it with the paper.

`add_parser` hooks the command into a parser; its `run` takes the parsed options and returns the
exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from smdp.errors import SettingError
from smdp.simulation.names import MAPS, MODELS, PAPER_MAPS

# Other commands use this parser too: pandas is imported only when something is simulated.
if TYPE_CHECKING:
    from smdp.simulation.study_settings import SimulationSetting
    from smdp.simulation.study_store import StudyRows

#: Seconds between two lines of progress where lines cannot be overwritten.
QUIET = 30.0


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """The parser of `smdp simulate`; the parsed options have `run`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "simulate",
        help="run the paper's simulation study and compare with its tables",
        description="Simulate trials with known truth, analyse each with several feature maps, and "
        "judge the policies on fresh trajectories. Results are kept as they finish: the same "
        "command takes up a study that was stopped. Numbers do not depend on the number of "
        "processes.",
        epilog="Example: smdp simulate --model quad --noise 50 --replications 20 --jobs 2 "
        "--out study; then: smdp simulate --compare study",
    )
    what = parser.add_argument_group("what to simulate")
    what.add_argument("--model", choices=MODELS, nargs="+", help="the transition model")
    what.add_argument(
        "--noise", type=int, nargs="+", default=[0], metavar="M", help="noise variables (0)"
    )
    what.add_argument(
        "--paper", action="store_true", help="all nine settings of the paper's tables"
    )
    what.add_argument("--subjects", type=int, default=30, metavar="N", help="subjects (30)")
    what.add_argument("--times", type=int, default=90, metavar="T", help="decisions of each (90)")
    what.add_argument(
        "--maps", choices=MAPS, nargs="+", default=list(PAPER_MAPS), help="feature maps (all five)"
    )
    what.add_argument("--replications", type=int, default=20, metavar="R", help="replications (20)")
    what.add_argument("--discount", type=float, default=0.5, metavar="G", help="discount (0.5)")
    what.add_argument(
        "--further-discount",
        type=float,
        metavar="G",
        help="learn a neural policy at this discount too (0.95, say)",
    )
    what.add_argument("--seed", type=int, default=0, help="seed of the whole study (0)")
    what.add_argument("--quick", action="store_true", help="short training: to try, not to report")
    how = parser.add_argument_group("how")
    how.add_argument("--out", type=Path, metavar="FOLDER", help="where the study is kept")
    how.add_argument("--jobs", type=int, default=1, metavar="J", help="processes (1)")
    how.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="use a Dask cluster instead, such as tcp://10.0.0.1:8786",
    )
    how.add_argument("--retry-failed", action="store_true", help="try failed replications again")
    show = parser.add_argument_group("what to show")
    show.add_argument(
        "--compare",
        type=Path,
        metavar="FOLDER",
        help="show the study in a folder, simulate none",
    )
    show.add_argument("--markdown", action="store_true", help="tables as Markdown")
    show.add_argument("--times-taken", action="store_true", help="also show seconds a replication")
    show.add_argument("--csv", type=Path, metavar="FILE", help="also write every row to a file")
    parser.set_defaults(run=run)
    return parser


def run(options: argparse.Namespace) -> int:
    """Simulate or compare as the options say."""
    from smdp.simulation.study_run import run_study
    from smdp.simulation.study_settings import StudySettings, quick
    from smdp.simulation.study_store import read_study

    if options.compare is not None:
        _show(read_study(options.compare), options)
        return 0
    settings = _settings(options)
    if options.out is None:
        raise SettingError(
            "The option --out is missing: the folder in which the study is kept.",
            "Add --out study, say.",
        )
    how = StudySettings(seed=options.seed, further_discount=options.further_discount)
    line = _ProgressLine()
    try:
        study = run_study(
            settings,
            maps=options.maps,
            replications=options.replications,
            how=quick(how) if options.quick else how,
            folder=options.out,
            jobs=options.jobs,
            scheduler=options.scheduler,
            retry_failed=options.retry_failed,
            progress=line,
        )
    except KeyboardInterrupt:
        line.end()
        sys.stderr.write("Stopped. The same command goes on from here.\n")
        return 130
    line.end()
    _show(study, options)
    return 0


def _settings(options: argparse.Namespace) -> list[SimulationSetting]:
    from smdp.simulation.study_settings import PAPER_SETTINGS, SimulationSetting

    if options.paper == (options.model is not None):
        raise SettingError(
            "Exactly one of --model and --paper must be given.",
            "Use --model quad --noise 50, say, or --paper for all nine settings, or --compare "
            "FOLDER to show a study.",
        )
    if options.paper:
        chosen = list(PAPER_SETTINGS)
    else:
        chosen = [
            SimulationSetting(model, noise) for model in options.model for noise in options.noise
        ]
    return [
        replace(each, subjects=options.subjects, times=options.times, discount=options.discount)
        for each in chosen
    ]


def _show(study: StudyRows, options: argparse.Namespace) -> None:
    from smdp.atomic_write import write_whole
    from smdp.simulation.compare import compare_with_paper, comparison_text
    from smdp.simulation.study_tables import timings
    from smdp.simulation.text_tables import as_text

    if options.csv is not None:
        rows = study.rows.to_csv(index=False, lineterminator="\n")
        write_whole(options.csv, rows.encode())
    sys.stdout.write(comparison_text(compare_with_paper(study), markdown=options.markdown))
    if len(study.failed):
        sys.stdout.write("\nFailed:\n")
    for row in study.failed.to_dict("records"):
        sys.stdout.write(
            f"- {row['model']}, {row['noise']} noise variables, {row['feature_map']}, replication "
            f"{row['replication']} (data seed {row['data_seed']}): {row['message']}\n"
        )
    if options.times_taken:
        sys.stdout.write(f"\n{as_text(timings(study).round(1))}\n")


class _ProgressLine:
    """One line that is overwritten; in a log file, a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._said, self._last, self._width = -QUIET, "", 0

    def __call__(self, share: float, message: str) -> None:
        text = f"{100 * share:3.0f} %  {message}"
        self._last = text
        if self._terminal:
            room = os.get_terminal_size(sys.stderr.fileno()).columns - 1
            text = text[: max(20, room)]
            sys.stderr.write("\r" + text.ljust(self._width))
            self._width = len(text)
        elif monotonic() - self._said >= QUIET:
            sys.stderr.write(text + "\n")
            self._said = monotonic()
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n" if self._terminal else f"{self._last}\n")
        sys.stderr.flush()
