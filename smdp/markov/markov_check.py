"""The Markov check: look-back and stationarity, by tests with people as the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.independence.people import people_rows
from smdp.independence.pooling import at_most
from smdp.independence.signs import FEWEST_PEOPLE, signs
from smdp.markov.known_state import Flexible, History, with_history
from smdp.markov.look_back import Rung, test_rung
from smdp.markov.markov_settings import MarkovSettings
from smdp.markov.stationarity import (
    EFFECT,
    EVERYTHING,
    PROCESS,
    UTILITY,
    TimeTest,
    choices,
    effect_over_time,
    test_effect,
    test_process,
)
from smdp.progress import Progress, silent
from smdp.result import Result
from smdp.settings import require_whole

COVERAGE = 0.95
#: A ladder that would leave out more of the decisions, for their actions are rare, is shortened.
LEAST_KEPT = 0.75

EFFECT_COLUMNS = ["action", "against", "decision", "estimate", "lower", "upper"]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovCheck(Result):
    """What was found, and all that it was found from.

    `look_back`: the smallest that is not rejected, None if all are; `own_look_back`: the same with
    people's own levels allowed for. Both count beyond what the state already holds
    (`state_look_back`). `ladder`: look_back, statistic, p_value, own_statistic, own_p_value.
    `stationarity`: question ("process" or "effect"), outcome, statistic, p_value. `effect`: of each
    action against the first on the utility, over the study: action, against, decision, estimate,
    lower, upper (95 %, pointwise); empty where it cannot be estimated.
    """

    look_back: int | None
    own_look_back: int | None
    ladder: pd.DataFrame
    stationarity: pd.DataFrame
    effect: pd.DataFrame
    variables: tuple[str, ...]
    state_look_back: int
    time_in_state: bool  # whether the decision number is among the variables
    people: int  # with decisions that the ladder could use
    decisions: int  # that the ladder could use
    all_decisions: int
    left_out: tuple[str, ...]  # actions too rare for the ladder; "" where none could be taken
    estimated: float  # the share of choices whose probabilities were estimated
    settings: MarkovSettings
    seed: int

    @property
    def longest(self) -> int:
        """The longest look-back that was tested."""
        return int(self.ladder["look_back"].max())

    @property
    def offers(self) -> tuple[int, ...]:
        """Look-backs worth adding to the state, the shortest first."""
        found = {m for m in (self.look_back, self.own_look_back) if m}
        return tuple(sorted(found))

    def p_value(self, question: str, outcome: str) -> float | None:
        """Of one test over time; None where there was nothing to compare."""
        rows = self.stationarity
        own = rows[(rows["question"] == question) & (rows["outcome"] == outcome)]
        return float(own["p_value"].iloc[0]) if len(own) else None

    @property
    def process_changes(self) -> bool:
        """Whether utility and next state, given state and action, change over the study."""
        return self._rejected(PROCESS, EVERYTHING)

    @property
    def effect_changes(self) -> bool:
        """Whether the effect of treatment on the utility changes over the study."""
        return self._rejected(EFFECT, UTILITY)

    def _rejected(self, question: str, outcome: str) -> bool:
        p = self.p_value(question, outcome)
        return p is not None and bool(at_most(p, self.settings.level))


def check_markov(
    trajectories: Trajectories,
    settings: MarkovSettings = MarkovSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> MarkovCheck:
    """How far back one must look, and whether the process is the same throughout the study.

    See `smdp.markov.look_back` and `smdp.markov.stationarity` for the tests. The result depends on
    the data, the settings and the seed only.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    require_whole("seed", seed, 0)
    say = progress or silent
    say(0.0, "Decisions with their history")
    # The last digits would depend on how many threads share a sum.
    with threadpool_limits(1, user_api="blas"):
        return _check(trajectories, settings, seed, say)


def _check(
    trajectories: Trajectories, settings: MarkovSettings, seed: int, say: Progress
) -> MarkovCheck:
    _refuse_too_few(trajectories)
    random = np.random.default_rng(seed)
    history = _longest_ladder(trajectories, settings.most)
    everybody = with_history(trajectories, 0, _columns(trajectories, 0))
    assert everybody is not None, "the ladder has rows, and these are more"
    flexible = Flexible(random, _columns(trajectories, history.back))
    flips = signs(history.rows.people, settings.draws, random)
    rungs = []
    for m in range(history.back):
        say(m / (history.back + 1), f"Is a look-back of {m} enough?")
        rungs.append(test_rung(history, m, flexible, flips))
    say(history.back / (history.back + 1), "Is it the same throughout the study?")
    over_time: list[TimeTest] = list(test_process(everybody, flexible, flips))
    effect, estimated = None, 0.0
    found = choices(everybody)
    if found is not None:
        over_time += test_effect(found, flexible, flips)
        effect, estimated = effect_over_time(found, COVERAGE), found.estimated
    say(1.0, "The Markov check is done")
    labels = (*trajectories.action_labels, "")
    return MarkovCheck(
        look_back=_first_enough([r.p_value for r in rungs], settings.level),
        own_look_back=_first_enough([r.own_p_value for r in rungs], settings.level),
        ladder=_ladder(rungs),
        stationarity=pd.DataFrame([asdict(each) for each in over_time]),
        effect=pd.DataFrame(columns=EFFECT_COLUMNS) if effect is None else effect,
        variables=trajectories.variables,
        state_look_back=max((v.lag for v in trajectories.about), default=0),
        time_in_state=any(v.comes_from == "decision number" for v in trajectories.about),
        people=history.people,
        decisions=len(history.rows.row),
        all_decisions=int(trajectories.valid.sum()),
        left_out=tuple(labels[k] for k in history.left_out),
        estimated=estimated,
        settings=settings,
        seed=seed,
    )


def _ladder(rungs: Sequence[Rung]) -> pd.DataFrame:
    return pd.DataFrame([asdict(each) for each in rungs])


def _first_enough(p_values: Sequence[float], level: float) -> int | None:
    """The smallest look-back that is not rejected."""
    return next((m for m, p in enumerate(p_values) if not at_most(p, level)), None)


def _columns(trajectories: Trajectories, look_back: int) -> int:
    """At most so many are known with this look-back."""
    state, actions = len(trajectories.variables), len(trajectories.action_labels) + 1
    return state + look_back * (state + actions)


def _longest_ladder(trajectories: Trajectories, most: int) -> History:
    """Decisions with one more known before them than the longest look-back that can be tested."""
    for longest in range(most, -1, -1):
        found = with_history(trajectories, longest + 1, _columns(trajectories, longest))
        if (
            found is not None
            and found.people >= FEWEST_PEOPLE
            and (longest == 0 or found.share_kept >= LEAST_KEPT)
        ):
            return found
    state = len(trajectories.variables)
    raise DataError(
        "Not even a look-back of 0 can be tested: that needs at least two decisions in a row of "
        f"{FEWEST_PEOPLE} people or more, and for each action several times as many of them as "
        f"there are state variables ({state}).",
        "Use more people or longer series, or fewer state variables (screen first).",
    )


def _refuse_too_few(trajectories: Trajectories) -> None:
    if not trajectories.valid.any():
        raise DataError(
            "No transition is valid, so nothing can be tested.",
            "Check the roles of the columns and the exclusions.",
        )
    people = people_rows(trajectories, 0).people
    if people < FEWEST_PEOPLE:
        raise DataError(
            f"Only {people} people have decisions; with people as the sample, {FEWEST_PEOPLE} are "
            "needed to find anything.",
            "Use more people.",
        )
