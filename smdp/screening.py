"""Variable screening (Algorithm 1): which state variables the outcome depends on.

J starts empty (or with the variables forced in) and the outcome is (U^t, S_J^{t+1}). Each round
tests every variable not in J against the outcome, within levels of the action; those with a pooled
p-value of at most the level join J together. It stops when none does.

Reference: Wang, Laber & Witkiewitz, section 3, "Variable screening".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.independence.inputs import check_seed
from smdp.independence.over_time import HowToTest, TimesTested, independence_over_time
from smdp.independence.pooling import at_most
from smdp.progress import Progress, silent
from smdp.result import Content, Result
from smdp.screening_settings import ScreeningSettings
from smdp.text import listing, plural

Stop = Literal["none joined", "all variables are in", "max_rounds reached"]


@dataclass(frozen=True, eq=False, repr=False)
class ScreeningRound(Content):
    """One round: every candidate tested against the utility and the variables in the set so far."""

    number: int  # 1, 2, ..
    outcome: tuple[str, ...]  # the variables whose next values belong to the outcome
    joined: tuple[str, ...]  # in the order of their p-values
    pooled: pd.Series  # by candidate: the p-value pooled over times
    p_values: pd.DataFrame  # candidate x time (1, 2, ..): NaN where the time could not be tested
    statistics: pd.DataFrame  # likewise


@dataclass(frozen=True, eq=False, repr=False)
class ScreeningResult(Result):
    """What was found, and everything it was found from."""

    selected: tuple[str, ...]  # in the order of the trajectories' variables
    rounds: tuple[ScreeningRound, ...]
    table: pd.DataFrame  # by variable, ranked: status, round, p_value, reason
    stopped: Stop
    times: pd.DataFrame  # by time: subjects tested, strata left out, permutations used
    times_left_out: tuple[int, ...]  # 1, 2, ..: no action was taken by 4 subjects or more
    permutations: int  # asked for at each time; some times may have fewer rearrangements
    rank: int | None  # Rüger's u; None for whole trajectories
    settings: ScreeningSettings
    seed: int


def screen(
    trajectories: Trajectories,
    settings: ScreeningSettings = ScreeningSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> ScreeningResult:
    """Find the variables on which the utility, and what predicts it, depend.

    At each time only subjects with a valid transition there take part; levels of the action
    ("unavailable" is one of its own) taken by fewer than 4 of them are left out, and so is a time
    with no level left. T, in the pooling, counts the times that are tested. The result depends on
    the data, the settings and the seed only, not on `settings.jobs`.
    """
    check_seed(seed)
    progress = progress or silent
    _check(trajectories, settings)
    names = trajectories.variables
    chosen = [name for name in names if name in settings.force_in]
    rounds: list[ScreeningRound] = []
    tested: TimesTested | None = None
    stopped: Stop = "max_rounds reached"
    while len(rounds) < settings.max_rounds:
        candidates = [n for n in names if n not in chosen and n not in settings.force_out]
        if not candidates:
            stopped = "all variables are in"
            break
        number = len(rounds) + 1
        tested = _test_round(trajectories, settings, chosen, candidates, number, seed, progress)
        rounds.append(_as_round(tested, settings.level, number, chosen, candidates))
        chosen += rounds[-1].joined
        if not rounds[-1].joined:
            stopped = "none joined"
            break
    if tested is None:
        raise SettingError(
            "The settings 'force_in' and 'force_out' leave no variable to test.",
            "Force fewer variables in or out.",
        )
    progress(1.0, "Screening finished")
    return ScreeningResult(
        selected=tuple(name for name in names if name in chosen),
        rounds=tuple(rounds),
        table=_table(names, rounds, settings),
        stopped=stopped,
        times=_times(tested),
        times_left_out=tuple((np.flatnonzero(tested.subjects == 0) + 1).tolist()),
        permutations=tested.requested,
        rank=tested.rank,
        settings=settings,
        seed=seed,
    )


def _test_round(
    trajectories: Trajectories,
    settings: ScreeningSettings,
    chosen: list[str],
    candidates: list[str],
    number: int,
    seed: int,
    progress: Progress,
) -> TimesTested:
    index = {name: j for j, name in enumerate(trajectories.variables)}
    states = trajectories.states
    x = states[:, :-1, [index[name] for name in candidates]]
    following = states[:, 1:, [index[name] for name in chosen]]
    y = np.concatenate([trajectories.utilities[:, :, None], following], axis=2)
    how = HowToTest(
        level=settings.level,
        test=settings.test,
        pooling=settings.pooling,
        permutations=settings.permutations,
        rank=settings.rank,
        jobs=settings.jobs,
    )
    against = "the utility" + (f" and {plural(len(chosen), 'variable')}" if chosen else "")
    message = f"Round {number}: {plural(len(candidates), 'variable')} against {against}"

    def report(share: float) -> None:
        # Nobody knows how many rounds there will be: each gets half of what is left.
        progress(1 - 0.5 ** (number - 1) * (1 - share / 2), message)

    key = np.random.SeedSequence(seed, spawn_key=(number,))
    return independence_over_time(x, y, trajectories.strata, how, seed=key, report=report)


def _as_round(
    tested: TimesTested, level: float, number: int, chosen: list[str], candidates: list[str]
) -> ScreeningRound:
    times = range(1, tested.p_values.shape[1] + 1)
    pooled = pd.Series(tested.pooled, index=candidates, name="p_value")
    ranked = pooled.sort_values(kind="stable")
    return ScreeningRound(
        number=number,
        outcome=tuple(chosen),
        joined=tuple(name for name, p in ranked.items() if at_most(p, level)),
        pooled=pooled,
        p_values=pd.DataFrame(tested.p_values, index=candidates, columns=times),
        statistics=pd.DataFrame(tested.statistics, index=candidates, columns=times),
    )


def _times(tested: TimesTested) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "subjects": tested.subjects,
            "strata_left_out": tested.strata_left_out,
            "permutations": tested.permutations,
        },
        index=pd.RangeIndex(1, len(tested.subjects) + 1, name="time"),
    )


def _table(
    names: tuple[str, ...], rounds: list[ScreeningRound], settings: ScreeningSettings
) -> pd.DataFrame:
    """Why each variable entered or stayed out: forced ones and winners first, then by p-value."""
    entered = {name: each for each in rounds for name in each.joined}
    rows = []
    for name in names:
        if name in settings.force_in:
            rows.append((0, name, "forced in", 0, np.nan, "Forced in by the user"))
        elif name in settings.force_out:
            rows.append((3, name, "forced out", 0, np.nan, "Forced out by the user, not tested"))
        elif name in entered:
            each = entered[name]
            p = float(each.pooled[name])
            why = f"Pooled p = {p:.3g} in round {each.number}, at most {settings.level:g}"
            rows.append((1, name, "selected", each.number, p, why))
        else:
            p = float(rounds[-1].pooled[name])
            why = f"Pooled p = {p:.3g} in the last round ({len(rounds)}), above {settings.level:g}"
            if (rounds[-1].statistics.loc[name].dropna() == 0).all():
                why = "Says nothing: constant at every time that was tested"
            rows.append((2, name, "not selected", 0, p, why))
    columns = ["order", "variable", "status", "round", "p_value", "reason"]
    table = pd.DataFrame(rows, columns=columns)
    table = table.sort_values(["order", "round", "p_value"], kind="stable")
    table["round"] = table["round"].astype("Int64").replace(0, pd.NA)
    return table.drop(columns="order").set_index("variable")


def _check(trajectories: Trajectories, settings: ScreeningSettings) -> None:
    for name in ("force_in", "force_out"):
        unknown = [v for v in getattr(settings, name) if v not in trajectories.variables]
        if unknown:
            raise SettingError(
                f"The setting '{name}' names {listing(unknown)}, which is no state variable.",
                f"The variables are: {listing(trajectories.variables, 20)}.",
            )
    valid = trajectories.valid
    if not valid.any():
        raise DataError(
            "No transition is valid, so nothing can be screened.",
            "Check the roles of the columns and the exclusions.",
        )
    states = trajectories.states
    missing = _missing(states[:, :-1], valid) | _missing(states[:, 1:], valid)
    if missing.any():
        named = [name for name, bad in zip(trajectories.variables, missing, strict=True) if bad]
        raise DataError(
            f"Values of {listing(named)} are missing in transitions that are marked as valid.",
            "Prepare the data first, so that missing values are imputed.",
        )
    if not np.isfinite(trajectories.utilities[valid]).all():
        raise DataError(
            "Utilities are missing in transitions that are marked as valid.",
            "Mark those transitions as not valid, or fill in the utility.",
        )


def _missing(values: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(p,): whether a variable is missing or infinite anywhere it should be known."""
    return np.asarray((valid[:, :, None] & ~np.isfinite(values)).any(axis=(0, 1)))
