"""The sections on what the outcome depends on: screening, feature dimension, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from smdp.report.parts import Block, Paragraph, bullets, table
from smdp.report.sketch import Sketch

if TYPE_CHECKING:
    from smdp.analysis.result import AnalysisResult

MOST_FEATURES = 8  # columns of a table that fit on a page


def screening_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.screening import pooled_figure, time_heatmap
    from smdp.words.screening import describe_screening, screening_table

    result = analysis.screening
    assert result is not None
    found = bullets(describe_screening(result))
    if result.table["p_value"].notna().any():
        found.append(
            sketch(
                "pooled",
                "How clearly each variable depends on what comes next",
                pooled_figure(result),
                "Pooled p-values; the variable joins if its bar reaches the dashed line.",
            )
        )
    found += table("Screening", screening_table(result))
    first = result.rounds[0] if result.rounds else None
    if first is not None and np.isfinite(first.p_values.to_numpy(dtype=float)).any():
        found.append(
            sketch(
                "by-decision",
                "The first round, decision by decision",
                time_heatmap(result, first.number),
                "The p-value of each variable at each decision, before pooling.",
            )
        )
    return found


def dimension_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.feature_dimension import dimension_figure, loss_figure
    from smdp.words.feature_map import KIND_NAMES, candidate_table, describe_feature_map, pass_table

    fitted = analysis.feature_map
    assert fitted is not None
    found: list[Block] = [Paragraph(f"Kind of feature map: {KIND_NAMES[fitted.kind]}.")]
    found += bullets(describe_feature_map(fitted))
    if fitted.candidates.empty:
        return found
    reason = fitted.settings.reason.strip()
    if reason:
        found.append(Paragraph(f"Why the dimensions were set by hand: {reason}"))
    last = int(fitted.candidates["pass"].max())
    of_pass = f", pass {last}" if last > 1 else ""
    found.append(
        sketch(
            "p-values",
            f"Tests of each dimension{of_pass}",
            dimension_figure(fitted, last),
            "Small p-values reject a dimension: it loses something that matters.",
        )
    )
    found += table("Dimensions tried", candidate_table(fitted))
    if last > 1:
        found += table("Passes", pass_table(fitted))
    found.append(
        sketch(
            "errors",
            f"Prediction error by dimension{of_pass}",
            loss_figure(fitted, last),
            "How well each dimension predicts the next state and utility of people left out.",
        )
    )
    return found


def weights_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.weights import norms_figure, selection_figure, shown_weights, weights_heatmap
    from smdp.words.weights import describe_stability, describe_weights, stability_table

    fitted, stability = analysis.feature_map, analysis.stability
    assert fitted is not None
    if stability is not None and (
        stability.fitted.features != fitted.features
        or stability.fitted.variables != fitted.variables
    ):
        stability = None  # of another map
    found = bullets(describe_weights(fitted))
    if not fitted.variables_used:
        return found
    found.append(
        sketch(
            "heatmap",
            "What each feature is made of",
            weights_heatmap(fitted, stability=stability),
            "A row a feature, a column a variable that is used; white at zero.",
        )
    )
    weights = shown_weights(fitted).T
    of_many = weights.shape[1] > MOST_FEATURES
    found += table(
        "Weights",
        weights.iloc[:, :MOST_FEATURES].rename_axis("variable").reset_index(),
        f"The first {MOST_FEATURES} of {weights.shape[1]} features." if of_many else "",
    )
    if len(fitted.layers) > 1:
        found.append(sketch("norms", "How strongly each variable enters", norms_figure(fitted)))
    if stability is not None:
        found += bullets(describe_stability(stability))
        found.append(
            sketch(
                "selection",
                "How often each variable is used when people are resampled",
                selection_figure(stability),
            )
        )
        found += table("Stability of the weights", stability_table(stability))
    return found
