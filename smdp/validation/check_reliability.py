"""How often is each check right, in a study of this size?

Studies are drawn from a process like this one that is as it should be (`plain_process`), with its
people, decisions, gaps, variables and actions; each check looks at them. Then one fault is planted,
of a stated size, and the check for it looks again. What counts is how often it passes the first and
how often it doubts the second.

Checks that take a fit of networks for each study are not simulated here. Where the whole analysis
was repeated on studies drawn from the study's twin, that says how often variables and gain are
found (`rates_on_twin`); for the others there are tables of studies of other sizes (`KNOWN`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.errors import SmdpError
from smdp.independence.pooling import at_most
from smdp.markov.markov_check import MarkovCheck, check_markov
from smdp.markov.markov_settings import MarkovSettings
from smdp.parallel import each
from smdp.progress import Progress, silent
from smdp.validation.decisions_seen import seen_in_trajectories
from smdp.validation.missing_related import check_missing_related
from smdp.validation.passport_settings import PassportSettings
from smdp.validation.plain_process import SIZES, PlainProcess, Violation, draw, fit_process
from smdp.validation.randomisation import check_randomisation
from smdp.validation.twin import World
from smdp.validation.twin_study import TwinStudy

#: By row of the passport: the fault that it is to find.
FAULTS: dict[str, Violation] = {
    "look-back": "lasting",
    "process": "drift",
    "effect over time": "drift",
    "randomisation": "hidden",
    "missingness": "by level",
}
#: Those that one run of the Markov check answers together.
MARKOV = ("look-back", "process", "effect over time")

T = TypeVar("T")

#: The same where it is a world of the study's twin in which there is nothing to find.
WORLDS: dict[str, World] = {"variables": "nothing", "value": "no gain", "rule": "no gain"}

COLUMNS = ["thing", "fault", "size", "studies", "passed", "faulty", "found"]


@dataclass(frozen=True)
class KnownReliability:
    """From the project's own tables, of studies of another size."""

    passed: int
    studies: int
    found: int
    faulty: int
    of: str  # the design, in words
    where: str  # the table


#: What a test of the dimension and the interval of a value cost is too much to be repeated here.
KNOWN: dict[str, KnownReliability] = {
    "dimension": KnownReliability(
        199, 210, 60, 60,
        "simulated studies of 20 to 30 people with 30 to 90 decisions, where one feature less was "
        "to be rejected",
        "bench/dimension_test.md",
    ),
    "form": KnownReliability(
        14, 14, 14, 14,
        "simulated studies of 30 people with 90 decisions and maps of one layer, straight lines "
        "against exponential ones",
        "bench/dimension_test.md",
    ),
}  # fmt: skip


def check_reliability(
    trajectories: Trajectories,
    settings: PassportSettings,
    markov: MarkovSettings,
    *,
    missing: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """thing, fault, size, studies, passed, faulty, found: one row for each check.

    `studies`, `faulty`: those that could be checked, without and with the fault.
    """
    say = progress or silent
    process = fit_process(trajectories, missing)
    count = settings.studies
    verdicts: dict[tuple[str, bool], list[bool]] = {}
    pieces = [(b, fault) for b in range(count) for fault in (None, *SIZES)]

    def part(k: int) -> Progress:
        b, fault = pieces[k]
        what = "as it should be" if fault is None else f"with a fault ({fault})"
        return lambda share, message: say(
            (k + share) / len(pieces), f"Simulated study {b + 1} of {count}, {what}"
        )

    for found in each(
        _piece, list(range(len(pieces))), process, pieces, settings, markov, seed, progress=part
    ):
        for key, doubted in found.items():
            verdicts.setdefault(key, []).append(doubted)
    rows = []
    for thing, fault in FAULTS.items():
        well, ill = verdicts.get((thing, False), []), verdicts.get((thing, True), [])
        if well or ill:
            rows.append(
                (thing, fault, SIZES[fault], len(well), well.count(False), len(ill), sum(ill))
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def rates_on_twin(twin: TwinStudy) -> pd.DataFrame:
    """In the same columns: how often a study of the twin finds what is there, and nothing else.

    `passed`: where what was learned is true, all planted variables were kept, the interval of the
    gain lay above 0, or the card asked first what the study's does; `found`: where nothing is
    there, no variable, no gain and no question was found.
    """
    kept, drawn = twin.all_planted
    anything, nothing = twin.anything
    shown, known = twin.gains_shown("as learned")
    false, without = twin.gains_shown("no gain")
    again, cards = twin.cards_again("as learned")
    bare, bare_of = twin.cards_without_questions("no gain")
    found = {
        "variables": (drawn if twin.planted else 0, kept, nothing, nothing - anything),
        "value": (known, shown, without, without - false),
        "rule": (cards, again, bare_of, bare),
    }
    rows = [
        (thing, WORLDS[thing], np.nan, *counts)
        for thing, counts in found.items()
        if counts[0] or counts[2]
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _piece(
    k: int,
    process: PlainProcess,
    pieces: list[tuple[int, Violation | None]],
    settings: PassportSettings,
    markov: MarkovSettings,
    seed: int,
    progress: Progress = silent,
) -> dict[tuple[str, bool], bool]:
    """By check, and whether a fault was planted: whether it doubts."""
    progress(0.0, "")
    b, fault = pieces[k]
    place = 0 if fault is None else 1 + list(SIZES).index(fault)
    child = np.random.SeedSequence(seed, spawn_key=(31, b, place))
    own, other = map(int, child.generate_state(2))  # a check must not share what drew its study
    found: dict[tuple[str, bool], bool] = {}
    planted = fault is not None
    if fault in (None, "lasting", "drift"):
        drawn = draw(process, own, fault)
        checked = _tried(lambda: _markov(drawn, markov, other))
        for thing, doubted in (checked or {}).items():
            if fault is None or FAULTS[thing] == fault:
                found[thing, planted] = doubted
    if fault in (None, "hidden"):
        drawn = draw(process, own, fault)
        doubt = _tried(lambda: _randomisation(drawn, settings, other))
        if doubt is not None:
            found["randomisation", planted] = doubt
    if fault in (None, "by level"):
        drawn = draw(process, own, fault, gaps=True)
        doubt = _tried(lambda: _missing(drawn, settings, other))
        if doubt is not None:
            found["missingness", planted] = doubt
    return found


def _tried(check: Callable[[], T | None]) -> T | None:
    try:
        return check()
    except SmdpError:  # this draw has too little of something; another may not
        return None


def _markov(drawn: Trajectories, settings: MarkovSettings, seed: int) -> dict[str, bool]:
    found: MarkovCheck = check_markov(drawn, settings, seed=seed)
    doubts = {"look-back": found.look_back != 0, "process": found.process_changes}
    if "effect" in set(found.stationarity["question"]):
        doubts["effect over time"] = found.effect_changes
    return doubts


def _randomisation(drawn: Trajectories, settings: PassportSettings, seed: int) -> bool | None:
    found = check_randomisation(seen_in_trajectories(drawn), draws=settings.draws, seed=seed)
    return None if found.why_not else bool(at_most(found.p_value, settings.level))


def _missing(drawn: Trajectories, settings: PassportSettings, seed: int) -> bool | None:
    found = check_missing_related(seen_in_trajectories(drawn), draws=settings.draws, seed=seed)
    p = found.p_value
    return None if found.why_not or p != p else bool(at_most(p, settings.level))
