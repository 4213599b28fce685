"""The small trial with names as hostile as a table's can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import small_trial

from smdp.analysis.plan import AnalysisPlan
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.preparation_settings import PreparationSettings
from smdp.steps.step_plans import PolicyPlan, ReadingSettings, ScreeningPlan, TrialPlan

MARKUP = "<i>markup7</i><script>alert('craving')</script>"
FORMULA = '=HYPERLINK("http://example.org","stress")'
MARKDOWN = "**bold7** [link7](javascript:alert(1)) $tex7^2$ %{x}"
ENDLESS = "n" * 10_000
PERSON, DAY = "\u202eperson <b>who7</b> 😀", "`code7` :red[colour7] {{7*7}} \a"
TREATED = "<img src=x onerror=alert(7)> שלום"
#: A word of each name, and what stands before it as long as it is shown as text.
BEFORE = {
    "markup7": "<i>",
    "bold7": "**",
    "link7": "[",
    "tex7": "$",
    "colour7": ":red[",
    "who7": "<b>",
    "code7": "`",
    "message7": "<i>",
    "study7": "<b>",
    "note7": "<u>",
}


def study_frame() -> pd.DataFrame:
    """The small trial; in place of a fact about each person, more noise."""
    frame = small_trial.study_frame().replace({"stress": {-9: None}})
    who = "@subject" + frame["person"].str.removeprefix("Anna") + " <b>who7</b>"
    noise = np.random.default_rng(6).normal(5, 2, len(frame)).round(2)
    frame = frame.assign(person=who, smoker=noise).astype({"stress": float, "craving": float})
    frame.loc[24:34, ["stress", "craving", "noise", "smoker"]] = None  # most of the third subject
    frame.columns = [PERSON, DAY, FORMULA, MARKUP, MARKDOWN, ENDLESS, TREATED]
    frame.attrs["source"] = "a <b>study7</b>.csv"
    return frame


def quick_plan(**changes: Any) -> AnalysisPlan:
    """Every step, with as little work as it takes."""
    plan = small_trial.quick_plan()
    assert plan.screening
    assert plan.features
    assert plan.evaluation
    assert plan.rule
    assert plan.placebo
    screening = replace(plan.screening.settings, force_in=(MARKUP,))
    dimensions = replace(plan.features.settings, dimensions=(1, 2), reason="two, to be quick")
    linear, neural = plan.policies
    hostile = plan.replace(
        roles=ColumnRoles(
            PERSON,
            DAY,
            TREATED,
            [FORMULA, MARKUP, MARKDOWN, ENDLESS],
            NextValue(MARKUP, -1),
            probability=0.5,
            action_levels={"0": "nothing", "1": "=<i>message7</i>"},
        ),
        reading=ReadingSettings(),
        preparation=PreparationSettings(also_exclude=("@subject05 <b>who7</b>",)),
        screening=ScreeningPlan(screening, plan.screening.seed),
        features=replace(plan.features, use_all=True, settings=dimensions),
        policies=(PolicyPlan(replace(linear.settings, bootstraps=12), linear.seed), neural),
        rule=replace(plan.rule, own=()),
        placebo=replace(plan.placebo, policy=1, settings=plan.evaluation.settings),
        trial=TrialPlan((FORMULA,), (FORMULA,), 0.9),
        notes={
            "screening": "Stress <u>note7</u> <was> expected.\nSo was craving.",
            "elsewhere": "A last word.",
        },
    )
    return hostile.replace(**changes)
