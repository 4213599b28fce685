"""What the weights say and do not say."""

from __future__ import annotations

import pandas as pd

from smdp.data.describe import percent
from smdp.feature_map.result import FittedFeatureMap
from smdp.feature_map.stability import FeatureMapStability

NOTABLE = 0.5  # of a feature's largest weight
SURE = 0.8  # of the refits


def describe_weights(fitted: FittedFeatureMap) -> list[str]:
    """What each of the first features is mostly made of, and how to read it."""
    sentences = []
    for name in fitted.features[:3]:
        weights = fitted.weights.loc[name]
        weights = weights[weights.abs() >= NOTABLE * weights.abs().max()]
        ranked = weights[weights.abs().sort_values(ascending=False, kind="stable").index]
        parts = [f"{'high' if w > 0 else 'low'} {variable}" for variable, w in ranked.items()]
        if parts:
            sentences.append(f"{name.capitalize()} is large at {', '.join(parts[:4])}.")
    unused = [v for v in fitted.variables if v not in fitted.variables_used]
    if unused:
        sentences.append(f"{len(unused)} variables are not used at all: their weights are zero.")
    sentences.append(
        "Signs and order of features are a convention, so that two fits draw the same picture; "
        "another sample of people would give somewhat different weights. Weights say what a "
        "feature is made of, not yet which treatment it favours."
    )
    return sentences


def describe_stability(stability: FeatureMapStability) -> list[str]:
    """How much of the picture would survive another sample of people."""
    sure = [v for v, share in stability.selection.items() if share >= SURE]
    unsure = [v for v, share in stability.selection.items() if 0 < share < SURE]
    common = stability.dimensions.sort_values(ascending=False)
    sentences = [
        f"In {stability.bootstraps} refits on resampled people, {len(sure)} variables were used in "
        f"at least {percent(SURE)}" + (f": {', '.join(sure)}." if sure else "."),
        f"The dimension was {common.index[0]} in {percent(float(common.iloc[0]))} of the refits.",
    ]
    if unsure:
        sentences.append(f"Used only sometimes: {', '.join(unsure)}.")
    return sentences


def stability_table(stability: FeatureMapStability) -> pd.DataFrame:
    """Each weight with its interval over the refits."""
    weights = stability.weights
    return pd.DataFrame(
        {
            "feature": weights["feature"],
            "variable": weights["variable"],
            "weight": [
                f"{e:.2f} ({low:.2f} to {high:.2f})"
                for e, low, high in zip(
                    weights["estimate"], weights["lower"], weights["upper"], strict=True
                )
            ],
            "same sign (%)": (100 * weights["same_sign"]).round(),
        }
    )
