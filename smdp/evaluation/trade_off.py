"""The cost of treating: how many treatments a policy gives, and what it earns, as they cost more.

What is earned may have several parts: beside the study's own outcome, next values of state
variables, each with a weight. Nobody looked for features that suffice for these, so the policies
are then linear in the variables that the map uses and in those that count.

The outcome minus a cost for each treatment is what the policy is learned for; a cost depends on the
action alone, so that the features that were sufficient stay so, and the maps of the folds are those
of the outcome itself. At each cost a linear policy is learned without each fold of people (closed
form: milliseconds) and judged on that fold, with the outcome as it is, and again with 1 for each
treatment and 0 else: the share of decisions at which it treats, where it goes. Both by the doubly
robust estimate with the marginal weights of its value, so both have intervals, and so does the
difference to the policy for which treating costs nothing.

Reference: Roijers, Vamplew, Whiteson & Dazeley (2013), "A survey of multi-objective sequential
decision-making" (scalarised returns and the front that they trace).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError, SettingError
from smdp.evaluation.cross_fit import MapsWithoutFolds
from smdp.evaluation.estimators import Estimate, standard_error
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import (
    EvaluationStudy,
    basis_with,
    discount_of,
    evaluation_study,
    study_in_folds,
)
from smdp.evaluation.target import Target
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.evaluation.value_rows import ValueRows
from smdp.evaluation.value_tables import quantile
from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.identity import identity_feature_map
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.policy.as_measured import AsMeasured
from smdp.policy.learned_policy import LearnedPolicy, learn_policy, reference_action
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress, silent
from smdp.result import Result
from smdp.settings import require
from smdp.text import listing, shorten

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff(Result):
    """`curve`: a row for each cost: cost, then of the share of decisions at which the policy treats
    and of what it earns, without the cost: treated, treated_lower, treated_upper, outcome, ..; and
    lost, lost_lower, lost_upper: the outcome less that of the policy at no cost; trusted.

    `as_done`: treated and outcome as people were treated, with the same columns. `parts`: where
    several outcomes count, each alone: cost (NaN as people were treated), outcome ("" for the
    study's own), weight, estimate, lower, upper. `whole_analysis`: screening and map were made anew
    in each fold too.
    """

    curve: pd.DataFrame
    as_done: pd.Series
    reference: str
    discount: float
    coverage: float
    settings: TradeOffSettings
    seed: int
    parts: pd.DataFrame | None = None
    whole_analysis: bool = False

    @property
    def weights(self) -> dict[str, float]:
        """Of the other outcomes that count."""
        return {name: weight for name, weight in self.settings.weights.items() if weight}

    def at(self, cost: float) -> pd.Series:
        """The row of the cost that is nearest."""
        return self.curve.iloc[int((self.curve["cost"] - cost).abs().to_numpy().argmin())]


def times_of(settings: TradeOffSettings, labels: tuple[str, ...]) -> Floats:
    """(K,): how many times the cost each action has."""
    free = reference_action(PolicySettings(reference=settings.reference), labels)
    found = np.ones(len(labels))
    if settings.dearer is not None:
        wanted = f"one number for each of the {len(labels)} actions"
        require(len(settings.dearer) == len(labels), "dearer", wanted, settings.dearer)
        found = np.array(settings.dearer, dtype=float)
    found[free] = 0.0
    return found


@dataclass(frozen=True, eq=False)
class _Outcomes:
    """What is earned at each decision, and what it is made of.

    `others`: by variable, its weight times its next value, (n, T).
    """

    together: Trajectories  # with the sum as the utility
    others: Mapping[str, Floats]
    weights: Mapping[str, float]

    @property
    def more(self) -> Trajectories:
        """The variables that count."""
        return self.together.select(list(self.others))

    def alone(self, rows: ValueRows) -> dict[str, Floats]:
        """(R,) by name, "" for the study's own; none where that is all there is."""
        if not self.others:
            return {}
        each = {name: rows.at(part) for name, part in self.others.items()}
        own = rows.at(self.together.utilities) - np.sum(list(each.values()), axis=0)
        return {"": own} | {name: part / self.weights[name] for name, part in each.items()}


def trade_off(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    settings: TradeOffSettings = TradeOffSettings(),  # noqa: B008 - frozen
    evaluation: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    measured: AsMeasured | None = None,
    analyses: FoldAnalyses | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> TradeOff:
    """As treating costs more: a linear policy on the features of `policy`, with its discount.

    `measured`: the same decisions in own units, for the other outcomes that count; None: the
    trajectories' own. `analyses`: with the whole analysis anew in each fold, the maps and folds are
    theirs; else the map of `policy` is fitted anew in each fold, as `evaluate_policy` does it.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    progress = progress or silent
    labels = trajectories.action_labels
    times = times_of(settings, labels)
    asked = PolicySettings(
        discount=policy.settings.discount, ridge=policy.settings.ridge, bootstraps=0
    )
    outcomes = _outcomes(trajectories, measured or AsMeasured(trajectories), settings)
    with threadpool_limits(1, user_api="blas"):
        study, maps = _study(trajectories, policy, evaluation, analyses, seed)
        alone, everybody = outcomes.alone(study.rows), policy.feature_map
        fold = fold_of_trajectories(study)
        if alone:
            study, maps = _with_all_that_counts(study, maps, fold, outcomes, evaluation)
            everybody = _joined(trajectories, everybody, outcomes.more)
        costs = settings.costs
        if costs is None:
            costs = _costs(outcomes.together, everybody, asked, times, settings.points)
        treats = np.append(times > 0, False)[study.rows.level].astype(float)
        kinds = {TOGETHER: study.rows.utility, TREATED: treats, **alone}
        shared = (study, kinds, outcomes.together, maps, fold, times, asked)

        def say(k: int) -> Progress:
            text = f"Cost {k + 1} of {len(costs)}"
            return lambda share, what: progress(0.2 + 0.8 * (k + share) / len(costs), text)

        found = list(each(_at_cost, costs, *shared, progress=say))
        done = _earned(study, kinds, study.observed())
    progress(1.0, "The cost of treating is followed")
    free = reference_action(PolicySettings(reference=settings.reference), labels)
    parts = [
        {"cost": cost, **row}
        for cost, own in zip((*costs, np.nan), (*found, done), strict=True)
        for row in _parts(study, {name: own[name] for name in alone}, settings, evaluation)
    ]
    return TradeOff(
        curve=pd.DataFrame(
            {"cost": cost, **_row(study, own, found[0], evaluation)}
            for cost, own in zip(costs, found, strict=True)
        ),
        as_done=pd.Series(_row(study, done, found[0], evaluation)),
        reference=labels[free],
        discount=study.discount,
        coverage=evaluation.coverage,
        settings=settings,
        seed=seed,
        parts=pd.DataFrame(parts) if parts else None,
        whole_analysis=analyses is not None,
    )


def can_count(variable: Variable) -> bool:
    """Whether the next value of a variable can be an outcome: a number that changes."""
    number = variable.kind not in ("nominal", "text") and not variable.whole
    return number and variable.changes and not variable.lag and variable.comes_from == "column"


def _outcomes(
    trajectories: Trajectories, measured: AsMeasured, settings: TradeOffSettings
) -> _Outcomes:
    own, found = measured.trajectories, {}
    for name, weight in settings.weights.items():
        if name not in own.variables or not can_count(own.variable(name)):
            possible = [variable.name for variable in own.about if can_count(variable)]
            raise SettingError(
                f"The setting 'weights' names '{shorten(name)}', which cannot count as an outcome.",
                f"Only numbers that change from decision to decision can: {listing(possible, 20)}.",
                "weights",
            )
        if weight:
            values = own.variable(name).own(own.select([name]).states[:, 1:, 0])
            unknown = int((trajectories.valid & ~np.isfinite(values)).sum())
            if unknown:
                raise DataError(
                    f"The next value of '{shorten(name)}' is missing at {unknown} decisions.",
                    "Have missing values filled in, or count other outcomes.",
                    name,
                )
            found[name] = weight * values
    total = sum(found.values(), trajectories.utilities)
    return _Outcomes(replace(trajectories, utilities=total), found, settings.weights)


def _with_all_that_counts(
    study: EvaluationStudy,
    maps: Sequence[FittedFeatureMap],
    fold: NDArray[np.int64],
    outcomes: _Outcomes,
    evaluation: EvaluationSettings,
) -> tuple[EvaluationStudy, tuple[FittedFeatureMap, ...]]:
    """For the sum of the outcomes, with the variables that count in policies and in models."""
    more = outcomes.more
    together = replace(study.rows, utility=study.rows.at(outcomes.together.utilities))
    wider = replace(
        study,
        rows=together,
        basis=lambda k: basis_with(study, k, maps[k], more, evaluation.segments),
    )
    joined = (
        _joined(study.trajectories.take(fold != k), each, more.take(fold != k))
        for k, each in enumerate(maps)
    )
    return wider, tuple(joined)


def _joined(
    trajectories: Trajectories, fitted: FittedFeatureMap, more: Trajectories
) -> FittedFeatureMap:
    """What a map uses and further variables, as they are."""
    names = dict.fromkeys((*fitted.variables_used, *more.variables))
    return identity_feature_map(trajectories.select(list(names)))


def _study(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    evaluation: EvaluationSettings,
    analyses: FoldAnalyses | None,
    seed: int,
) -> tuple[EvaluationStudy, tuple[FittedFeatureMap, ...]]:
    """The folds, and the map that was made without each."""
    if analyses is not None:
        study = study_in_folds(
            trajectories,
            analyses,
            evaluation,
            discount=discount_of(policy, evaluation),
            points_of=policy.feature_map,
        )
        return study, tuple(each.feature_map for each in analyses.analyses)
    study = evaluation_study(trajectories, policy, evaluation, seed)
    if not evaluation.refit_map:
        return study, (policy.feature_map,) * study.folds
    own = trajectories.select(policy.variables)
    fold = fold_of_trajectories(study)
    return study, tuple(MapsWithoutFolds().of(own, policy.feature_map, fold, silent))


#: By what is estimated: all outcomes together, the share of decisions with a treatment, and where
#: several count, each alone.
Earned = dict[str, Estimate]
TOGETHER, TREATED = " together", " treated"  # no name of a variable begins with a blank


def fold_of_trajectories(study: EvaluationStudy) -> NDArray[np.int64]:
    """(n,): of each trajectory, -1 for those without a decision."""
    fold = np.full(study.rows.shape[0], -1, dtype=np.int64)
    fold[study.rows.row] = study.fold[study.rows.unit]
    return fold


def _costs(
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    asked: PolicySettings,
    times: Floats,
    points: int,
) -> tuple[float, ...]:
    """From 0 to what treatment is worth at all but a few of the decisions, in round steps."""
    learned = learn_policy(trajectories, fitted, asked, seed=0)
    rows = trajectories.rows()
    states = rows.at(trajectories.select(fitted.variables).states)
    q = learned.q_values(states)
    free = int(np.argmin(times))
    dear = times > 0
    worth = ((q[:, dear] - q[:, [free]]) / times[dear]).max(axis=1)
    top = float(np.nanquantile(worth, 1 - FEW))
    if not top > 0:  # treatment is worth nothing anywhere: a range in which that can be seen
        top = float(np.nanstd(rows.at(trajectories.utilities))) / 2 or 1.0
    step = top / (points - 1)
    digits = 1 - int(np.floor(np.log10(step)))
    return tuple(round(k * round(step, digits), digits + 1) for k in range(points))


#: The share of the decisions at which treatment may still be worth the largest cost.
FEW = 0.02


def _at_cost(
    cost: float,
    study: EvaluationStudy,
    kinds: Mapping[str, Floats],
    trajectories: Trajectories,
    maps: tuple[FittedFeatureMap, ...],
    fold: NDArray[np.int64],
    times: Floats,
    asked: PolicySettings,
    progress: Progress = silent,
) -> Earned:
    progress(0.0, "")
    charged = np.append(times, 0.0)[trajectories.actions] * trajectories.available  # -1: no action
    costly = replace(trajectories, utilities=trajectories.utilities - cost * charged)
    learned = [
        learn_policy(costly.take(fold != k), own, asked, seed=0) for k, own in enumerate(maps)
    ]
    return _earned(study, kinds, study.given(learned))


def _earned(
    study: EvaluationStudy, kinds: Mapping[str, Floats], targets: Sequence[Target]
) -> Earned:
    return {
        name: replace(study, rows=replace(study.rows, utility=utility)).estimate(targets)
        for name, utility in kinds.items()
    }


def _parts(
    study: EvaluationStudy,
    alone: Earned,
    settings: TradeOffSettings,
    evaluation: EvaluationSettings,
) -> Iterator[dict[str, object]]:
    for name, found in alone.items():
        effective = study.effective(found.weights)
        enough = effective >= evaluation.least_effective
        width = quantile(effective, evaluation.coverage) * found.error if enough else np.nan
        yield {
            "outcome": name,
            "weight": settings.weights[name] if name else 1.0,
            "estimate": found.value,
            "lower": found.value - width,
            "upper": found.value + width,
        }


def _row(
    study: EvaluationStudy, own: Earned, free: Earned, evaluation: EvaluationSettings
) -> dict[str, object]:
    outcome, treated, best = own[TOGETHER], own[TREATED], free[TOGETHER]
    effective = min(study.effective(outcome.weights), study.effective(best.weights))
    enough = effective >= evaluation.least_effective
    factor = quantile(effective, evaluation.coverage) if enough else np.nan
    lost = standard_error(
        outcome.influence - best.influence, outcome.fitted_q_draws - best.fitted_q_draws
    )
    share = treated.value
    return {
        "treated": float(np.clip(share, 0, 1)),
        "treated_lower": float(np.clip(share - factor * treated.error, 0, 1)),
        "treated_upper": float(np.clip(share + factor * treated.error, 0, 1)),
        "outcome": outcome.value,
        "outcome_lower": outcome.value - factor * outcome.error,
        "outcome_upper": outcome.value + factor * outcome.error,
        "lost": outcome.value - best.value,
        "lost_lower": outcome.value - best.value - factor * lost,
        "lost_upper": outcome.value - best.value + factor * lost,
        "trusted": enough,
    }
