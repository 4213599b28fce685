"""What the weights say and do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from smdp.data.variables import Variable, wholes
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.text import listing, percent, plural

if TYPE_CHECKING:
    from smdp.feature_map.stability import FeatureMapStability  # torch would come along

MOST_DESCRIBED = 6  # features
NOTABLE = 0.5  # of a feature's largest weight
SURE = 0.8  # of the refits
LARGE_NORM, SMALL_GRADIENT = 0.5, 0.1  # of the largest

#: Marks of a weight whose sign is (not) the same in `SURE` of the refits.
STABLE, UNSTABLE = "●", "○"

# What a figure shows, as Markdown for above it.
ONE_LAYER = (
    "**Weights of the map's one layer:** how much the sum inside a feature moves when a variable "
    "rises by one standard deviation."
)
GRADIENTS = (
    "**Average gradients:** how fast each feature rises, on average over all decisions, with each "
    "variable (in standard deviations). The map is deeper than one layer, so no single weight says "
    "this."
)
NORMS = (
    "**The first layer's column norms:** how strongly each variable enters the network, for all "
    "features together and whatever the direction. Zero means not used."
)


def describe_weights(fitted: FittedFeatureMap) -> list[str]:
    """What each of the first features is mostly made of, and how to read it."""
    deep = fitted.weights_are == "average gradient"
    sentences = []
    for name in fitted.features[:MOST_DESCRIBED]:
        weights = fitted.weights.loc[name]
        weights = weights[weights.abs() >= NOTABLE * weights.abs().max()]
        ranked = weights[weights.abs().sort_values(ascending=False, kind="stable").index]
        parts = [_where(fitted.variable(str(name)), w > 0) for name, w in ranked.items() if w]
        if parts:
            large = "on average largest" if deep else "large"
            sentences.append(f"{name.capitalize()} is {large} {', '.join(parts[:4])}.")
    further = len(fitted.features) - MOST_DESCRIBED
    if further > 0:
        sentences.append(f"{plural(further, 'further feature')}: see the figure.")
    both_ways = _both_ways(fitted) if deep else []
    if both_ways:
        sentences.append(
            f"{listing(both_ways)}: large norm, yet hardly any average gradient. Such a variable "
            "acts differently in different states, or does little in the end."
        )
    unused = len(wholes(fitted.about)) - len(fitted.wholes_used)
    if unused:
        are = "variable is not used at all: its" if unused == 1 else "variables are not used: their"
        sentences.append(f"{unused} {are} weights are exactly zero.")
    sentences.append(
        "Signs and order of features are a convention, so that two fits draw the same picture; "
        "another sample of people would give somewhat different weights. Weights say what a "
        "feature is made of, not yet which treatment it favours."
    )
    return sentences


def _where(variable: Variable, higher: bool) -> str:
    """'at high stress', 'when weekend is 1', 'when at_home is yes'."""
    end = variable.high if higher else variable.low
    if variable.whole_kind == "nominal":
        return f"when {variable.whole} is {'' if higher else 'not '}{variable.part}"
    if variable.words:
        return f"at {'high' if higher else 'low'} {variable.in_words}"
    if variable.kind == "binary" and end is not None:
        return f"when {variable.name} is {variable.in_own_units().text(end)}"
    return f"at {'high' if higher else 'low'} {variable.name}"


def _both_ways(fitted: FittedFeatureMap) -> list[str]:
    """Variables that enter strongly but have next to no average gradient in any feature."""
    norms, gradients = fitted.column_norms, fitted.weights.abs().max(axis=0)
    strong = norms >= LARGE_NORM * norms.max()
    flat = gradients < SMALL_GRADIENT * gradients.max()
    return [str(name) for name in norms.index[strong & flat & (norms > 0)]]


def sign_shares(stability: FeatureMapStability) -> pd.DataFrame:
    """Feature x variable: the share of all refits with that feature and that sign of the weight."""
    fitted, weights = stability.fitted, stability.weights
    share = weights["same_sign"] * weights["refits"] / stability.bootstraps
    table = weights.assign(share=share).pivot(index="feature", columns="variable", values="share")
    return table.reindex(index=list(fitted.features), columns=list(fitted.variables)).fillna(0.0)


def marks_legend(stability: FeatureMapStability) -> str:
    """What the marks in the cells mean."""
    return (
        f"{STABLE} same sign in at least {percent(SURE)} of {stability.bootstraps} refits to "
        f"resampled people, {UNSTABLE} in fewer"
    )


def describe_stability(stability: FeatureMapStability) -> list[str]:
    """How much of the picture would survive another sample of people."""
    sure = [v for v, share in stability.selection.items() if share >= SURE]
    unsure = [v for v, share in stability.selection.items() if 0 < share < SURE]
    common = stability.dimensions.sort_values(ascending=False, kind="stable")
    used = stability.fitted.weights != 0
    kept = int(((sign_shares(stability) >= SURE) & used).to_numpy().sum())
    sentences = [
        f"In {stability.bootstraps} refits on resampled people, {_count(len(sure))} used in "
        f"at least {percent(SURE)}" + (f": {', '.join(sure)}." if sure else "."),
        f"The dimension was {common.index[0]} in {percent(float(common.iloc[0]))} of the refits; "
        f"that of the map shown is {stability.fitted.dimension}.",
        f"{kept} of {int(used.to_numpy().sum())} weights had the same sign in at least "
        f"{percent(SURE)} of them.",
    ]
    weights = stability.weights
    beside = ~weights["estimate"].between(weights["lower"], weights["upper"])
    if beside.any():
        sentences.append(
            "Where an interval lies beside its bar, the refits share the work among their features "
            "in another way than the map shown: read that weight with caution."
        )
    if unsure:
        sentences.append(f"Used only sometimes: {', '.join(unsure)}.")
    if stability.failed:
        sentences.append(
            f"{len(stability.failed)} more could not be fitted, the first because: "
            f"{stability.failed[0]}"
        )
    if not stability.complete:
        sentences.append("Stopped before all the refits asked for: only those done are counted.")
    return sentences


def _count(variables: int) -> str:
    return "1 variable was" if variables == 1 else f"{variables} variables were"


def stability_summary(stability: FeatureMapStability) -> str:
    return f"{stability.bootstraps} resamples" + ("" if stability.complete else ", stopped early")


def stability_table(stability: FeatureMapStability) -> pd.DataFrame:
    """Each weight with its interval over the refits."""
    weights = stability.weights
    share = weights["same_sign"] * weights["refits"] / stability.bootstraps
    return pd.DataFrame(
        {
            "feature": weights["feature"],
            "variable": weights["variable"],
            f"weight ({percent(stability.coverage)} interval)": [
                f"{e:.2f} ({low:.2f} to {high:.2f})"
                for e, low, high in zip(
                    weights["estimate"], weights["lower"], weights["upper"], strict=True
                )
            ],
            "same sign (% of refits)": (100 * share).round(),
            "refits with this feature": weights["refits"],
        }
    )
