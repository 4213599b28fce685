"""Estimates of several policies as tables, with intervals only where they can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from smdp.policy.doubly_robust import Estimate, spread, standard_error
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.evaluation_study import EvaluationStudy
from smdp.policy.importance_sampling import stepwise
from smdp.policy.target import Target

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
    subjects = study.rows.clusters
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


def value_warnings(table: pd.DataFrame, estimates: Mapping[str, Estimate]) -> list[str]:
    """Sentences with what to do about estimates that rest on too little."""
    found = []
    weak = table[(table["method"] == DOUBLY_ROBUST) & ~table["trusted"]]
    for name, reason in zip(weak["policy"], weak["reason"], strict=True):
        found.append(f"No interval for the policy '{name}': {reason[0].lower()}{reason[1:]}")
    name, own = next(iter(estimates.items()))
    if own.clipped >= OFTEN_CLIPPED:
        found.append(
            f"At {own.clipped:.0%} of the decisions the {name} policy would be in that state so "
            "much more often than the trial was that the weight had to be limited. Its value "
            "rests on few decisions there: a smaller discount looks less far ahead."
        )
    return found


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
