"""A small trial made by hand: a raw table, and a plan with every step."""

import numpy as np
import pandas as pd

from smdp.analysis.plan import AnalysisPlan
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.preparation_settings import PreparationSettings
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.markov.markov_settings import MarkovSettings
from smdp.policy.policy_settings import PolicySettings
from smdp.screening_settings import ScreeningSettings
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    ImputationsPlan,
    MarkovPlan,
    NewDataPlan,
    PassportPlan,
    PlaceboPlan,
    PolicyPlan,
    ReadingSettings,
    RulePlan,
    ScreeningPlan,
    StabilityPlan,
    TableFile,
    TradeOffPlan,
    TrialPlan,
    TwinPlan,
)
from smdp.validation.imputation_settings import ImputationDrawsSettings
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.passport_settings import PassportSettings
from smdp.validation.twin_settings import TwinSettings

SUBJECTS, TIMES = 14, 12


NEW_FILE = "new.csv"


def study_frame(seed: int = 5, name: str = "Anna") -> pd.DataFrame:
    """Stress lowers the next craving, a treatment more so at low stress; noise says nothing."""
    random = np.random.default_rng(seed)
    rows = []
    for i in range(SUBJECTS):
        craving = random.normal(5, 2)
        for t in range(TIMES):
            stress, noise = random.normal(5, 2, 2)
            treated = int(random.random() < 0.5)
            rows.append((f"{name}{i:02d}", t + 1, round(stress, 2), round(craving, 2),
                         round(noise, 2), "yes" if i % 2 else "no", treated))  # fmt: skip
            craving = 2 + 0.6 * stress - treated * (8 - stress) / 2 + random.normal(0, 0.7)
    names = ["person", "day", "stress", "craving", "noise", "smoker", "treated"]
    frame = pd.DataFrame(rows, columns=names).astype({"stress": object, "craving": object})
    frame.loc[5:9, "stress"] = -9
    frame.loc[30, "craving"] = None
    return frame


def plan_with_new_data() -> AnalysisPlan:
    """Every step; the new table is the file `NEW_FILE` beside the study's."""
    rules = NewDataSettings(draws=99, folds=2, bootstraps=20)
    judged = EvaluationSettings(folds=2, bootstraps=20, refit_map=False, segments=2)
    return quick_plan().replace(
        trade_off=TradeOffPlan(TradeOffSettings(points=3), judged, 3),
        new_data=NewDataPlan(TableFile("new data", NEW_FILE), rules, 7),
    )


def quick_plan() -> AnalysisPlan:
    """Every step that needs no other table, with as little work as it takes."""
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
        reading=ReadingSettings(missing_codes={"stress": (-9,)}),
        preparation=PreparationSettings(also_exclude=("Anna03",)),
        screening=ScreeningPlan(ScreeningSettings(permutations=299, force_in=("craving",)), 3),
        features=FeatureMapPlan(
            settings=FeatureMapSettings(
                dimensions=(1,),
                reason="to be quick",
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
        markov=MarkovPlan(MarkovSettings(most=1, draws=199), seed=5),
        policies=(
            PolicyPlan(PolicySettings(discount=0.5, bootstraps=3), 4),
            PolicyPlan(
                PolicySettings(model="neural", discount=0.5, width=4, steps=100, bootstraps=2), 1
            ),
        ),
        evaluation=EvaluationPlan(
            EvaluationSettings(folds=2, bootstraps=20, refit_map=False, segments=2), 6
        ),
        placebo=PlaceboPlan(2, 2, EvaluationSettings(folds=2, bootstraps=20, segments=2), 8),
        rule=RulePlan(
            2,
            RuleSettings(resamples=3, rounds=2),
            ("stress < 4 and smoker = 'yes' -> =a message; else nothing",),
            EvaluationSettings(folds=2, bootstraps=20, refit_map=False, segments=2),
            5,
        ),
        trial=TrialPlan(("stress",), ("stress",), 0.9),
        twin=TwinPlan(TwinSettings(2), 9),
        imputations=ImputationsPlan(ImputationDrawsSettings(2), 10),
        passport=PassportPlan(PassportSettings(studies=1, draws=99), 11),
        notes={"screening": "Stress was expected.\nSo was craving."},
    )
