"""What a policy would earn, estimated from the trial in which it was not followed.

Three estimates (`smdp.evaluation.estimators`), of which the first is to be trusted: doubly robust
with marginal weights, fitted-Q evaluation and step-wise weighted importance sampling. A learned
policy is judged in each fold of subjects by what was learned from the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.cross_fit import (
    MapsWithoutFolds,
    folds_of_subjects,
    learned_without_each,
)
from smdp.evaluation.estimators import (
    Basis,
    Estimate,
    estimate,
    piecewise_basis,
    spread,
    standard_error,
    stepwise,
)
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.judged_decisions import JudgedDecisions, judged_decisions
from smdp.evaluation.positivity import positivity_table, positivity_warnings
from smdp.evaluation.target import AnyPolicy, Target, always_target, observed_target, policy_target
from smdp.evaluation.value_rows import ValueRows, value_rows
from smdp.feature_map.kinds import map_kind
from smdp.independence.inputs import check_seed
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress, part_of, silent
from smdp.propensity import Propensities, propensities
from smdp.result import Result
from smdp.text import listing


@dataclass(frozen=True, eq=False, repr=False)
class PolicyValue(Result):
    """The value of a policy and of its alternatives, a decision.

    V = (1 - discount) E{sum of discount^(t-1) U^t}: a mean of the utilities, in which later
    decisions count less. `discounted_sum` is V / (1 - discount), the sum for each subject.

    `table`: policy ("learned" or "given", "observed", "always ..."), method, estimate, lower,
    upper, standard_error, effective (number of subjects), trusted, reason. `differences`: policy,
    against, estimate, lower, upper, standard_error, trusted, reason. Where an interval cannot be
    trusted it is NaN, and the reason says why. `cautions`: what else the estimates suffer from.
    """

    table: pd.DataFrame
    differences: pd.DataFrame
    positivity: pd.DataFrame  # by action: see `smdp.evaluation.positivity`
    cautions: tuple[str, ...]
    notes: tuple[str, ...]
    discount: float
    coverage: float
    subjects: int
    decisions: int
    cross_fitted: bool
    seed: int
    judged: JudgedDecisions | None = None  # None: of an evaluation that was saved without it

    @property
    def estimate(self) -> float:
        return float(self.table["estimate"].iloc[0])

    @property
    def lower(self) -> float:
        return float(self.table["lower"].iloc[0])

    @property
    def upper(self) -> float:
        return float(self.table["upper"].iloc[0])

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which policies have no interval, and the cautions; with what to do about them."""
        weak = self.table[(self.table["method"] == DOUBLY_ROBUST) & ~self.table["trusted"]]
        without = [
            f"No interval for the policy '{name}': {reason[0].lower()}{reason[1:]}"
            for name, reason in zip(weak["policy"], weak["reason"], strict=True)
        ]
        return (*without, *self.cautions)

    @property
    def gain(self) -> pd.Series:
        """The first row of `differences`: this policy against the observed one."""
        return self.differences.iloc[0]

    @property
    def discounted_sum(self) -> pd.DataFrame:
        """`table` as sums for each subject instead of means a decision."""
        columns = ["estimate", "lower", "upper", "standard_error"]
        return self.table.assign(**{c: self.table[c] / (1 - self.discount) for c in columns})


