"""A step and a kind of feature map as somebody outside would add them: this file, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from smdp import saved_types
from smdp.analysis.analysis import Analysis
from smdp.blocks import Block, Draw, Paragraph, table
from smdp.feature_map import kinds
from smdp.feature_map.base import MapKind
from smdp.feature_map.identity import IdentitySettings, identity_feature_map
from smdp.progress import Progress
from smdp.settings import Settings, seed_setting, setting
from smdp.steps import Page, PlanSection, ReportSection, Step, add_step


@dataclass(frozen=True)
class SpreadPlan(Settings):
    """How far the values of each variable lie apart."""

    measure: Literal["sd", "range"] = setting(
        "sd",
        "Measure",
        choices={"sd": "Standard deviation", "range": "Range"},
        control="radio",
        help="How the spread is measured.",
    )
    digits: int = setting(2, "Digits", least=0, given=(0, 6), help="To round to.")
    seed: int = seed_setting()


@dataclass(frozen=True, eq=False)
class Spread:
    """By variable."""

    table: pd.DataFrame


def run(analysis: Analysis, progress: Progress) -> Spread:
    own, prepared = analysis.plan.spread, analysis.prepared
    assert prepared is not None
    progress(0.5, "Measuring the spread")
    trajectories = prepared.trajectories
    valid = trajectories.states[:, :-1][trajectories.valid]
    states = pd.DataFrame(valid, columns=trajectories.variables)
    found = states.std() if own.measure == "sd" else states.max() - states.min()
    spread = found.round(own.digits).rename_axis("variable")
    return Spread(spread.rename("spread").reset_index())


def summary(result: Spread, analysis: Analysis) -> str:
    return f"spread of {len(result.table)} variables"


def says(analysis: Analysis) -> list[str]:
    widest = analysis.results["spread"].table.set_index("variable")["spread"].idxmax()
    return [f"The values of {widest} lie furthest apart."]


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "spread", analysis.results["spread"].table


def figures(result: Spread) -> Mapping[str, go.Figure]:
    bars = go.Figure(go.Bar(x=result.table["variable"], y=result.table["spread"]))
    return {"spread": bars.update_layout(title="Spread")}


def section(analysis: Analysis, draw: Draw) -> list[Block]:
    found = analysis.results["spread"]
    return [Paragraph(says(analysis)[0]), *table("Spread of the variables", found.table)]


def methods(analysis: Analysis, asked: SpreadPlan) -> str:
    return f"The spread of each variable was measured by its {asked.measure}."


SPREAD = Step(
    name="spread",
    title="Spread",
    question="How far do the values lie apart?",
    sections=(PlanSection("spread", SpreadPlan),),
    result="toy_plugin:Spread",
    needs=("rescaling",),
    takes={"trajectories": "rescaling"},
    run=run,
    summary=summary,
    says=says,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("spread", "Spread", ("spread",), section, ("spread",)),),
    page=Page("Spread", "See how far values lie apart"),
)


@dataclass(frozen=True)
class LargestSettings(Settings):
    """How many variables there are to be."""

    count: int = setting(2, "Number of variables", least=1, given=(1, 10), help="The first ones.")


def first_variables(
    trajectories: Any,
    settings: LargestSettings = LargestSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Any:
    first = trajectories.select(trajectories.variables[: settings.count])
    fitted = identity_feature_map(first, IdentitySettings(), seed=seed, progress=progress)
    return replace(fitted, kind="largest", settings=settings)


FIRST = MapKind(
    name="largest",
    title="The largest variables",
    settings=LargestSettings,
    fit=first_variables,
    methods=lambda settings, inputs: f"The features were the first {settings.count} of {inputs}.",
)

saved_types.register("spread plan", SpreadPlan)
saved_types.register("spread", Spread)
saved_types.register("largest variables settings", LargestSettings)


def add() -> None:
    add_step(SPREAD, after="rescaling")
    kinds.register(FIRST)


add()
