"""What a policy would earn, estimated from the trial in which it was not followed.

Three estimates, of which the first is to be trusted: doubly robust with marginal weights
(`smdp.policy.doubly_robust`), fitted-Q evaluation (`smdp.policy.fitted_q`) and step-wise weighted
importance sampling (`smdp.policy.importance_sampling`). A learned policy is judged in each fold of
subjects by what was learned from the others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.independence.inputs import check_seed
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.evaluation_study import EvaluationStudy, evaluation_study
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.positivity import positivity_table, positivity_warnings
from smdp.policy.target import Policy, Target, always_target, observed_target
from smdp.policy.value_table import difference_table, value_table, value_warnings
from smdp.progress import Progress, silent


@dataclass(frozen=True)
class PolicyValue:
    """The value of a policy and of its alternatives, a decision.

    V = (1 - discount) E{sum of discount^(t-1) U^t}: a mean of the utilities, in which later
    decisions count less. `discounted_sum` is V / (1 - discount), the sum for each subject.

    `table`: policy ("learned" or "given", "observed", "always ..."), method, estimate, lower,
    upper, standard_error, effective (number of subjects), trusted, reason. `differences`: policy,
    against, estimate, lower, upper, standard_error, trusted, reason. Where an interval cannot be
    trusted it is NaN, and the reason says why.
    """

    table: pd.DataFrame
    differences: pd.DataFrame
    positivity: pd.DataFrame  # by action: see `smdp.policy.positivity`
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    discount: float
    coverage: float
    subjects: int
    decisions: int
    cross_fitted: bool
    seed: int

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
    policy: Policy,
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> PolicyValue:
    """What the policy, the trial's own, and each action always would earn.

    A `LearnedPolicy` is learned anew without each fold of subjects; any other policy is taken as
    given, so it must not have been made from these data.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    progress = progress or silent
    with threadpool_limits(1, user_api="blas"):
        study = evaluation_study(trajectories, policy, settings, seed)
        everyone = _policies(study, policy, settings, progress)
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
        warnings=(
            *value_warnings(table, estimates),
            *_horizon_warning(study),
            *positivity_warnings(positivity, settings.rare),
        ),
        notes=(*study.rows.notes, *study.known.notes, *_cross_fit_notes(policy, settings)),
        discount=study.discount,
        coverage=settings.coverage,
        subjects=study.rows.clusters,
        decisions=len(study.rows.level),
        cross_fitted=isinstance(policy, LearnedPolicy),
        seed=seed,
    )


def _policies(
    study: EvaluationStudy, policy: Policy, settings: EvaluationSettings, progress: Progress
) -> dict[str, list[Target]]:
    """By name, for each fold; the policy in question first."""
    name = "learned" if isinstance(policy, LearnedPolicy) else "given"
    found = {
        name: study.targets(
            policy,
            refit_map=settings.refit_map,
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


def _cross_fit_notes(policy: Policy, settings: EvaluationSettings) -> list[str]:
    if not isinstance(policy, LearnedPolicy):
        return ["The policy was taken as given: it must not have been made from these data."]
    fitted = policy.feature_map
    found = [
        f"In each of {settings.folds} folds of subjects the policy was learned from the others: "
        "nobody was judged by what was learned from the same person."
    ]
    if fitted.kind == "adnn" and settings.refit_map:
        found.append(
            "The feature map was fitted anew in each fold too; which variables and how many "
            "features it has was chosen with all subjects."
        )
    elif fitted.kind in ("adnn", "tnn"):
        found.append("The feature map was fitted to all subjects, and was not fitted anew.")
    return found