def evaluate_policy(
    trajectories: Trajectories,
    policy: AnyPolicy,
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> PolicyValue:
    """What the policy, the trial's own, and each action always would earn.

    A `LearnedPolicy` is learned anew without each fold of subjects; any other policy is taken as
    given, so it must not have been made from these data.
    """
    return evaluate_policies(trajectories, [policy], settings, seed=seed, progress=progress)[0]


def evaluate_policies(
    trajectories: Trajectories,
    policies: Sequence[AnyPolicy],
    settings: EvaluationSettings,
    *,
    seed: int,
    progress: Progress | None = None,
) -> tuple[PolicyValue, ...]:
    """Each as `evaluate_policy` does it; a map that several have is fitted anew once for all."""
    maps = MapsWithoutFolds()
    return tuple(
        _evaluated(
            trajectories,
            policy,
            settings,
            seed,
            part_of(progress or silent, k, len(policies)),
            maps,
        )
        for k, policy in enumerate(policies)
    )


def _evaluated(
    trajectories: Trajectories,
    policy: AnyPolicy,
    settings: EvaluationSettings,
    seed: int,
    progress: Progress,
    maps: MapsWithoutFolds,
) -> PolicyValue:
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    with threadpool_limits(1, user_api="blas"):
        study = evaluation_study(trajectories, policy, settings, seed)
        everyone = _policies(study, policy, maps if settings.refit_map else None, progress)
        estimates = {}
        for done, (name, targets) in enumerate(everyone.items()):
            progress(0.5 + 0.5 * done / len(everyone), f"Estimating the value: {name}")
            estimates[name] = study.estimate(targets)
        table = value_table(study, everyone, estimates, settings)
    positivity = positivity_table(
        study.rows, study.known, study.points, trajectories.action_labels, settings.rare
    )
    progress(1.0, "The policy is evaluated")
    return PolicyValue(
        table=table,
        differences=difference_table(study, estimates, settings),
        positivity=positivity,
        cautions=(
            *_clipping_warning(estimates),
            *_horizon_warning(study),
            *positivity_warnings(positivity, settings.rare),
        ),
        notes=(*study.rows.notes, *study.known.notes, *_cross_fit_notes(policy, settings)),
        discount=study.discount,
        coverage=settings.coverage,
        subjects=study.rows.subjects,
        decisions=len(study.rows.level),
        cross_fitted=isinstance(policy, LearnedPolicy),
        seed=seed,
        judged=judged_decisions(study.rows, estimates),
    )


def _policies(
    study: EvaluationStudy,
    policy: AnyPolicy,
    refitted: MapsWithoutFolds | None,
    progress: Progress,
) -> dict[str, list[Target]]:
    """By name, for each fold; the policy in question first."""
    name = "learned" if isinstance(policy, LearnedPolicy) else "given"
    found = {
        name: study.targets(
            policy,
            refitted=refitted,
            progress=lambda share, what: progress(0.5 * share, what),
        ),
        "observed": study.shared(observed_target(study.rows)),
    }
    for k, label in enumerate(study.trajectories.action_labels):
        found[f"always {label}"] = study.shared(always_target(study.rows, study.taken, k))
    return found


def _horizon_warning(study: EvaluationStudy) -> list[str]:
    ahead = 1 / (1 - study.discount)
    seen = float(np.median(np.bincount(study.rows.unit)))
    if ahead <= seen:
        return []
    return [
        f"A discount of {study.discount:g} looks about {ahead:.0f} decisions ahead, but half of "
        f"the subjects have {seen:.0f} or fewer: what comes after the trial is extrapolated. Use "
        "a smaller discount for a surer value."
    ]


def _cross_fit_notes(policy: AnyPolicy, settings: EvaluationSettings) -> list[str]:
    if not isinstance(policy, LearnedPolicy):
        return ["The policy was taken as given: it must not have been made from these data."]
    fitted = policy.feature_map
    found = [
        f"In each of {settings.folds} folds of subjects the policy was learned from the others: "
        "nobody was judged by what was learned from the same person."
    ]
    can_be_refitted = map_kind(fitted.kind).refit is not None
    if can_be_refitted and settings.refit_map:
        found.append(
            "The feature map was fitted anew in each fold too; which variables and how many "
            "features it has was chosen with all subjects."
        )
    elif can_be_refitted:
        found.append("The feature map was fitted to all subjects, and was not fitted anew.")
    return found


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EvaluationStudy:
    trajectories: Trajectories
    variables: tuple[str, ...]  # that values are modelled with
    rows: ValueRows
    known: Propensities
    taken: Floats  # (R,): the probability in the trial of what was done
    points: Floats  # (R, q): the features, or states, in which neighbours are sought
    basis: Basis
    fold: NDArray[np.int64]  # (N,): of each trajectory with a decision
    counts: Floats  # (B, N): how often each of them is in each sample of subjects
    discount: float
    weight_limit: float

    def estimate(self, targets: Sequence[Target]) -> Estimate:
        return estimate(
            self.rows,
            self.basis,
            targets,
            self.fold,
            self.counts,
            discount=self.discount,
            weight_limit=self.weight_limit,
        )

    def shared(self, target: Target) -> list[Target]:
        """A policy that was not learned here: the same for every fold."""
        return [target] * (int(self.fold.max()) + 1)

    def targets(
        self, policy: AnyPolicy, *, refitted: MapsWithoutFolds | None, progress: Progress
    ) -> list[Target]:
        """For each fold the policy learned without it; or the policy as it is, if it was given."""
        if not isinstance(policy, LearnedPolicy):
            return self.shared(policy_target(self.trajectories, self.rows, self.taken, policy))
        learned = self.learned(policy, refitted=refitted, progress=progress)
        return [policy_target(self.trajectories, self.rows, self.taken, each) for each in learned]

    def learned(
        self, policy: LearnedPolicy, *, refitted: MapsWithoutFolds | None, progress: Progress
    ) -> list[LearnedPolicy]:
        """The policy as it would have been learned without each fold."""
        fold = np.full(self.rows.shape[0], -1, dtype=np.int64)
        fold[self.rows.row] = self.fold[self.rows.unit]
        return learned_without_each(
            self.trajectories.select(policy.variables),
            policy,
            fold,
            refitted=refitted,
            progress=progress,
        )

    def own_ratio(self, targets: Sequence[Target]) -> Floats:
        """(R,): each row's ratio under the policy that was learned without its subject."""
        held_out = self.fold[self.rows.unit]
        return np.stack([each.ratio for each in targets])[held_out, np.arange(len(held_out))]

    def effective(self, weights: Floats) -> float:
        """The effective number of subjects: (sum W)^2 / sum W^2, W being a subject's sum."""
        sums = np.bincount(self.rows.subject, weights)
        return float(sums.sum() ** 2 / np.square(sums).sum()) if sums.any() else 0.0


def evaluation_study(
    trajectories: Trajectories, policy: AnyPolicy, settings: EvaluationSettings, seed: int
) -> EvaluationStudy:
    _check(trajectories, policy)
    variables = _variables(trajectories, policy, settings)
    needed = tuple(dict.fromkeys((*variables, *_used(policy))))
    rows = value_rows(trajectories, needed)
    known = propensities(trajectories, rows, variables)
    of_folds, of_samples = np.random.SeedSequence(seed).spawn(2)
    fold = folds_of_subjects(
        rows, settings.folds, trajectories.action_labels, np.random.default_rng(of_folds)
    )
    points, basis = _basis(trajectories, rows, variables, policy, settings.segments)
    return EvaluationStudy(
        trajectories=trajectories,
        variables=variables,
        rows=rows,
        known=known,
        taken=known.of_taken(rows.level),
        points=points,
        basis=basis,
        fold=fold,
        counts=_samples(rows, settings.bootstraps, np.random.default_rng(of_samples)),
        discount=discount_of(policy, settings),
        weight_limit=settings.weight_limit,
    )


def _check(trajectories: Trajectories, policy: AnyPolicy) -> None:
    absent = [name for name in policy.variables if name not in trajectories.variables]
    if absent:
        raise DataError(
            f"The policy needs the variable {listing(absent)}, which these data do not have.",
            f"Their variables are: {listing(trajectories.variables, 20)}.",
        )
    if isinstance(policy, LearnedPolicy) and policy.action_labels != trajectories.action_labels:
        raise DataError(
            f"The policy was learned for the actions {listing(policy.action_labels)}, but those of "
            f"the data are {listing(trajectories.action_labels)}.",
            "Learn the policy from these data.",
        )


def discount_of(policy: AnyPolicy, settings: EvaluationSettings) -> float:
    if settings.discount is not None:
        return settings.discount
    own = policy.settings if isinstance(policy, LearnedPolicy) else PolicySettings()
    return own.discount


def _variables(
    trajectories: Trajectories, policy: AnyPolicy, settings: EvaluationSettings
) -> tuple[str, ...]:
    if settings.variables is not None:
        return settings.variables
    return _used(policy) if isinstance(policy, LearnedPolicy) else trajectories.variables


def _used(policy: AnyPolicy) -> tuple[str, ...]:
    if isinstance(policy, LearnedPolicy):
        return policy.feature_map.variables_used
    return tuple(policy.variables)


def _basis(
    trajectories: Trajectories,
    rows: ValueRows,
    variables: tuple[str, ...],
    policy: AnyPolicy,
    segments: int,
) -> tuple[Floats, Basis]:
    """Of the variables and, for a learned policy, of its features: they join the variables."""
    states = trajectories.select(variables).states
    points = rows.at(states)
    if isinstance(policy, LearnedPolicy):
        features = policy.feature_map.transform(trajectories.select(policy.variables).states)
        points = rows.at(features)
        if policy.feature_map.kind != "identity":
            states = np.concatenate([states, features], axis=2)
    here, ahead = rows.at(states), rows.after(states)
    basis = piecewise_basis(np.concatenate([here, ahead]), segments)
    now = basis(here)
    return points, Basis(now, basis(ahead), now[rows.first])


def _samples(rows: ValueRows, count: int, random: np.random.Generator) -> Floats:
    """(B, N): subjects are drawn; all trajectories of a subject come together."""
    drawn = random.integers(0, rows.subjects, (count, rows.subjects))
    times = np.zeros((count, rows.subjects))
    np.add.at(times, (np.arange(count)[:, None], drawn), 1.0)
    return times[:, rows.cluster]


DOUBLY_ROBUST = "doubly robust"
FITTED_Q = "fitted-Q evaluation"
STEPWISE = "weighted importance sampling"
OBSERVED = "observed"

#: Weights at their limit are worth a warning from this share of the decisions on.
OFTEN_CLIPPED = 0.01


def value_table(
    study: EvaluationStudy,
    targets: Mapping[str, Sequence[Target]],
    estimates: Mapping[str, Estimate],
    settings: EvaluationSettings,
) -> pd.DataFrame:
    """One row for each method and policy, the method to be trusted first."""
    rows = []
    for name, each in estimates.items():
        effective = study.effective(each.weights)
        enough = effective >= settings.least_effective
        rows.append(
            {
                "policy": name,
                "method": DOUBLY_ROBUST,
                **_interval(each.value, each.error, effective, settings, show=enough),
                "trusted": enough,
                "reason": "" if enough else _too_few(effective, settings.least_effective),
            }
        )
    subjects = study.rows.subjects
    for name, each in estimates.items():
        error, enough = spread(each.fitted_q_draws), subjects >= settings.least_effective
        rows.append(
            {
                "policy": name,
                "method": FITTED_Q,
                **_interval(each.fitted_q, error, subjects, settings, show=enough),
                "trusted": False,
                "reason": "For comparison only: biased wherever its model of the values is wrong.",
            }
        )
    for name in estimates:
        ratio = study.own_ratio(targets[name])
        step = stepwise(study.rows, ratio, study.counts, discount=study.discount)
        enough = step.effective >= settings.least_effective
        reason = (
            "For comparison only: after a few decisions hardly anybody had done what the policy "
            f"would do (effective number of subjects {step.effective:.1f})."
        )
        rows.append(
            {
                "policy": name,
                "method": STEPWISE,
                **_interval(step.value, spread(step.draws), step.effective, settings, show=enough),
                "trusted": enough,
                "reason": "" if enough else reason,
            }
        )
    return pd.DataFrame(rows)


def difference_table(
    study: EvaluationStudy, estimates: Mapping[str, Estimate], settings: EvaluationSettings
) -> pd.DataFrame:
    """The first policy against each other one, the observed one first; doubly robust."""
    (name, own), *others = estimates.items()
    rows = []
    for other, each in others:
        influence = own.influence - each.influence
        error = standard_error(influence, own.fitted_q_draws - each.fitted_q_draws)
        effective = min(study.effective(own.weights), study.effective(each.weights))
        enough = effective >= settings.least_effective
        rows.append(
            {
                "policy": name,
                "against": other,
                **_interval(own.value - each.value, error, effective, settings, show=enough),
                "trusted": enough,
                "reason": "" if enough else _too_few(effective, settings.least_effective),
            }
        )
    return pd.DataFrame(rows)


def _clipping_warning(estimates: Mapping[str, Estimate]) -> list[str]:
    name, own = next(iter(estimates.items()))
    if own.clipped < OFTEN_CLIPPED:
        return []
    return [
        f"At {own.clipped:.0%} of the decisions the {name} policy would be in that state so "
        "much more often than the trial was that the weight had to be limited. Its value "
        "rests on few decisions there: a smaller discount looks less far ahead."
    ]


def quantile(effective: float, coverage: float) -> float:
    """Of Student's t: few subjects make the standard error itself uncertain."""
    from scipy.stats import t

    return float(t.ppf(0.5 + coverage / 2, max(1.0, effective - 1)))


def _interval(
    value: float, error: float, effective: float, settings: EvaluationSettings, *, show: bool
) -> dict[str, float]:
    shown = error if show else np.nan
    width = quantile(effective, settings.coverage) * shown
    return {
        "estimate": value,
        "lower": value - width,
        "upper": value + width,
        "standard_error": shown,
        "effective": effective,
    }


def _too_few(effective: float, least: float) -> str:
    if effective < 1.5:
        return (
            "All the weight is on one subject or none: hardly anybody did what the policy would "
            "do. Compare with a policy closer to what was done, or use a smaller discount."
        )
    return (
        f"The estimate rests on the decisions of {effective:.1f} subjects' worth (at least "
        f"{least:g} are needed). Use a smaller discount, or add subjects."
    )
