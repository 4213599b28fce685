"""What a policy would earn, estimated from the trial in which it was not followed.

Three estimates (`smdp.evaluation.estimators`), of which the first is to be trusted: doubly robust
with marginal weights, fitted-Q evaluation and step-wise weighted importance sampling. A learned
policy is judged in each fold of subjects by what was learned from the others: by analyses that were
done anew without that fold (`smdp.evaluation.whole_analysis`) or, the quick way, by map and policy
alone, with variables and dimension as they were chosen with everybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.evaluation.cross_fit import MapsWithoutFolds
from smdp.evaluation.estimators import Estimate
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import (
    EvaluationStudy,
    discount_of,
    evaluation_study,
    study_in_folds,
)
from smdp.evaluation.judged_decisions import JudgedDecisions, judged_decisions
from smdp.evaluation.positivity import positivity_table, positivity_warnings
from smdp.evaluation.target import AnyPolicy, Target
from smdp.evaluation.value_tables import DOUBLY_ROBUST, OBSERVED, difference_table, value_table
from smdp.evaluation.whole_analysis import FoldAnalyses, require_policies
from smdp.feature_map.kinds import map_kind
from smdp.independence.inputs import check_seed
from smdp.policy.learned_policy import LearnedPolicy
from smdp.progress import Progress, part_of, silent
from smdp.result import Result
from smdp.text import plural


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
    whole_analysis: bool = False
    judged: JudgedDecisions | None = None  # None: of an evaluation that was saved without it

    @property
    def quick(self) -> bool:
        """Whether those who are judged had a part in choosing variables and dimension."""
        return self.cross_fitted and not self.whole_analysis

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

    A `LearnedPolicy` is learned anew without each fold of subjects, the quick way: its variables
    and dimension stay as they were chosen, with everybody. For the whole analysis anew in each fold
    see `analyses_without_each` and `evaluate_policies`. Any other policy is taken as given, so it
    must not have been made from these data.
    """
    return evaluate_policies(trajectories, [policy], settings, seed=seed, progress=progress)[0]


