"""What the weights say and do not say."""

from __future__ import annotations

from smdp.feature_map.result import FittedFeatureMap

NOTABLE = 0.5  # of a feature's largest weight


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
