"""A step as another package would write it: how the mood was, on average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.blocks import Paragraph, bullets, table
from smdp.data.problem import Problem
from smdp.settings import Settings, seed_setting, setting
from smdp.steps import PlanSection, ReportSection, Step


@dataclass(frozen=True)
class MoodSettings(Settings):
    """The mean of a share of the stress values, drawn at random."""

    share: float = setting(
        0.5, "Share of the values", help="How many are drawn.", what="a share", above=0, most=1
    )
    seed: int = seed_setting()


@dataclass(frozen=True, eq=False)
class Mood:
    """`values`: those that were drawn."""

    mean: float
    values: np.ndarray
    settings: MoodSettings


def run(analysis, progress):
    progress(0.0, "Asking how they are")
    asked = analysis.plan.mood
    every = analysis.prepared.trajectories.states[:, :, 0]
    random = np.random.default_rng(asked.seed)
    known = every[np.isfinite(every)]
    drawn = random.choice(known, max(1, int(asked.share * len(known))), replace=False)
    return Mood(float(drawn.mean()), drawn, asked)


def says(analysis):
    return [f"The mood was {analysis.results['mood'].mean:.2f} on average."]


def tables(analysis):
    yield "mood", pd.DataFrame({"mood": analysis.results["mood"].values})


def section(analysis, draw):
    found = [Paragraph("How they were.")]
    found += bullets(says(analysis))
    frame = pd.DataFrame({"mean": [analysis.results["mood"].mean]})
    return found + table("The mood of all", frame)


MOOD = Step(
    name="mood",
    title="Mood",
    question="How were they?",
    result="outside_step:Mood",
    sections=(PlanSection("mood", MoodSettings),),
    needs=("rescaling",),
    takes={"trajectories": "rescaling"},
    run=run,
    summary=lambda mood, analysis: f"a mean of {mood.mean:.2f}",
    says=says,
    warns=lambda mood, analysis: [Problem("note", "", "Moods change.")],
    tables=tables,
    methods=lambda analysis, asked: f"The mood was the mean of {asked.share:g} of the values.",
    report=(ReportSection("mood", "The mood", ("mood",), section),),
    script=lambda plan: f"mood = {plan.mood.share}",
    script_end="print(mood)",
)
