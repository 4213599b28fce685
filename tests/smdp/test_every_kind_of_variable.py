"""Nominal variables, a vector and a text through every step, report and device file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from quick_steps import TINY
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

from smdp.analysis.analysis import Analysis, load_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.data.preparation_settings import RescalingSettings
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.explanation.person import explain_person, people, person_now, person_over_time
from smdp.export.policy_file import policy_text, use_of
from smdp.export.policy_reader import Policy
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.figures.patient import contributions_figure, over_time_figure
from smdp.markov.markov_settings import MarkovSettings
from smdp.policy.point_of_use import state_now
from smdp.policy.policy_settings import PolicySettings
from smdp.screening_settings import ScreeningSettings
from smdp.steps import steps
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    MarkovPlan,
    PolicyPlan,
    ScreeningPlan,
    StabilityPlan,
    TrialPlan,
)

WORDS = ("weather", "home", "diary", "move_x", "move_y", "move_z", "stress")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table_of_every_kind()


@pytest.fixture(scope="module")
def analysis(frame: pd.DataFrame) -> Analysis:
    plan = AnalysisPlan(
        roles=roles_of_every_kind(action_lags=1),
        rescaling=RescalingSettings(),
        screening=ScreeningPlan(ScreeningSettings(force_in=("weather",), permutations=199)),
        features=FeatureMapPlan(settings=FeatureMapSettings(**TINY[FeatureMapSettings])),
        stability=StabilityPlan(bootstraps=2),
        markov=MarkovPlan(MarkovSettings()),
        policies=(PolicyPlan(PolicySettings(bootstraps=6)),),
        evaluation=EvaluationPlan(EvaluationSettings(segments=2)),
        trial=TrialPlan(),
    )
    return Analysis.begin(plan, frame).run_all()


def test_every_step_is_done_and_speaks(analysis: Analysis) -> None:
    assert analysis.screening is not None
    assert "weather" in analysis.screening.selected
    kept = analysis.feature_map.wholes_used
    assert set(kept) <= set(analysis.screening.selected)
    for step in steps():
        if step.asked_by(analysis.plan) is None:
            continue
        assert step.says(analysis) is not None
        for _, table in step.tables(analysis):
            assert table is not None


def test_columns_of_a_variable_are_used_together_or_not(analysis: Analysis) -> None:
    fitted = analysis.feature_map
    used = set(fitted.variables_used)
    for name in fitted.wholes_used:
        columns = {v.name for v in fitted.about if v.belongs_to == name}
        assert columns <= used


def test_report_file_and_plan(analysis: Analysis, frame: pd.DataFrame, tmp_path: Path) -> None:
    report = analysis.report(tmp_path / "report.html").read_text(encoding="utf-8")
    for word in ("weather", "diary", "rare level", "nothing written"):
        assert word in report
    saved = load_analysis(analysis.save(tmp_path / "study.smdp"))
    assert saved.prepared == analysis.prepared
    assert saved.policies == analysis.policies
    plan = AnalysisPlan.from_toml(analysis.plan.to_toml())
    assert plan.roles == analysis.plan.roles


def test_a_person_on_the_page(analysis: Analysis) -> None:
    policy, data = analysis.policies[0], analysis.prepared
    who = people(data)[2]
    now = person_now(policy, data, who, 3)
    own = dict(zip(now.values["variable"], now.values["value"], strict=True))
    patient = explain_person(policy, data, own)
    assert contributions_figure(patient).data
    over = person_over_time(policy, data, who)
    assert over_time_figure(over, policy.action_labels, list(over.values), 3).data


def test_the_device_file_recommends_what_the_library_does(
    analysis: Analysis, frame: pd.DataFrame
) -> None:
    policy, data = analysis.policies[0], analysis.prepared
    reader, use = Policy(policy_text(policy, data)), use_of(policy, data)
    content = reader.content
    asked = {each.get("part_of_text", each["name"]) for each in content["measured"]}
    compared = 0
    for who in data.trajectories.subjects[:10]:
        rows = frame[frame["id"] == who].set_index("day")
        days = range(1, int(rows.index.max()) + 1)
        given = {
            d: rows.loc[d, [w for w in WORDS if w in asked]].dropna().to_dict() for d in rows.index
        }
        reports = [given.get(d, {}) for d in days]
        done = [rows.loc[d, "treatment"] if d in rows.index else None for d in days]
        for end in range(2, len(reports) + 1, 2):
            now = state_now(use, reports[:end], done[: end - 1])
            state = now.values.reindex(list(policy.variables)).to_numpy()
            decided = policy.decide(state[None], np.ones((1, 3), bool))
            chosen = int(decided.recommended[0])
            answer = reader.recommend(reports[:end], done[: end - 1])
            best = policy.action_labels[chosen] if chosen >= 0 else None
            assert answer["recommendation"] == best
            expected = policy.q_values(state[None])[0]
            found = list(answer["q_values"].values())
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            compared += 1
    assert compared > 50
