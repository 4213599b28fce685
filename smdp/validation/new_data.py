"""A frozen analysis judged on people that it has never seen, or on the same people later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pandas as pd

from smdp.data.preparation_settings import CompletionSettings
from smdp.data.prepare import PreparedData
from smdp.data.problem import Problem
from smdp.errors import DataError, SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.target import AnyPolicy
from smdp.evaluation.value import PolicyValue
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.policy.decision_rule import Reason as WhyNot
from smdp.policy.learned_policy import LearnedPolicy
from smdp.progress import Progress, between, part_of, silent
from smdp.result import Result
from smdp.text import listing
from smdp.validation.arrival import Arrival, arrive
from smdp.validation.calibration import Calibration, calibration
from smdp.validation.frozen_policy import FrozenPolicy
from smdp.validation.likeness import FEWEST, Likeness, likeness
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.sufficiency import MapHolds, map_holds
from smdp.validation.verdict import Verdict, judge
from smdp.validation.worth import beside_predicted, same_assignment, worth

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class OnNewData(Result):
    """One frozen policy on the new people; None where something could not be worked out.

    `advised`: action, share: what it recommends at decisions with a choice, "" where it abstains;
    `outside`: the share of these decisions in states that the trial did not have.
    """

    policy: str
    kind: str
    value: PolicyValue | None
    beside: pd.DataFrame | None
    gain_comparable: bool
    calibration: Calibration | None
    advised: pd.DataFrame
    outside: float
    verdict: Verdict


@dataclass(frozen=True, eq=False, repr=False)
class NewDataCheck(Result):
    """What new data say of a frozen analysis.

    `found`: what is remarkable in the new table; `not_done`: what could not be worked out, and why.
    `people`, `decisions`: of the new table, as they are used; `with_outcome`: decisions with an
    outcome and a next state.
    """

    people: int
    first_people: int
    decisions: int
    with_outcome: int
    same_people: bool
    device_log: bool
    found: tuple[Problem, ...]
    not_done: tuple[Problem, ...]
    counts: pd.DataFrame
    likeness: Likeness | None
    map_holds: MapHolds | None
    policies: tuple[OnNewData, ...]
    settings: NewDataSettings
    seed: int

    @property
    def verdict(self) -> Verdict:
        """On the first policy."""
        return self.policies[0].verdict


def check_new_data(
    frame: pd.DataFrame,
    first_frame: pd.DataFrame,
    first: PreparedData,
    policies: Sequence[AnyPolicy] | Mapping[str, AnyPolicy],
    settings: NewDataSettings = NewDataSettings(),  # noqa: B008 - frozen
    *,
    feature_map: FittedFeatureMap | None = None,
    predicted: Sequence[PolicyValue | None] = (),
    completion: CompletionSettings | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> NewDataCheck:
    """Are the new people like the first, does the map suffice for them, what are policies worth?

    `frame`, `first_frame`: the new and the first table in long form, shaped alike. `first`: what
    the policies were learned from. `policies`: learned ones, or any other with their names.
    `feature_map`: the map that is looked at, by default that of the first learned policy.
    `predicted`: what each policy was worth in the first study. `completion`: the settings with
    which the first study was completed. Nothing of the first analysis is fitted anew.
    """
    check_seed(seed)
    say = progress or silent
    named = _named(policies)
    frozen = {name: FrozenPolicy(policy) for name, policy in named.items()}
    if feature_map is None:
        learned = [each for each in named.values() if isinstance(each, LearnedPolicy)]
        feature_map = learned[0].feature_map if learned else None
    say(0.0, "Reading the new table as the first")
    arrival = arrive(
        frame,
        first_frame,
        first,
        completion or CompletionSettings(imputation=first.completed.settings),
        needed=_needed(frozen, feature_map, first),
    )
    of_people, of_map, of_value = np.random.SeedSequence(seed).spawn(3)
    not_done: list[Problem] = []
    say(0.1, "Comparing people")
    alike, why_no_people = _tried(
        lambda: likeness(
            first.completed,
            arrival.completed,
            draws=settings.draws,
            coverage=settings.coverage,
            seed=of_people,
        ),
        not_done,
    )
    say(0.2, "Asking whether the map still suffices")
    few = why_no_people if arrival.subjects < FEWEST else ""
    holds, why_no_map = None, few
    if not few:
        holds, why_no_map = _map(arrival, first, feature_map, settings, of_map, not_done)
    judged = []
    value_seed = int(of_value.generate_state(1)[0])
    of_outcome = _other_outcome(arrival, first, settings)
    for k, (name, policy) in enumerate(frozen.items()):
        other = _other_unit(arrival, _needed({name: policy}, None, first), settings)
        population = (None, other, None, other) if other else (
            alike, why_no_people, holds, why_no_map
        )  # fmt: skip
        judged.append(
            _judged(
                name,
                policy,
                predicted[k] if k < len(predicted) else None,
                arrival,
                settings,
                population,
                other or few,
                of_outcome,
                not_done,
                value_seed,
                part_of(between(say, 0.3, 1.0), k, len(frozen)),
            )
        )
    say(1.0, "The new data are judged")
    trajectories = arrival.trajectories
    return NewDataCheck(
        people=arrival.subjects,
        first_people=len(first.completed.study.subjects),
        decisions=int(arrival.completed.study.present.sum()),
        with_outcome=0 if trajectories is None else int(trajectories.valid.sum()),
        same_people=arrival.overlap.everybody,
        device_log=arrival.device_log,
        found=arrival.findings,
        not_done=tuple(dict.fromkeys(not_done)),
        counts=arrival.counts,
        likeness=alike,
        map_holds=holds,
        policies=tuple(judged),
        settings=settings,
        seed=seed,
    )


def _named(policies: Sequence[AnyPolicy] | Mapping[str, AnyPolicy]) -> dict[str, AnyPolicy]:
    if isinstance(policies, Mapping):
        found = dict(policies)
    else:
        found = {f"policy {k}": policy for k, policy in enumerate(policies, start=1)}
    if not found:
        raise SettingError(
            "There is no policy that could be judged on new data.", "Learn one first (Q-functions)."
        )
    return found


def _needed(
    policies: Mapping[str, FrozenPolicy], fitted: FittedFeatureMap | None, first: PreparedData
) -> tuple[str, ...]:
    """The columns of the table that policies and the map cannot do without."""
    names = [name for policy in policies.values() for name in policy.variables]
    names += fitted.variables_used if fitted is not None else ()
    about = {variable.name: variable for variable in first.trajectories.about}
    used = [about[name] for name in dict.fromkeys(names) if name in about]
    return tuple(
        dict.fromkeys(each.whole if each.whole_kind == "text" else each.column for each in used)
    )


def _tried(work: Callable[[], T], not_done: list[Problem]) -> tuple[T | None, str]:
    """What it gives; or None and why, which is noted."""
    try:
        return work(), ""
    except DataError as error:
        not_done.append(Problem("warning", "", error.problem, error.remedy, error.concerns))
        return None, error.problem


def _map(
    arrival: Arrival,
    first: PreparedData,
    fitted: FittedFeatureMap | None,
    settings: NewDataSettings,
    seed: np.random.SeedSequence,
    not_done: list[Problem],
) -> tuple[MapHolds | None, str]:
    new = arrival.trajectories
    if fitted is None:
        return None, "No policy has a feature map."
    if new is None:
        return None, arrival.why_none

    def work() -> MapHolds:
        return map_holds(
            new,
            first.trajectories,
            fitted,
            folds=settings.folds,
            draws=settings.draws,
            coverage=settings.coverage,
            seed=seed,
        )

    return _tried(work, not_done)


def _judged(
    name: str,
    policy: FrozenPolicy,
    predicted: PolicyValue | None,
    arrival: Arrival,
    settings: NewDataSettings,
    population: tuple[Likeness | None, str, MapHolds | None, str],
    hindered: str,  # why its value is not worth asking, "" if it is
    incomparable: str,  # why what was predicted says nothing of it, "" if it does
    not_done: list[Problem],
    seed: int,
    progress: Progress,
) -> OnNewData:
    new = arrival.trajectories
    value, why_no_value, calibrated = None, arrival.why_none, None
    spread = np.nan
    if new is None:
        not_done.append(Problem("warning", "", arrival.why_none))
    elif hindered:
        why_no_value = hindered
    else:
        own = new
        spread = float(np.nanstd(new.utilities[new.valid]))
        asked = EvaluationSettings(
            folds=settings.folds, bootstraps=settings.bootstraps, coverage=settings.coverage
        )
        value, why_no_value = _tried(
            lambda: worth(own, policy, asked, predicted, seed=seed, progress=progress), not_done
        )
        if value is not None and not incomparable:
            discount = value.discount
            calibrated, _ = _tried(
                lambda: calibration(own, policy, discount=discount, coverage=settings.coverage),
                not_done,
            )
    beside, why_not = None, why_no_value
    comparable = False
    if value is not None and incomparable:
        why_not = incomparable
    elif value is not None and predicted is None:
        why_not = "What the policy would earn was not estimated in the first study."
    elif value is not None and predicted is not None:
        beside = beside_predicted(predicted, value, settings.coverage)
        # A device mostly follows the policy, so that what was done is the policy, nearly.
        comparable = not arrival.device_log and same_assignment(predicted, value)
    alike, why_no_people, holds, why_no_map = population
    verdict = judge(
        name,
        settings,
        value=value,
        why_no_value=why_no_value,
        spread=spread,
        people=alike,
        why_no_people=why_no_people,
        map_holds=holds,
        why_no_map=why_no_map,
        beside=beside,
        gain_comparable=comparable,
        why_not_beside=why_not,
    )
    advised, outside = _advised(policy, arrival)
    kind = policy.policy.kind if isinstance(policy.policy, LearnedPolicy) else "rule"
    return OnNewData(
        policy=name,
        kind=kind,
        value=value,
        beside=beside,
        gain_comparable=comparable,
        calibration=calibrated,
        advised=advised,
        outside=outside,
        verdict=verdict,
    )


def _other_unit(arrival: Arrival, used: tuple[str, ...], settings: NewDataSettings) -> str:
    """Why a policy cannot be judged that was given numbers of another unit; "" if it was not."""
    names = [each.about for each in arrival.findings if each.concerns == "unit"]
    own = [f"'{name}'" for name in names if name in used]
    if settings.same_units or not own:
        return ""
    looks = "looks" if len(own) == 1 else "look"
    return f"{listing(own)}, which the policy uses, {looks} as if in another unit."


def _other_outcome(arrival: Arrival, first: PreparedData, settings: NewDataSettings) -> str:
    """Why nothing predicted can be held against the new outcomes; "" if it can."""
    column = first.completed.arranged.roles.utility
    moved = any(each.concerns == "unit" and each.about == column for each in arrival.findings)
    if settings.same_units or not moved:
        return ""
    return f"The outcome '{column}' looks as if in another unit."


def _advised(policy: FrozenPolicy, arrival: Arrival) -> tuple[pd.DataFrame, float]:
    """What it recommends at the new decisions, whether or not their outcomes are known."""
    new = arrival.trajectories
    if new is None:
        return pd.DataFrame({"action": [], "share": []}), np.nan
    states = new.select(policy.variables).states[:, :-1]
    at = np.isfinite(states).all(axis=2) & new.available
    if not at.any():
        return pd.DataFrame({"action": [], "share": []}), np.nan
    possible = new.possible[at]
    own = policy.policy
    outside = np.nan
    if isinstance(own, LearnedPolicy):
        advice = own.decide(policy.whole(states[at]), possible)
        found = advice.recommended
        outside = float((advice.reason == WhyNot.OUTSIDE).mean())
    else:
        found = policy.recommend(states[at], possible)
    rows = [(label, float((found == k).mean())) for k, label in enumerate(new.action_labels)]
    rows.append(("", float((found < 0).mean())))
    return pd.DataFrame(rows, columns=["action", "share"]), outside
