"""The cost of treating: how many treatments a policy gives, and what it earns, as they cost more.

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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.evaluation.cross_fit import MapsWithoutFolds
from smdp.evaluation.estimators import Estimate, standard_error
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import (
    EvaluationStudy,
    discount_of,
    evaluation_study,
    study_in_folds,
)
from smdp.evaluation.target import Target
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.evaluation.value_tables import quantile
from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.policy.learned_policy import LearnedPolicy, learn_policy, reference_action
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress, silent
from smdp.result import Result
from smdp.settings import require

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TradeOff(Result):
    """`curve`: a row for each cost: cost, then of the share of decisions at which the policy treats
    and of the outcome, without the cost: treated, treated_lower, treated_upper, outcome, ..; and
    lost, lost_lower, lost_upper: the outcome less that of the policy at no cost; trusted.

    `as_done`: treated and outcome as people were treated, with the same columns.
    """

    curve: pd.DataFrame
    as_done: pd.Series
    reference: str
    discount: float
    coverage: float
    settings: TradeOffSettings
    seed: int

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


def trade_off(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    settings: TradeOffSettings = TradeOffSettings(),  # noqa: B008 - frozen
    evaluation: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    analyses: FoldAnalyses | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> TradeOff:
    """As treating costs more: a linear policy on the features of `policy`, with its discount.

    `analyses`: with the whole analysis anew in each fold, the maps and folds are theirs; else the
    map of `policy` is fitted anew in each fold, as `evaluate_policy` does it.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    progress = progress or silent
    labels = trajectories.action_labels
    times = times_of(settings, labels)
    asked = PolicySettings(
        discount=policy.settings.discount, ridge=policy.settings.ridge, bootstraps=0
    )
    with threadpool_limits(1, user_api="blas"):
        study, maps = _study(trajectories, policy, evaluation, analyses, seed)
        fold = fold_of_trajectories(study)
        costs = settings.costs
        if costs is None:
            costs = _costs(trajectories, policy, asked, times, settings.points)
        treats = np.append(times > 0, False)[study.rows.level].astype(float)
        shared = (study, treats, trajectories, maps, fold, times, asked)

        def say(k: int) -> Progress:
            text = f"Cost {k + 1} of {len(costs)}"
            return lambda share, what: progress(0.2 + 0.8 * (k + share) / len(costs), text)

        found = list(each(_at_cost, costs, *shared, progress=say))
        done = _both(study, treats, study.observed())
    progress(1.0, "The cost of treating is followed")
    rows = [
        {"cost": cost, **_row(study, own, found[0], evaluation)}
        for cost, own in zip(costs, found, strict=True)
    ]
    as_done = pd.Series(_row(study, done, found[0], evaluation))
    free = reference_action(PolicySettings(reference=settings.reference), labels)
    return TradeOff(
        curve=pd.DataFrame(rows),
        as_done=as_done,
        reference=labels[free],
        discount=study.discount,
        coverage=evaluation.coverage,
        settings=settings,
        seed=seed,
    )


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


Both = tuple[Estimate, Estimate]  # of the outcome, and of the share of decisions with a treatment


def fold_of_trajectories(study: EvaluationStudy) -> NDArray[np.int64]:
    """(n,): of each trajectory, -1 for those without a decision."""
    fold = np.full(study.rows.shape[0], -1, dtype=np.int64)
    fold[study.rows.row] = study.fold[study.rows.unit]
    return fold


def _costs(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    asked: PolicySettings,
    times: Floats,
    points: int,
) -> tuple[float, ...]:
    """From 0 to what treatment is worth at all but a few of the decisions, in round steps."""
    learned = learn_policy(trajectories, policy.feature_map, asked, seed=0)
    rows = trajectories.rows()
    states = rows.at(trajectories.select(policy.variables).states)
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
    treats: Floats,
    trajectories: Trajectories,
    maps: tuple[FittedFeatureMap, ...],
    fold: NDArray[np.int64],
    times: Floats,
    asked: PolicySettings,
    progress: Progress = silent,
) -> Both:
    progress(0.0, "")
    charged = np.append(times, 0.0)[trajectories.actions] * trajectories.available  # -1: no action
    costly = replace(trajectories, utilities=trajectories.utilities - cost * charged)
    learned = [
        learn_policy(costly.take(fold != k), own, asked, seed=0) for k, own in enumerate(maps)
    ]
    return _both(study, treats, study.given(learned))


def _both(study: EvaluationStudy, treats: Floats, targets: Sequence[Target]) -> Both:
    counted = replace(study, rows=replace(study.rows, utility=treats))
    return study.estimate(targets), counted.estimate(targets)


def _row(
    study: EvaluationStudy, own: Both, free: Both, evaluation: EvaluationSettings
) -> dict[str, object]:
    outcome, treated = own
    effective = min(study.effective(outcome.weights), study.effective(free[0].weights))
    enough = effective >= evaluation.least_effective
    factor = quantile(effective, evaluation.coverage) if enough else np.nan
    lost = standard_error(
        outcome.influence - free[0].influence, outcome.fitted_q_draws - free[0].fitted_q_draws
    )
    share = treated.value
    return {
        "treated": float(np.clip(share, 0, 1)),
        "treated_lower": float(np.clip(share - factor * treated.error, 0, 1)),
        "treated_upper": float(np.clip(share + factor * treated.error, 0, 1)),
        "outcome": outcome.value,
        "outcome_lower": outcome.value - factor * outcome.error,
        "outcome_upper": outcome.value + factor * outcome.error,
        "lost": outcome.value - free[0].value,
        "lost_lower": outcome.value - free[0].value - factor * lost,
        "lost_upper": outcome.value - free[0].value + factor * lost,
        "trusted": enough,
    }
