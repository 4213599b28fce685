"""Variable screening: which state variables the outcome depends on, directly or through others.

By default the smallest closed set, with people as the sample (`smdp.screening_by_person`). As in
the paper (Algorithm 1): J starts empty (or with the variables forced in) and the outcome is (U^t,
S_J^{t+1}). Each round tests every variable not in J against the outcome, within levels of the
action; those with a pooled p-value of at most the level join J together. It stops when none does.

Reference: Wang, Laber & Witkiewitz, section 3, "Variable screening".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.independence.by_person import Strength
from smdp.independence.inputs import check_seed
from smdp.independence.over_time import HowToTest, TimesTested, independence_over_time
from smdp.independence.pooling import at_most
from smdp.independence.signs import q_values
from smdp.progress import Progress, silent
from smdp.result import Content, Result
from smdp.screening_by_person import Round, Search, Stage
from smdp.screening_settings import ScreeningSettings
from smdp.text import listing, plural

Stop = Literal["none joined", "all variables are in", "max_rounds reached", "nothing to test"]


@dataclass(frozen=True, eq=False, repr=False)
class ScreeningRound(Content):
    """One round: every candidate tested against the utility and the variables in the set so far.

    `stage`: "marginal" in Algorithm 1; "first", "forward", "closure", "return" and "earlier" are
    the steps of the search for a closed set. Where people are the sample, all times are one test:
    `p_values` and `statistics` have no times, and `tests` has each candidate's statistic (about a
    standard normal deviate), its own p-value, that for the family, and the q-value.
    """

    number: int  # 1, 2, ..
    outcome: tuple[str, ...]  # the variables whose next values belong to the outcome
    joined: tuple[str, ...]  # in the order of their p-values
    pooled: pd.Series  # by candidate: the p-value pooled over times, or for the family
    p_values: pd.DataFrame  # candidate x time (1, 2, ..): NaN where the time could not be tested
    statistics: pd.DataFrame  # likewise
    stage: Stage = "marginal"
    known: tuple[str, ...] = ()  # held fixed; in a closure, all of these but the candidate
    tests: pd.DataFrame | None = None  # by candidate: statistic, p_value, family_p, q_value


@dataclass(frozen=True, eq=False, repr=False)
class ScreeningResult(Result):
    """What was found, and everything it was found from."""

    selected: tuple[str, ...]  # in the order of the trajectories' variables
    rounds: tuple[ScreeningRound, ...]
    table: pd.DataFrame  # by variable, ranked: status, round, p_value, reason; see `screen`
    stopped: Stop
    times: pd.DataFrame  # by time: subjects tested, strata left out, permutations used
    times_left_out: tuple[int, ...]  # 1, 2, ..: no action was taken by 4 subjects or more
    permutations: int  # asked for at each time; some times may have fewer rearrangements
    rank: int | None  # Rüger's u; None for whole trajectories
    settings: ScreeningSettings
    seed: int
    people: int | None = None  # whose decisions were compared; None in the paper's tests
    past_actions: int | None = None  # earlier actions held fixed; None in the paper's tests
    arrows: pd.DataFrame | None = None  # source, target ("" is the utility), p_value, family_p
    earlier_actions: float | None = None  # p-value of earlier actions, given the closed set

    @property
    def needs_earlier_actions(self) -> bool:
        """Whether earlier actions, not in the set, still matter once the set is known."""
        found = self.earlier_actions
        return found is not None and bool(at_most(found, self.settings.level))

    @property
    def by_person(self) -> bool:
        """Whether people were the sample."""
        return self.past_actions is not None


def screen(
    trajectories: Trajectories,
    settings: ScreeningSettings = ScreeningSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> ScreeningResult:
    """Find the variables on which the utility, and what predicts it, depend.

    The result depends on the data, the settings and the seed only. Its `table` says for each
    variable whether it was kept ("status"), in which round it joined, the p-value that decided, and
    why. Where people are the sample, the p-value is the variable's own; beside it stand that for
    the family of its round ("family_p", which decides), the q-value, and its strength against the
    utility: a bias-corrected distance correlation within strata with a 95 % interval over people.
    """
    check_seed(seed)
    progress = progress or silent
    _check(trajectories, settings)
    if settings.method == "paper":
        return _as_in_the_paper(trajectories, settings, seed, progress)
    return _by_person(trajectories, settings, seed, progress)


def _by_person(
    trajectories: Trajectories, settings: ScreeningSettings, seed: int, progress: Progress
) -> ScreeningResult:
    def report(number: int, stage: Stage, share: float) -> None:
        # Nobody knows how many rounds there will be: each gets half of what is left.
        progress(1 - 0.5 ** (number - 1) * (1 - share / 2), f"Round {number}: {ASKS[stage]}")

    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # The last digits would depend on how many threads share a sum, and small products only wait.
    with threadpool_limits(1, user_api="blas"):
        search = Search(trajectories, settings, seed, report)
        stopped: Stop = "nothing to test"
        chosen = search.forced
        if search.candidates or search.earlier:
            closed = settings.method == "closed_set"
            chosen, complete = search.closed_set() if closed else search.related()
            stopped = "none joined" if complete else "max_rounds reached"
        search.measure_strengths()
    progress(1.0, "Screening finished")
    names = np.array(list(trajectories.wholes), dtype=object)
    rounds = tuple(_as_named_round(each, k + 1, names) for k, each in enumerate(search.rounds))
    observed = np.bincount(search.rows.time, minlength=trajectories.valid.shape[1])
    return ScreeningResult(
        selected=tuple(names[list(chosen)]),
        rounds=rounds,
        table=_table_by_person(search, chosen, rounds, names),
        stopped=stopped,
        times=pd.DataFrame(
            {"subjects": observed, "strata_left_out": 0, "permutations": len(search.flips)},
            index=pd.RangeIndex(1, len(observed) + 1, name="time"),
        ),
        times_left_out=tuple((np.flatnonzero(observed == 0) + 1).tolist()),
        permutations=len(search.flips),
        rank=None,
        settings=settings,
        seed=seed,
        people=len(np.unique(search.rows.person)),
        past_actions=search.past_actions,
        arrows=_arrows(search, names),
        earlier_actions=search.earlier_actions,
    )


def _arrows(search: Search, names: NDArray[np.object_]) -> pd.DataFrame:
    found = [
        (names[e.source], "" if e.target is None else names[e.target], e.p_value, e.adjusted)
        for e in search.arrows
    ]
    return pd.DataFrame(found, columns=["source", "target", "p_value", "family_p"])


#: What a round asks of its candidates.
ASKS: dict[Stage, str] = {
    "first": "does the utility depend on it?",
    "forward": "does anything kept still depend on it?",
    "closure": "is it needed beside the others?",
    "return": "was it hidden by others that went too?",
    "earlier": "does what was done before still matter?",
    "marginal": "is anything kept related to it?",
}


def _as_named_round(each: Round, number: int, names: NDArray[np.object_]) -> ScreeningRound:
    candidates = names[list(each.candidates)]
    tests = pd.DataFrame(
        {
            "statistic": each.found.statistic,
            "p_value": each.found.p_value,
            "family_p": each.found.adjusted,
            "q_value": q_values(each.found.p_value),
        },
        index=pd.Index(candidates, name="variable"),
    )
    no_times = pd.DataFrame(index=candidates)
    return ScreeningRound(
        number=number,
        outcome=tuple(names[list(each.outcome)]),
        joined=tuple(names[list(each.joined)]),
        pooled=pd.Series(each.found.adjusted, index=candidates, name="p_value"),
        p_values=no_times,
        statistics=no_times,
        stage=each.stage,
        known=tuple(names[list(each.known)]),
        tests=tests,
    )


def _table_by_person(
    search: Search,
    chosen: Sequence[int],
    rounds: Sequence[ScreeningRound],
    names: NDArray[np.object_],
) -> pd.DataFrame:
    """Why each variable entered or stayed out: forced ones and winners first, then by p-value."""
    rows = []
    for j, name in enumerate(names):
        number, test = 0, None
        if j in search.forced:
            order, status, why = 0, "forced in", "Forced in by the user"
        elif name in search.settings.force_out:
            order, status, why = 3, "forced out", "Forced out by the user, not tested"
        elif j in search.constant:
            order, status = 3, "cannot be tested"
            why = "The same for everybody at each decision: it cannot tell people apart"
        elif j in search.copies:
            order, status = 3, "says the same"
            why = f"Says the same as {names[search.copies[j]]}, which stands for both"
        elif j in search.carried:
            order, status = 1, "selected"
            why = f"{names[search.carried[j]]} is kept, and comes to be this one"
        else:
            told = _story(name, j in chosen, rounds, search.settings.level)
            order, status, number, test, why = told
        strength = search.strengths.get(j, UNKNOWN_STRENGTH)
        rows.append(
            {
                "order": order,
                "variable": name,
                "status": status,
                "round": number,
                "p_value": np.nan if test is None else float(test["p_value"]),
                "family_p": np.nan if test is None else float(test["family_p"]),
                "q_value": np.nan if test is None else float(test["q_value"]),
                "strength": strength.value,
                "strength_low": strength.low,
                "strength_high": strength.high,
                "reason": why,
            }
        )
    table = pd.DataFrame(rows).sort_values(
        ["order", "round", "family_p", "p_value", "strength"],
        ascending=[True, True, True, True, False],
        kind="stable",
    )
    table["round"] = table["round"].astype("Int64").replace(0, pd.NA)
    return table.drop(columns="order").set_index("variable")


UNKNOWN_STRENGTH = Strength(np.nan, np.nan, np.nan)


def _story(
    name: str, kept: bool, rounds: Sequence[ScreeningRound], level: float
) -> tuple[int, str, int, pd.Series, str]:
    """Of a variable that was tested: order, status, round, the test that decided, the reason."""
    own = [each for each in rounds if each.tests is not None and name in each.tests.index]
    entered = next((e for e in own if name in e.joined and e.stage in JOINING), None)
    last = own[-1]
    tests = {each.number: each.tests.loc[name] for each in own if each.tests is not None}
    if entered is None:
        test = tests[last.number]
        why = f"Family p = {test['family_p']:.3g} in the last round it was in, above {level:g}"
        return 2, "not selected", 0, test, why
    test = tests[entered.number]
    joined = f"Family p = {test['family_p']:.3g} in round {entered.number}, at most {level:g}"
    if kept:
        return 1, "selected", entered.number, test, joined
    needed = tests[last.number]
    why = (
        f"{joined}, but not needed once the others are known (family p = "
        f"{needed['family_p']:.3g} in round {last.number})"
    )
    return 2, "not needed", 0, needed, why


#: Rounds in which a variable may join the set, before it is looked at again.
JOINING = ("first", "forward", "earlier", "marginal")


def _as_in_the_paper(
    trajectories: Trajectories, settings: ScreeningSettings, seed: int, progress: Progress
) -> ScreeningResult:
    """At each time only subjects with a valid transition there take part; levels of the action
    ("unavailable" is one of its own) taken by fewer than 4 of them are left out, and so is a time
    with no level left. T, in the pooling, counts the times that are tested. The result depends on
    the data, the settings and the seed only, not on `settings.jobs`.
    """
    names = tuple(trajectories.wholes)
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
    progress(1.0, "Screening finished")
    return ScreeningResult(
        selected=tuple(name for name in names if name in chosen),
        rounds=tuple(rounds),
        table=_table(names, rounds, settings),
        stopped=stopped if rounds else "nothing to test",
        times=_times(tested),
        times_left_out=()
        if tested is None
        else tuple((np.flatnonzero(tested.subjects == 0) + 1).tolist()),
        permutations=0 if tested is None else tested.requested,
        rank=None if tested is None else tested.rank,
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
    columns = trajectories.wholes
    states = trajectories.states
    x = _of_one_width([states[:, :-1, list(columns[name])] for name in candidates])
    following = states[:, 1:, [column for name in chosen for column in columns[name]]]
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


def _of_one_width(values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """(n, T, p, d): variables of some columns each, those of fewer with further ones of zeros.

    A column that is the same for everybody changes neither distances nor the levels of others.
    """
    width = max(each.shape[2] for each in values)
    if width == 1:
        return np.concatenate(values, axis=2)
    found = np.zeros((*values[0].shape[:2], len(values), width))
    for k, each in enumerate(values):
        found[:, :, k, : each.shape[2]] = each
    return found


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


def _times(tested: TimesTested | None) -> pd.DataFrame:
    nothing = np.zeros(0, dtype=np.int64)
    return pd.DataFrame(
        {
            "subjects": nothing if tested is None else tested.subjects,
            "strata_left_out": nothing if tested is None else tested.strata_left_out,
            "permutations": nothing if tested is None else tested.permutations,
        },
        index=pd.RangeIndex(1, 1 + (0 if tested is None else len(tested.subjects)), name="time"),
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
        unknown = [v for v in getattr(settings, name) if v not in trajectories.wholes]
        if unknown:
            raise SettingError(
                f"The setting '{name}' names {listing(unknown)}, which is no state variable.",
                f"The variables are: {listing(trajectories.wholes, 20)}.",
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