def evaluate_policies(
    trajectories: Trajectories,
    policies: Sequence[AnyPolicy],
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
    analyses: FoldAnalyses | None = None,
) -> tuple[PolicyValue, ...]:
    """Each as `evaluate_policy` does it; a map that several have is fitted anew once for all.

    `analyses`: with the whole analysis anew in each fold, these are what is judged; the folds, and
    the seed of the samples of subjects, are theirs.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    progress = progress or silent
    with threadpool_limits(1, user_api="blas"):
        if analyses is not None:
            learned = [policy for policy in policies if isinstance(policy, LearnedPolicy)]
            require_policies(analyses, learned if len(learned) == len(policies) else [])
            return _in_whole_analyses(trajectories, learned, settings, analyses, progress)
        maps = MapsWithoutFolds()
        return tuple(
            _evaluated(
                trajectories, policy, settings, seed, part_of(progress, k, len(policies)), maps
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
    study = evaluation_study(trajectories, policy, settings, seed)
    everyone = _policies(study, policy, maps if settings.refit_map else None, progress)
    estimates = {}
    for done, (name, targets) in enumerate(everyone.items()):
        progress(0.5 + 0.5 * done / len(everyone), f"Estimating the value: {name}")
        estimates[name] = study.estimate(targets)
    learned = isinstance(policy, LearnedPolicy)
    notes = _cross_fit_notes(policy, settings)
    value = _value(study, everyone, estimates, settings, notes, seed, cross_fitted=learned)
    progress(1.0, "The policy is evaluated")
    return value


def _in_whole_analyses(
    trajectories: Trajectories,
    policies: Sequence[LearnedPolicy],
    settings: EvaluationSettings,
    analyses: FoldAnalyses,
    progress: Progress,
) -> tuple[PolicyValue, ...]:
    """Policies of one discount share the study, and the estimates of what else could be done."""
    studies: dict[float, EvaluationStudy] = {}
    fixed: dict[float, dict[str, Estimate]] = {}
    found = []
    for number, policy in enumerate(policies):
        discount = discount_of(policy, settings)
        if discount not in studies:
            studies[discount] = study_in_folds(
                trajectories,
                analyses,
                settings,
                discount=discount,
                also=[name for each in policies for name in each.feature_map.variables_used],
                points_of=policy.feature_map,
            )
            fixed[discount] = {}
        study, known = studies[discount], fixed[discount]
        everyone = {"learned": study.given(analyses.policies(number)), **without_learning(study)}
        estimates = {}
        say = part_of(progress, number, len(policies))
        for done, (name, targets) in enumerate(everyone.items()):
            say(done / len(everyone), f"Estimating the value: {name}")
            estimates[name] = known.get(name) or study.estimate(targets)
        known |= {name: each for name, each in estimates.items() if name != "learned"}
        found.append(
            _value(
                study,
                everyone,
                estimates,
                settings,
                _whole_notes(analyses),
                analyses.seed,
                cross_fitted=True,
                whole_analysis=True,
            )
        )
    progress(1.0, "The policies are evaluated")
    return tuple(found)


def _value(
    study: EvaluationStudy,
    everyone: Mapping[str, Sequence[Target]],
    estimates: Mapping[str, Estimate],
    settings: EvaluationSettings,
    notes: Sequence[str],
    seed: int,
    *,
    cross_fitted: bool,
    whole_analysis: bool = False,
) -> PolicyValue:
    labels = study.trajectories.action_labels
    positivity = positivity_table(study.rows, study.known, study.points, labels, settings.rare)
    return PolicyValue(
        table=value_table(study, everyone, estimates, settings),
        differences=difference_table(study, estimates, settings),
        positivity=positivity,
        cautions=(
            *_clipping_warning(estimates),
            *_horizon_warning(study),
            *positivity_warnings(positivity, settings.rare),
        ),
        notes=(*study.notes, *notes),
        discount=study.discount,
        coverage=settings.coverage,
        subjects=study.rows.subjects,
        decisions=len(study.rows.level),
        cross_fitted=cross_fitted,
        seed=seed,
        whole_analysis=whole_analysis,
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
    own = study.targets(
        policy,
        refitted=refitted,
        progress=lambda share, what: progress(0.5 * share, what),
    )
    return {name: own, **without_learning(study)}


def without_learning(study: EvaluationStudy) -> dict[str, list[Target]]:
    """By name, for each fold: what was done, and each action always."""
    labels = enumerate(study.trajectories.action_labels)
    always = {f"always {label}": study.always(k) for k, label in labels}
    return {OBSERVED: study.observed(), **always}


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


def _whole_notes(analyses: FoldAnalyses) -> list[str]:
    found = [
        f"In each of {analyses.folds} folds of people the whole analysis (screening, feature map "
        "and policy) was done anew from the others: nobody was judged by anything that was chosen "
        "or learned with the same person. Missing values and rescaling stayed as they were."
    ]
    constant = sum(each.constant for each in analyses.analyses)
    if constant:
        found.append(
            f"In {constant} of {plural(analyses.folds, 'fold')} nothing was left to tell people's "
            "states apart by; there the best constant action was judged."
        )
    return found


#: Weights at their limit are worth a warning from this share of the decisions on.
OFTEN_CLIPPED = 0.01


def _clipping_warning(estimates: Mapping[str, Estimate]) -> list[str]:
    name, own = next(iter(estimates.items()))
    if own.clipped < OFTEN_CLIPPED:
        return []
    return [
        f"At {own.clipped:.0%} of the decisions the {name} policy would be in that state so "
        "much more often than the trial was that the weight had to be limited. Its value "
        "rests on few decisions there: a smaller discount looks less far ahead."
    ]
