"""The studies and plans of the golden analyses: small, but through every step and both learners."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd

from smdp.analysis.plan import AnalysisPlan
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.preparation_settings import (
    ImputationSettings,
    PreparationSettings,
    RescalingSettings,
)
from smdp.data.read_table import read_table
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.tnn import TnnSettings
from smdp.policy.policy_settings import PolicySettings
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.samples import BASICS, WALKING, sample_file
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    PlaceboPlan,
    PolicyPlan,
    ReadingSettings,
    ScreeningPlan,
    StabilityPlan,
    TrialPlan,
)

#: What every map here is fitted with, unless its plan says otherwise: as little work as it takes.
QUICK = FeatureMapSettings(
    widths=(4,),
    penalties=(0.02, 0.1),
    folds=2,
    permutations=299,
    iterate=False,
    steps=30,
    batch=16,
    polish_steps=5,
    refit_steps=30,
    refit_weight_decays=(0.1,),
    restarts=1,
)
QUICK_EVALUATION = EvaluationSettings(folds=2, bootstraps=20, segments=2)
QUICK_NEURAL = PolicySettings(model="neural", discount=0.5, width=4, steps=60, bootstraps=2)


def golden_studies() -> dict[str, tuple[pd.DataFrame, AnalysisPlan]]:
    """Each golden analysis by its name: its table and its plan."""
    continuous = _as_file(_continuous_frame(), "continuous.csv")
    plan = _continuous_plan(continuous)
    return {
        "students": _students(),
        "walking": _walking(),
        "continuous": (continuous, plan),
        "pca": (continuous, _other_map(plan, "pca")),
        "tnn": (continuous, _other_map(plan, "tnn")),
        "identity": (continuous, _other_map(plan, "identity")),
    }


def _as_file(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table as it is read from a file of this name."""
    return read_table(frame.to_csv(index=False, lineterminator="\n").encode(), name=name)


def _first_subjects(file: str, subject: str, count: int, name: str) -> pd.DataFrame:
    frame = pd.read_csv(sample_file(f"{file}.csv"), dtype=str)
    first = frame[subject].unique()[:count]
    return _as_file(frame[frame[subject].isin(first)], name)


def _students() -> tuple[pd.DataFrame, AnalysisPlan]:
    """Two actions, many ordinal variables; rescaled, relative test, iterated."""
    table = _first_subjects(BASICS, "student", 16, "students_synthetic.csv")
    continuous = [StateVariable("age", "continuous", 18, 25)]
    ordinal = [
        StateVariable(name, "ordinal", 0, 10)
        for name in ("dependence", "stress", "urge", "mood", "alcohol_urge", "confidence")
    ]
    plan = AnalysisPlan(
        roles=ColumnRoles(
            "student",
            "report",
            "module",
            [*continuous, *ordinal, "female", "quit_attempts", "weekend", "sleep", "drinks",
             "peers", "burden", "cigs"],
            NextValue("cigs", -1),
            probability=0.5,
            action_levels={"0": "information", "1": "treatment"},
        ),
        preparation=PreparationSettings(
            rescaling=RescalingSettings("cigs"), also_exclude=("S02",)
        ),
        screening=ScreeningPlan(
            ScreeningSettings(
                level=0.2,
                permutations=149,
                max_rounds=3,
                force_in=("stress", "burden", "sleep"),
                force_out=("age",),
            ),
            3,
        ),
        features=FeatureMapPlan(
            settings=replace(
                QUICK, dimensions=(1, 2, 3), reason="to be quick", widths=(4, 6), iterate=True,
                penalties=(0.1, 0.3), steps=80, polish_steps=30, weak_columns=0.15,
            ),
            seed=2,
        ),
        stability=StabilityPlan(2, 1),
        policies=(
            PolicyPlan(PolicySettings(discount=0.8, bootstraps=5, neighbours=20), 4),
            PolicyPlan(QUICK_NEURAL, 1),
        ),
        evaluation=EvaluationPlan(replace(QUICK_EVALUATION, coverage=0.9), 6),
        placebo=PlaceboPlan(1, 2, QUICK_EVALUATION, 8),
        trial=TrialPlan(("stress", "cigs"), ("weekend",), 0.9),
        notes={"screening": "Stress was expected.\nSo was \N{GREEK SMALL LETTER BETA}."},
        data_name=table.attrs["source"],
        data_fingerprint=table.attrs["fingerprint"],
    )  # fmt: skip
    return table, plan


