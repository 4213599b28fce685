"""A small study whose names are as hostile as a table's can be, and a plan with every step."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp import (
    AnalysisPlan,
    ColumnRoles,
    EvaluationPlan,
    FeatureMapPlan,
    FeatureMapSettings,
    NextValue,
    PlaceboPlan,
    PolicyPlan,
    PolicySettings,
    PreparationSettings,
    ScreeningPlan,
    ScreeningSettings,
    StabilityPlan,
    TrialPlan,
)
from smdp.policy.evaluation_settings import EvaluationSettings

MARKUP = "<script>alert('craving')</script>"
FORMULA = '=HYPERLINK("http://example.org","stress")'
MARKDOWN = "**noise** [x](javascript:alert(1)) {{7*7}}"
ENDLESS = "n" * 10_000
SUBJECTS, TIMES = 14, 12


def study_frame() -> pd.DataFrame:
    """Stress lowers the next craving, a treatment more so at low stress; noise says nothing."""
    random = np.random.default_rng(5)
    rows = []
    for i in range(SUBJECTS):
        craving = random.normal(5, 2)
        for t in range(TIMES):
            stress, noise, more = random.normal(5, 2, 3)
            treated = int(random.random() < 0.5)
            values = [round(v, 2) for v in (stress, craving, noise, more)]
            rows.append((f"@subject{i:02d}", t + 1, *values, treated))
            craving = 2 + 0.6 * stress - treated * (8 - stress) / 2 + random.normal(0, 0.7)
    columns = ["person", "day", FORMULA, MARKUP, MARKDOWN, ENDLESS, "treated"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.loc[5:9, FORMULA] = None
    frame.loc[24:34, [FORMULA, MARKUP, MARKDOWN, ENDLESS]] = None  # most of the third subject
    frame.attrs["source"] = "a <b>study</b>.csv"
    return frame


def quick_plan() -> AnalysisPlan:
    """Every step, with as little work as it takes."""
    judged = EvaluationSettings(folds=2, bootstraps=20, refit_map=False, segments=2)
    return AnalysisPlan(
        roles=ColumnRoles(
            "person",
            "day",
            "treated",
            [FORMULA, MARKUP, MARKDOWN, ENDLESS],
            NextValue(MARKUP, -1),
            probability=0.5,
            action_levels={"0": "nothing", "1": "=<i>a message</i>"},
        ),
        preparation=PreparationSettings(also_exclude=("@subject05",)),
        screening=ScreeningPlan(
            ScreeningSettings(permutations=299, pooling="trajectory", force_in=(MARKUP,)), 3
        ),
        features=FeatureMapPlan(
            use_all=True,
            settings=FeatureMapSettings(
                dimensions=(1, 2),
                reason="two, to be quick",
                widths=(4,),
                penalties=(0.02,),
                folds=2,
                steps=30,
                polish_steps=5,
                refit_steps=30,
                restarts=1,
                batch=16,
                iterate=False,
            ),
            seed=2,
        ),
        stability=StabilityPlan(2, 1),
        policies=(
            PolicyPlan(PolicySettings(discount=0.5, bootstraps=12), 4),
            PolicyPlan(
                PolicySettings(model="neural", discount=0.5, width=4, steps=100, bootstraps=2), 1
            ),
        ),
        evaluation=EvaluationPlan(judged, 6),
        placebo=PlaceboPlan(1, 2, judged, 8),
        trial=TrialPlan((FORMULA,), (FORMULA,), 0.9),
        notes={"screening": "Stress <was> expected.\nSo was craving.", "elsewhere": "A last word."},
    )
