"""The step Stability of the weights: the map again, on resampled people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from smdp.blocks import bullets, table
from smdp.errors import SettingError
from smdp.feature_map.kinds import map_kind, map_kinds
from smdp.progress import Progress
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import StabilityPlan
from smdp.text import listing, plural

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.feature_map.stability import FeatureMapStability


MOST_FEATURES = 8  # columns of a table that fit on a page


def check_plan(plan: AnalysisPlan) -> None:
    if plan.stability and plan.features and not map_kind(plan.features.kind).stability:
        checked = [f"'{kind.name}'" for kind in map_kinds() if kind.stability]
        raise SettingError(
            f"The plan has 'stability' of a feature map of kind '{plan.features.kind}'.",
            f"Stability is checked for {listing(checked)} only; leave 'stability' out.",
        )


def run(analysis: Analysis, progress: Progress) -> FeatureMapStability:
    from smdp.feature_map.stability import feature_map_stability

    plan, prepared, fitted = analysis.plan.stability, analysis.prepared, analysis.feature_map
    assert prepared is not None
    assert fitted is not None
    return feature_map_stability(
        prepared.trajectories.select(fitted.variables),
        fitted.settings,
        bootstraps=plan.bootstraps,
        seed=plan.seed,
        progress=progress,
        fitted=fitted,
    )


def summary(result: FeatureMapStability, analysis: Analysis) -> str:
    from smdp.words.weights import stability_summary

    return stability_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.weights import describe_stability

    assert analysis.stability is not None
    return describe_stability(analysis.stability)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    found = analysis.stability
    assert found is not None
    yield "stability", found.weights
    yield "stability-selection", found.selection.rename_axis("variable").reset_index()
    yield "stability-dimensions", found.dimensions.reset_index()


def figures(result: FeatureMapStability) -> Mapping[str, go.Figure]:
    from smdp.figures.weights import selection_figure, weights_heatmap

    return {
        "weights": weights_heatmap(result.fitted, stability=result),
        "selection": selection_figure(result),
    }


def methods(analysis: Analysis, asked: Any) -> str:
    return (
        "How stable the map is was assessed by fitting it to "
        f"{plural(asked.bootstraps, 'sample')} of subjects drawn with replacement; their features "
        "were matched with the map's own by the correlation of their values."
    )


def script(plan: AnalysisPlan) -> str:
    return (
        "stability = smdp.feature_map_stability(\n"
        "    kept,\n"
        "    feature_map.settings,\n"
        f"    bootstraps={plan.stability.bootstraps},\n"
        f"    seed={plan.stability.seed},\n"
        "    fitted=feature_map,\n"
        ")"
    )


def weights_section(analysis: Analysis, draw: Draw) -> list[Block]:
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
        draw(
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
        found.append(draw("norms", "How strongly each variable enters", norms_figure(fitted)))
    if stability is not None:
        found += bullets(describe_stability(stability))
        found.append(
            draw(
                "selection",
                "How often each variable is used when people are resampled",
                selection_figure(stability),
            )
        )
        found += table("Stability of the weights", stability_table(stability))
    return found


STABILITY = Step(
    name="stability",
    title="Stability of the weights",
    question="What is each feature made of?",
    sections=(PlanSection("stability", StabilityPlan),),
    result="smdp.feature_map.stability:FeatureMapStability",
    needs=("features",),
    takes={"trajectories": "rescaling", "feature map": "features"},
    check_plan=check_plan,
    run=run,
    summary=summary,
    says=says,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection(
            "weights",
            "What the features are made of",
            ("features",),
            weights_section,
            steps=("features", "stability"),
        ),
    ),
    script=script,
    script_end="print(stability.selection)",
    ready="to be read; stability not checked",
    page=Page("Weights", "Read what the features are made of", "weights", 6),
    effort=600,
    keeps_what_is_finished=True,
)
