"""Estimates of the values of policies as tables: intervals, and differences between policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from smdp.evaluation.estimators import Estimate, spread, standard_error, stepwise
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import EvaluationStudy
from smdp.evaluation.target import Target

DOUBLY_ROBUST = "doubly robust"
FITTED_Q = "fitted-Q evaluation"
STEPWISE = "weighted importance sampling"
OBSERVED = "observed"


def value_table(
    study: EvaluationStudy,
    targets: Mapping[str, Sequence[Target]],
    estimates: Mapping[str, Estimate],
    settings: EvaluationSettings,
) -> pd.DataFrame:
    """One row for each method and policy, the method to be trusted first."""
    rows = doubly_robust_rows(study, estimates, settings)
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


def doubly_robust_rows(
    study: EvaluationStudy, estimates: Mapping[str, Estimate], settings: EvaluationSettings
) -> list[dict[str, object]]:
    """A policy each: what it would earn, with its interval or why there is none."""
    rows: list[dict[str, object]] = []
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
    return rows


def difference_table(
    study: EvaluationStudy, estimates: Mapping[str, Estimate], settings: EvaluationSettings
) -> pd.DataFrame:
    """The first policy against each other one, the observed one first; doubly robust."""
    first, *others = estimates
    return _differences(study, estimates, [(first, other) for other in others], settings)


def pairwise_differences(
    study: EvaluationStudy, estimates: Mapping[str, Estimate], settings: EvaluationSettings
) -> pd.DataFrame:
    """Each policy against each that comes after it; doubly robust."""
    return _differences(study, estimates, list(combinations(estimates, 2)), settings)


def _differences(
    study: EvaluationStudy,
    estimates: Mapping[str, Estimate],
    pairs: Sequence[tuple[str, str]],
    settings: EvaluationSettings,
) -> pd.DataFrame:
    """Both values come from the same people, so that a difference is known better than either."""
    rows = []
    for name, other in pairs:
        own, each = estimates[name], estimates[other]
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


def quantile(effective: float, coverage: float) -> float:
    """Of Student's t: few subjects make the standard error itself uncertain."""
    from scipy.special import stdtrit

    return float(stdtrit(max(1.0, effective - 1), 0.5 + coverage / 2))


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