def _walking() -> tuple[pd.DataFrame, AnalysisPlan]:
    """Three actions, availability and dates; own units, look-back, a deeper map."""
    table = _first_subjects(WALKING, "person", 13, "walking_synthetic.csv")
    actions = ("none", "message", "call")
    plan = AnalysisPlan(
        roles=ColumnRoles(
            "person",
            "time",
            "action",
            [StateVariable("pain", "ordinal", 0, 10), StateVariable("mood", "ordinal", 1, 7),
             "fatigue", "sleep", StateVariable("rain", "binary")],
            "outcome_walked",
            available="available",
            probability={level: f"prob_{level}" for level in actions},
            action_levels={"none": "nothing", "message": "a message", "call": "a call"},
            lags=1,
            add_time=True,
        ),
        preparation=PreparationSettings(imputation=ImputationSettings(span=0.6, degree=2)),
        screening=ScreeningPlan(
            ScreeningSettings(
                permutations=99,
                rank=4,
                max_rounds=2,
                force_in=("pain", "mood", "rain", "decision", "pain_lag1", "action=a call_lag1"),
            ),
            1,
        ),
        features=FeatureMapPlan(
            settings=replace(
                QUICK, interpretable=False, dimensions=(2,), depths=(1, 2), activation="tanh",
                updates="alternating", penalties=(0.02,), refit_weight_decays=(0.1, 1.0),
            ),
            seed=5,
        ),
        stability=StabilityPlan(2, 3),
        policies=(
            PolicyPlan(PolicySettings(discount=0.5, update="stochastic", bootstraps=2), 2),
            PolicyPlan(PolicySettings(discount=0.9, ridge=0.01, bootstraps=4), 3),
            PolicyPlan(QUICK_NEURAL, 4),
        ),
        evaluation=EvaluationPlan(
            replace(QUICK_EVALUATION, refit_map=False, discount=0.7), 5, "quick"
        ),
        placebo=PlaceboPlan(2, 2, replace(QUICK_EVALUATION, refit_map=False), 6),
        trial=TrialPlan(("fatigue", "rain"), ("pain", "mood")),
    )  # fmt: skip
    return table, plan


def _continuous_frame() -> pd.DataFrame:
    """Stress lowers the next craving, a treatment more so at low stress; noise says nothing.

    People stay for 9 to 14 days; one misses two days, one never says how noisy it was.
    """
    random = np.random.default_rng(11)
    rows = []
    for i in range(16):
        craving = random.normal(5, 2)
        for t in range(14 - i % 6):
            stress, noise = random.normal(5, 2, 2)
            treated = int(random.random() < 0.5)
            rows.append((f"Anna{i:02d}", t + 1, round(stress, 2), round(craving, 2),
                         round(noise, 2), "yes" if i % 3 else "no", treated))  # fmt: skip
            craving = 2 + 0.6 * stress - treated * (8 - stress) / 2 + random.normal(0, 0.7)
    names = ["person", "day", "stress", "craving", "noise", "smoker", "treated"]
    frame = pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[2:5], object))
    frame.loc[5:8, "stress"] = -9
    frame.loc[[30, 31, 60], "craving"] = None
    frame.loc[[40, 75], "noise"] = "unknown"
    frame.loc[frame["person"] == "Anna07", "noise"] = None
    gap = (frame["person"] == "Anna04") & frame["day"].isin([5, 6])
    return frame[~gap]


def _continuous_plan(table: pd.DataFrame) -> AnalysisPlan:
    """Absolute test with condition (ii), whole trajectories; one person left out by hand."""
    return AnalysisPlan(
        roles=ColumnRoles(
            "person",
            "day",
            "treated",
            [StateVariable("stress", "continuous", -5, 15), "craving", "noise", "smoker"],
            NextValue("craving", -1),
            probability=0.5,
            action_levels={"0": "nothing", "1": "=a message"},
        ),
        reading=ReadingSettings(missing_codes={"stress": (-9,), "*": ("unknown",)}),
        preparation=PreparationSettings(also_exclude=("Anna03",), unobserved="exclude"),
        screening=ScreeningPlan(
            ScreeningSettings(permutations=199, pooling="trajectory", force_in=("craving",)), 3
        ),
        features=FeatureMapPlan(
            settings=replace(
                QUICK, dimensions=(1, 2), test="absolute", condition="ii", pooling="trajectory",
                activation="relu",
            ),
            seed=2,
        ),
        stability=StabilityPlan(2, 1),
        policies=(
            PolicyPlan(PolicySettings(discount=0.5, bootstraps=3, abstain_level=0.2), 4),
            PolicyPlan(QUICK_NEURAL, 1),
        ),
        evaluation=EvaluationPlan(replace(QUICK_EVALUATION, refit_map=False), 6, "quick"),
        placebo=PlaceboPlan(2, 2, QUICK_EVALUATION, 8),
        trial=TrialPlan(("stress",), ("stress",), 0.9, logarithm=True),
        notes={"data": "Made by a seed."},
        data_name=table.attrs["source"],
        data_fingerprint=table.attrs["fingerprint"],
    )  # fmt: skip


def _other_map(plan: AnalysisPlan, kind: str) -> AnalysisPlan:
    """The same study with another kind of map of all variables, up to the evaluation."""
    settings = None
    if kind == "tnn":
        own = {each.name: getattr(QUICK, each.name) for each in fields(TnnSettings)}
        settings = TnnSettings(**own | {"dimensions": (1, 2)})
    return plan.replace(
        features=FeatureMapPlan(kind, True, settings, 3),
        stability=None,
        stop_after="evaluation",
    )
