"""The device file takes names of levels and texts, and recommends what the library does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import PreparedData, prepare
from smdp.explanation.person import explain_person, person_now, person_over_time
from smdp.export.policy_file import policy_text, use_of
from smdp.export.policy_reader import Policy
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.point_of_use import state_now
from smdp.policy.policy_settings import PolicySettings
from smdp.words.explanation import describe_patient
from smdp.words.patient import value_table

COLUMNS = ("weather", "home", "move_x", "move_y", "move_z", "diary", "stress")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table_of_every_kind()


def learned(frame: pd.DataFrame, rescaled: bool, lags: int) -> tuple[PreparedData, LearnedPolicy]:
    settings = PreparationSettings(rescaling=RescalingSettings() if rescaled else None)
    data = prepare(frame, roles_of_every_kind(lags=lags), settings)
    fitted = identity_feature_map(data.trajectories)
    return data, learn_policy(data.trajectories, fitted, PolicySettings(bootstraps=8), seed=2)


def reports_of(frame: pd.DataFrame, who: str) -> list[dict[str, Any]]:
    rows = frame[frame["id"] == who].set_index("day")
    days = range(1, int(rows.index.max()) + 1)
    found = []
    for day in days:
        row = rows.loc[day] if day in rows.index else {}
        found.append({c: None if pd.isna(row.get(c)) else row.get(c) for c in COLUMNS if c in row})
    return found


@pytest.mark.parametrize(("rescaled", "lags"), [(False, 0), (True, 0), (True, 1), (False, 2)])
def test_the_reader_recommends_what_the_library_recommends(
    frame: pd.DataFrame, rescaled: bool, lags: int
) -> None:
    data, policy = learned(frame, rescaled, lags)
    use, reader = use_of(policy, data), Policy(policy_text(policy, data))
    random = np.random.default_rng(7)
    compared, said = 0, set()
    for who in data.trajectories.subjects[:12]:
        reports = reports_of(frame, who)
        done = [str(a) for a in random.choice(policy.action_labels, len(reports))]
        for end in range(lags + 1, len(reports) + 1, 3):
            own = [*reports[: end - 1], dict(reports[end - 1])]
            if random.random() < 0.3:
                own[-1]["weather"] = random.choice(["hail", "a shower of frogs", "rain"])
            if random.random() < 0.3:
                own[-1]["diary"] = random.choice(["", "Zebra tired TIRED", "été good friends"])
            now = state_now(use, own, done[: end - 1])
            state = now.values.reindex(list(policy.variables)).to_numpy()
            decided = policy.decide(state[None], np.ones((1, 3), bool))
            answer = reader.recommend(own, done[: end - 1])
            np.testing.assert_allclose(answer["state"], now.values, atol=1e-12, rtol=0)
            q = policy.q_values(state[None])[0]
            np.testing.assert_allclose(list(answer["q_values"].values()), q, atol=1e-12, rtol=1e-12)
            chosen = int(decided.recommended[0])
            expected = policy.action_labels[chosen] if chosen >= 0 else None
            assert answer["recommendation"] == expected
            said.add(answer["best"])
            compared += 1
    assert compared > 60
    assert len(said) > 1


def test_a_state_that_was_reported_is_that_of_the_study(frame: pd.DataFrame) -> None:
    data, policy = learned(frame, True, 0)
    use, study = use_of(policy, data), data.completed.study
    for i, who in enumerate(data.trajectories.subjects[:8]):
        reports = reports_of(frame, who)
        for t, report in enumerate(reports[:-1]):
            if len(report) == len(COLUMNS) and all(
                report[c] is not None for c in ("weather", "move_y", "stress")
            ):
                now = state_now(use, reports[: t + 1])
                names = list(now.values.index)
                at = [data.trajectories.variables.index(name) for name in names]
                expected = data.trajectories.states[i, t, at]
                np.testing.assert_allclose(now.values, expected, atol=1e-12)
    assert study.embeddings


def test_levels_that_the_trial_did_not_have(frame: pd.DataFrame) -> None:
    data, policy = learned(frame, False, 0)
    reader = Policy(policy_text(policy, data))
    report = reports_of(frame, "p01")[0]
    _, notes = reader.state([{**report, "home": "castle"}])
    assert notes["outside_range"] == ["home"]
    assert "home" in notes["filled_in"]
    assert state_now(use_of(policy, data), [{**report, "home": "castle"}]).outside == ("home",)
    columns = [each["variable"] for each in reader.content["columns"]]
    rare = reader.state([{**report, "weather": "frogs"}])[0]
    assert rare[columns.index("weather: other")] == 1.0
    assert '"version": 2' in policy_text(policy, data)[:60]
    assert '"word' in policy_text(policy, data)


def test_a_person_is_told_in_words(frame: pd.DataFrame) -> None:
    data, policy = learned(frame, True, 1)
    who = data.trajectories.subjects[3]
    now = person_now(policy, data, who, 4)
    assert {"weather", "weather_lag1", "move_x", "stress"} <= set(now.values["variable"])
    own = dict(zip(now.values["variable"], now.values["value"], strict=True))
    patient = explain_person(policy, data, own)
    rows = patient.variables.set_index("variable")
    assert {"weather", "movement", "diary", "stress", "diary_lag1"} <= set(rows.index)
    assert rows["contribution"].sum() == pytest.approx(patient.margin - patient.average_margin)
    level = dict(patient.variable("weather").levels)[own["weather"]]
    table = value_table(patient, now).set_index("variable")
    assert table.loc["weather", "value"] == level
    assert table.loc["movement", "value"].startswith("move_x ")
    assert describe_patient(patient)
    other = explain_person(policy, data, {**own, "weather": "snow", "diary": "tired work boss"})
    values = other.variables.set_index("variable")["value"]
    assert other.variable("weather").text(values["weather"]) == "snow"
    assert {"tired", "work"} & set(other.variable("diary").text(0.0).replace(",", "").split())
    over = person_over_time(policy, data, who)
    assert set(over.values["weather"]) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert over.filled.shape == over.values.shape
