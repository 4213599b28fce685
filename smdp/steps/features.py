"""The step Feature dimension: how few features can stand for the state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import Paragraph, bullets, table
from smdp.data.problem import Problem
from smdp.errors import SettingError
from smdp.feature_map.kinds import map_kind
from smdp.plain_data import fingerprint
from smdp.progress import Progress
from smdp.steps.code import call, home
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.step_plans import FeatureMapPlan

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.feature_map.fitted_map import FittedFeatureMap


#: Stands for the variables of a map that screening does not decide on.
ALL_VARIABLES = "all"


def variables_for_features(analysis: Analysis) -> tuple[str, ...] | None:
    """Those that screening kept; None: all."""
    if analysis.plan.features is not None and analysis.plan.features.use_all:
        return None
    screening = analysis.screening
    return () if screening is None else tuple(screening.selected)


def needs(plan: AnalysisPlan) -> tuple[str, ...]:
    chosen = plan.features is not None and plan.features.use_all
    return ("rescaling",) if chosen else ("rescaling", "screening")


def also_takes(analysis: Analysis) -> dict[str, str]:
    names = variables_for_features(analysis)
    return {"variables": ALL_VARIABLES if names is None else fingerprint(names)}


def check_plan(plan: AnalysisPlan) -> None:
    if plan.features is not None and plan.screening is None and not plan.features.use_all:
        raise SettingError(
            "The plan has 'features' but no 'screening' to decide which variables go in.",
            "Add 'screening' to the plan, or set 'use_all' of 'features' to true.",
        )


def blocked(analysis: Analysis) -> str:
    if variables_for_features(analysis) == ():
        return (
            "Screening kept no variable, so the steps after it were not done. Screen at a higher "
            "level, force variables in, or set 'use_all' of 'features'."
        )
    return ""


def run(analysis: Analysis, progress: Progress) -> FittedFeatureMap:
    plan, prepared = analysis.plan.features, analysis.prepared
    assert prepared is not None
    chosen = variables_for_features(analysis)
    names = prepared.trajectories.variables if chosen is None else chosen
    own = prepared.trajectories.select(names)
    return map_kind(plan.kind).fit(own, plan.settings, seed=plan.seed, progress=progress)


def summary(fitted: FittedFeatureMap, analysis: Analysis) -> str:
    from smdp.words.feature_map import feature_map_summary

    return feature_map_summary(fitted)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.feature_map import describe_feature_map
    from smdp.words.weights import describe_weights

    assert analysis.feature_map is not None
    return [*describe_feature_map(analysis.feature_map), *describe_weights(analysis.feature_map)]


def warns(fitted: FittedFeatureMap, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.feature_map import check_feature_map

    return check_feature_map(fitted)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    fitted = analysis.feature_map
    assert fitted is not None
    yield "weights", fitted.weights.rename_axis("feature").reset_index()
    yield "column-norms", fitted.column_norms.rename_axis("variable").reset_index()
    if not fitted.candidates.empty:
        yield "candidates", fitted.candidates
    if not fitted.steps.empty:
        yield "passes", fitted.steps


def figures(fitted: FittedFeatureMap) -> Mapping[str, go.Figure]:
    from smdp.figures.feature_dimension import dimension_figure, loss_figure, value_figure
    from smdp.figures.weights import weights_heatmap

    if fitted.candidates.empty:
        return {"weights": weights_heatmap(fitted)}
    last = int(fitted.candidates["pass"].max())
    value = value_figure(fitted, last)
    return {
        "dimension": dimension_figure(fitted, last),
        "loss": loss_figure(fitted, last),
        **({"value": value} if value is not None else {}),
        "weights": weights_heatmap(fitted),
    }


def methods(analysis: Analysis, asked: FeatureMapPlan) -> str:
    which = "all state variables" if asked.use_all else "the variables that screening had kept"
    text = map_kind(asked.kind).methods(asked.settings, which)
    fitted = analysis.feature_map
    if fitted is not None and not fitted.candidates.empty:
        from smdp.words.feature_map import result_for_methods

        text += f" {result_for_methods(fitted)}"
    return text


def script(plan: AnalysisPlan) -> str:
    own = plan.features
    names = "prepared.trajectories.variables" if own.use_all else "screening.selected"
    kept = f"kept = prepared.trajectories.select({names})\n"
    fit = map_kind(own.kind).fit
    return kept + call("feature_map", f"{home(fit)}.{fit.__name__}", "kept", own.settings, own.seed)


def script_imports(plan: AnalysisPlan) -> set[str]:
    kind = map_kind(plan.features.kind)
    return {home(kind.fit), home(kind.settings)}


def dimension_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.feature_dimension import dimension_figure, loss_figure, value_figure
    from smdp.words.feature_map import (
        candidate_table,
        describe_feature_map,
        dimension_caption,
        error_caption,
        pass_table,
        value_caption,
    )

    fitted = analysis.feature_map
    assert fitted is not None
    found: list[Block] = [Paragraph(f"Kind of feature map: {map_kind(fitted.kind).title}.")]
    found += bullets(describe_feature_map(fitted))
    if fitted.candidates.empty:
        return found
    reason = fitted.settings.reason.strip()
    if reason:
        found.append(Paragraph(f"Why the dimensions were set by hand: {reason}"))
    last = int(fitted.candidates["pass"].max())
    of_pass = f", pass {last}" if last > 1 else ""
    found.append(
        draw(
            "p-values",
            f"How many features{of_pass}",
            dimension_figure(fitted, last),
            dimension_caption(fitted),
        )
    )
    found += table("Dimensions tried", candidate_table(fitted))
    if last > 1:
        found += table("Passes", pass_table(fitted))
    found.append(
        draw(
            "errors",
            f"Prediction error by dimension{of_pass}",
            loss_figure(fitted, last),
            error_caption(fitted),
        )
    )
    value = value_figure(fitted, last)
    if value is not None:
        title = f"What a decision by the features costs{of_pass}"
        found.append(draw("value", title, value, value_caption(fitted)))
    return found


FEATURES = Step(
    name="features",
    title="Feature dimension",
    question="How few numbers can stand for a patient's state without losing what matters for "
    "treatment?",
    sections=(PlanSection("features", FeatureMapPlan),),
    result="smdp.feature_map.fitted_map:FittedFeatureMap",
    needs=needs,
    takes={"trajectories": "rescaling"},
    also_takes=also_takes,
    check_plan=check_plan,
    blocked=blocked,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("dimension", "Feature dimension", ("features",), dimension_section),),
    script=script,
    script_imports=script_imports,
    script_end='print("Dimension:", feature_map.dimension)\nprint(feature_map.weights)',
    page=Page("Feature dimension", "Find how few features are enough", "feature_dimension", 5),
    effort=60,
    keeps_what_is_finished=lambda plan: map_kind(plan.features.kind).keeps_finished,
)
