"""Any policies, each learned in the folds of whole analyses, judged side by side.

    study = study_in_folds(trajectories, analyses, settings, discount=0.9)
    card = [make_card(analyses.without(trajectories, a.fold), a) for a in analyses.analyses]
    judged = judged_in_folds(study, {"linear": analyses.policies(0), "card": card}, settings)
    judged.differences  # every pair, with intervals

A rule that a person made up is a list of one. Differences are paired: both values come from the
same people and the same models of what is to be expected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from smdp.evaluation.estimators import Estimate
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import EvaluationStudy
from smdp.evaluation.target import AnyPolicy
from smdp.evaluation.value import without_learning
from smdp.evaluation.value_tables import doubly_robust_rows, pairwise_differences
from smdp.progress import Progress, silent
from smdp.result import Content


@dataclass(frozen=True, eq=False, repr=False)
class JudgedPolicies(Content):
    """`values`: a row for each policy, as in `PolicyValue.table`. `differences`: for each pair.

    The policies given come first, then "observed" and "always ..". `estimates` hold each person's
    influence, of which any other difference can be made (`standard_error`).
    """

    values: pd.DataFrame
    differences: pd.DataFrame
    estimates: Mapping[str, Estimate]


def judged_in_folds(
    study: EvaluationStudy,
    policies: Mapping[str, Sequence[AnyPolicy]],
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    progress: Progress | None = None,
) -> JudgedPolicies:
    """What each would earn, by name: one policy for each fold, learned without it, or one for all.

    One for all must not have been made from these data. Variables that the maps of the folds do not
    use are named when the study is made (`also`).
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    progress = progress or silent
    estimates = {}
    with threadpool_limits(1, user_api="blas"):
        targets = {name: study.given(own) for name, own in policies.items()}
        targets |= without_learning(study)
        for done, (name, own) in enumerate(targets.items()):
            progress(done / len(targets), f"Estimating the value: {name}")
            estimates[name] = study.estimate(own)
    progress(1.0, "The policies are judged")
    return JudgedPolicies(
        values=pd.DataFrame(doubly_robust_rows(study, estimates, settings)),
        differences=pairwise_differences(study, estimates, settings),
        estimates=estimates,
    )
