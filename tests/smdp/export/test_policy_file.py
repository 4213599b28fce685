"""The exported file, read without this library, recommends what this library recommends."""

from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_policies import random_policy, trajectories_of

from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.local_polynomial import local_polynomial
from smdp.data.preparation_settings import (
    ImputationSettings,
    PreparationSettings,
    RescalingSettings,
)
from smdp.data.prepare import PreparedData, prepare
from smdp.errors import DataError, SettingError
from smdp.export import policy_reader
from smdp.export.onnx_file import export_onnx
from smdp.export.policy_file import export_policy, policy_text, reader_source, use_of
from smdp.policy.decision_rule import Reason
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.point_of_use import PointOfUse, point_of_use, state_now

BEFORE = Path(__file__).parents[2] / "reference" / "policy_file_version_1.json"
WHY = {
    Reason.RECOMMENDED: "",
    Reason.UNAVAILABLE: "unavailable",
    Reason.OUTSIDE: "outside the trial",
    Reason.HARDLY_TRIED: "hardly tried",
    Reason.UNCERTAIN: "uncertain",
}


def prepared(
    *,
    actions: int = 2,
    lags: int = 1,
    action_lags: int = 0,
    rescaled: bool = True,
    degree: Any = 1,
    span: float = 0.75,
) -> PreparedData:
    """A study with every kind of variable, look-back, time and, if asked for, rescaling."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(10), 12),
            "day": np.tile(np.arange(12), 10),
            "stress": random.integers(0, 11, 120).astype(float),
            "weight": random.normal(70, 9, 120).round(1),
            "weekend": random.integers(0, 2, 120).astype(float),
            "female": np.repeat(random.integers(0, 2, 10), 12).astype(float),
            "do": random.integers(0, actions, 120),
        }
    )
    frame.loc[random.random(120) < 0.2, "stress"] = np.nan
    frame.loc[random.random(120) < 0.2, "weight"] = np.nan
    states = [StateVariable("stress", low=0, high=10), "weight", "weekend", "female"]
    roles = ColumnRoles(
        "who",
        "day",
        "do",
        states,
        NextValue("stress", sign=-1),
        lags=lags,
        action_lags=action_lags,
        add_time=True,
    )
    settings = PreparationSettings(
        imputation=ImputationSettings(span=span, degree=degree),
        rescaling=RescalingSettings("stress") if rescaled else None,
    )
    return prepare(frame, roles, settings)


def policy_for(data: PreparedData, **options: Any) -> LearnedPolicy:
    trajectories = data.trajectories
    states = trajectories.states[:, :-1][trajectories.valid]
    return random_policy(
        trajectories.variables,
        actions=trajectories.action_labels,
        centre=states.mean(axis=0),
        scale=states.std(axis=0),
        **options,
    )


def random_reports(use: PointOfUse, random: np.random.Generator) -> list[dict[str, float | None]]:
    """One to twelve reports after those looked back on; some values missing, some out of range."""
    count = use.look_back + int(random.integers(1, 13))
    gaps = random.choice([0.0, 0.3, 0.9])
    reports: list[dict[str, float | None]] = []
    for _ in range(count):
        report: dict[str, float | None] = {}
        for each in use.measured:
            low, high = each.seen or (-2.0, 2.0)
            value = float(random.uniform(low - 0.02 * (high - low), high + 0.02 * (high - low)))
            if random.random() >= gaps:
                report[each.name] = round(value) if each.whole else value
            elif random.random() < 0.5:
                report[each.name] = None
        reports.append(report)
    return reports


def disagreements(policy: LearnedPolicy, data: Any, count: int, seed: int = 0) -> tuple[int, set]:
    """How often the reader and the library differ, and which answers there were."""
    read, use = policy_reader.Policy(policy_text(policy, data)), use_of(policy, data)
    random = np.random.default_rng(seed)
    labels = policy.action_labels
    cases = []
    for _ in range(count):
        reports = random_reports(use, random)
        done = [labels[k] for k in random.integers(0, len(labels), len(reports) - 1)]
        allowed = [label for label in labels if random.random() < 0.9]
        allowed = [] if random.random() < 0.05 else allowed
        cases.append((reports, done, allowed, state_now(use, reports, done)))
    table = pd.DataFrame([now.values for *_, now in cases])
    possible = np.array([np.isin(labels, allowed) for _, _, allowed, _ in cases])
    decided = policy.decide(table, possible)
    wrong, answers = 0, set()
    for k, (reports, done, allowed, now) in enumerate(cases):
        answer = read.recommend(reports, done, allowed)
        chosen, why = decided.recommended[k], WHY[Reason(int(decided.reason[k]))]
        asked = [each.name for each in use.measured if not each.counted]
        if why != "unavailable" and all(r.get(name) is None for r in reports for name in asked):
            chosen, why = -1, "nothing reported"
        same = (
            answer["recommendation"] == (labels[chosen] if chosen >= 0 else None)
            and answer["why"] == why
            and answer["state"] == now.values.tolist()
            and answer["outside_range"] == list(now.outside)
        )
        wrong += not same
        answers.add((answer["recommendation"], answer["why"]))
    return wrong, answers


@pytest.mark.parametrize(
    ("study", "options"),
    [
        ({}, {}),
        ({"actions": 3, "lags": 2, "degree": 2}, {"features": 3}),
        ({"rescaled": False, "degree": 2, "span": 0.4}, {"hidden": (12, 9)}),
        ({"rescaled": False, "lags": 0, "degree": 0, "span": 1.5}, {"map_hidden": (6,)}),
        ({"lags": 0, "action_lags": 2}, {}),
        ({"actions": 3}, {"pessimism": 0.7, "reference": "1"}),
        ({"rescaled": False}, {"pessimism": 2.0}),
        ({"lags": 0}, {"unused": [0, 3], "activation": "relu", "resamples": 0}),
    ],
)
def test_the_reader_recommends_what_the_library_recommends(study, options):
    data = prepared(**study)
    wrong, answers = disagreements(policy_for(data, **options), data, 400)
    assert wrong == 0
    assert {None, *data.trajectories.action_labels[:2]} <= {answer for answer, _ in answers}
    assert len(answers) >= 4


def test_it_does_so_for_trajectories_and_for_no_data_at_all():
    data = prepared(lags=0, rescaled=False)
    policy = policy_for(data)
    for source in (data.trajectories, None):
        wrong, _ = disagreements(policy, source, 200)
        assert wrong == 0


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("span", [0.2, 0.75, 1.0, 2.0])
def test_the_reader_fits_the_same_local_polynomial(degree, span):
    random = np.random.default_rng(1)
    for _ in range(60):
        times = np.sort(random.choice(30, int(random.integers(2, 15)), replace=False))
        values = random.normal(0, 3, len(times))
        at = int(random.integers(0, 32))
        expected = local_polynomial(times, values, [at], span=span, degree=degree)[0]
        points = list(zip(times.tolist(), values.tolist(), strict=True))
        found = policy_reader.local_polynomial(points, at, span, degree)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("rescaled", [False, True])
def test_a_state_that_was_reported_is_that_of_the_study(rescaled):
    data = prepared(actions=3, lags=2, rescaled=rescaled)
    study, trajectories = data.completed.arranged, data.trajectories
    use = point_of_use(trajectories.variables, data)
    seen = 0
    for i in range(len(trajectories.subjects)):
        for t in range(trajectories.states.shape[1]):
            if (data.imputed[i, t] != 0).any():
                continue
            reports = [
                dict(zip([v.name for v in study.variables], row, strict=True))
                for row in study.values[i, : t + 3].tolist()
            ]
            done = [study.action_labels[a] for a in study.actions[i, : t + 2]]
            now = state_now(use, reports, done)
            assert tuple(now.values.index) == trajectories.variables
            np.testing.assert_array_equal(now.values, trajectories.states[i, t])
            assert set(now.origins) == {"reported"}
            seen += 1
    assert seen > 5


def test_what_is_missing_is_fitted_carried_or_the_median():
    data = prepared(lags=0, rescaled=False)
    use = point_of_use(["stress", "weight", "female", "decision"], data)
    reports: list[dict[str, float | None]] = [
        {"stress": 3, "female": 1}, {"stress": 4}, {"stress": 5}, {"stress": 6}, {"stress": None}
    ]  # fmt: skip
    now = state_now(use, reports)
    assert now.values["stress"] == 7
    assert now.values["female"] == 1
    assert now.values["decision"] == 5
    observed = data.completed.arranged.values[:, :, 1]
    assert now.values["weight"] == np.nanmedian(observed)
    origin = dict(zip([m.name for m in use.measured], now.origins, strict=True))
    assert origin == {
        "stress": "fitted", "weight": "median", "female": "fitted", "decision": "reported"
    }  # fmt: skip
    assert state_now(use, [*reports[:4], {"stress": 11}]).outside == ("stress",)


def test_the_reader_is_short_and_needs_nothing_but_python():
    source = reader_source()
    assert len(source.splitlines()) <= 520
    imported = {
        alias.name.partition(".")[0] if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(ast.parse(source, feature_version=(3, 8)))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported <= set(sys.stdlib_module_names)
    assert "UTC" not in source, "Python 3.8 to 3.10 do not have it"


def test_file_and_reader_work_on_their_own(tmp_path: Path):
    data = prepared()
    policy = policy_for(data)
    fingerprint = export_policy(policy, data, tmp_path / "policy.json")
    assert json.loads((tmp_path / "policy.json").read_text())["fingerprint"] == fingerprint
    reports = [{"stress": 3, "weight": 71.5, "weekend": 1, "female": 0}] * 3
    (tmp_path / "reports.json").write_text(json.dumps(reports))
    run = subprocess.run(
        [sys.executable, "-I", "-S", "policy_reader.py", "policy.json", "reports.json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(run.stdout)
    now = state_now(use_of(policy, data), reports)
    expected = policy.q_values(now.values.to_frame().T)[0]
    np.testing.assert_allclose(list(answer["q_values"].values()), expected, rtol=1e-12)


def test_a_file_written_before_variables_were_objects_is_read_as_then():
    before = json.loads(BEFORE.read_text())
    found = policy_reader.Policy(before["file"]).recommend(before["reports"], before["done"])
    assert found["recommendation"] == before["answer"]["recommendation"]
    assert found["state"] == before["answer"]["state"]
    assert found["q_values"] == pytest.approx(before["answer"]["q_values"], rel=1e-12)


@pytest.mark.parametrize("rescaled", [False, True])
def test_the_file_says_what_has_to_be_asked(rescaled):
    data = prepared(rescaled=rescaled)
    stress, weekend = (data.trajectories.variable(name) for name in ("stress", "weekend"))
    named = {
        "stress": replace(stress, unit="points", label="How tense are you?"),
        "weekend": replace(weekend, levels=((0.0, "no"), (1.0, "yes"))),
    }
    about = tuple(named.get(v.name, v) for v in data.trajectories.about)
    data = replace(data, trajectories=replace(data.trajectories, about=about))
    content = json.loads(policy_text(policy_for(data), data))["content"]
    asked = {each["name"]: each for each in content["measured"]}
    assert list(asked) == ["stress", "weight", "weekend", "female", "decision"]
    assert asked["stress"]["label"] == "How tense are you?"
    assert asked["stress"]["kind"] == "ordinal"
    assert asked["stress"]["range"] == [0, 10]
    assert asked["stress"]["measured_in"] == "points"
    assert asked["stress"]["unit"] == ([0, 10] if rescaled else None)
    assert asked["weekend"]["names_of_values"] == [[0.0, "no"], [1.0, "yes"]]
    assert [name for name, each in asked.items() if each["counted"]] == ["decision"]
    alone = json.loads(policy_text(policy_for(data), data.trajectories))["content"]
    first = next(each for each in alone["measured"] if each["name"] == "stress")
    assert first["unit"] is None  # asked as the trajectories hold it
    assert first["measured_in"] == ("" if rescaled else "points")


def test_a_column_that_is_called_like_a_look_back_is_asked_for_now():
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(6), 6),
            "day": np.tile(np.arange(6), 6),
            "mood_lag1": np.arange(36) % 7.0,
            "do": np.arange(36) % 5 % 2,
            "gain": np.arange(36) % 4,
        }
    )
    data = prepare(frame, ColumnRoles("who", "day", "do", ["mood_lag1"], "gain", lags=1))
    use = point_of_use(data.trajectories.variables, data)
    assert [each.name for each in use.measured] == ["mood_lag1"]
    made = {column.variable: (column.kind, column.lag) for column in use.columns}
    assert made == {
        "mood_lag1": ("value", 0), "mood_lag1_lag1": ("value", 1), "do_lag1": ("action", 1)
    }  # fmt: skip


def test_numbers_come_back_exactly_and_changes_are_noticed():
    data = prepared()
    policy = policy_for(data, hidden=(5,))
    buffer = io.StringIO()
    export_policy(policy, data, buffer)
    content = json.loads(buffer.getvalue())["content"]
    for found, layer in zip(content["q"]["layers"], policy.q.layers, strict=True):
        assert (np.array(found["weights"]) == layer.weights).all()
    assert content["about"]["not_for"].startswith("Not a medical device")
    assert policy_text(policy, data) == policy_text(policy, data)
    weight = repr(content["q"]["layers"][0]["weights"][0][0])
    with pytest.raises(ValueError, match="changed after it was written"):
        policy_reader.Policy(buffer.getvalue().replace(weight, "0.5"))
    with pytest.raises(ValueError, match="no policy file of version 1"):
        policy_reader.Policy('{"format": "smdp policy", "version": 4}')


def test_nobodys_course_can_be_read_from_the_file():
    data = prepared()
    policy = policy_for(data)
    support = json.loads(policy_text(policy, data))["content"]["support"]
    rows = [[a, *p] for a, p in zip(support["taken"], support["points"], strict=True)]
    assert rows == sorted(rows)
    without = json.loads(policy_text(policy, data, support=False))["content"]
    assert without["support"] is None


def test_another_study_is_refused():
    data = prepared(lags=0)
    policy = random_policy(("stress", "sleep"))
    with pytest.raises(DataError, match="learned with the variable sleep"):
        policy_text(policy, data)
    with pytest.raises(DataError, match="chooses among nothing, treatment"):
        policy_text(random_policy(("stress",)), data)
    lagged = prepared(lags=2)
    with pytest.raises(DataError, match="looks back 2 decisions, but there are only 1 reports"):
        state_now(point_of_use(lagged.trajectories.variables, lagged), [{}])


def test_numbers_that_are_not_finite_are_refused():
    policy = random_policy(("stress",))
    broken = replace(policy, q=replace(policy.q, centre=np.array([np.nan, 0.0])))
    with pytest.raises(DataError, match="not finite"):
        policy_text(broken, None)


@pytest.mark.parametrize("options", [{}, {"hidden": (16, 8), "map_hidden": (5,)}, {"unused": [1]}])
@pytest.mark.parametrize("activation", ["arctan", "tanh", "relu", "identity"])
def test_the_onnx_file_has_the_same_q_values(tmp_path: Path, options, activation):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    policy = random_policy(
        ("a", "b", "c"), activation=activation, centre=[1, 2, 3], scale=[2, 3, 0.5], **options
    )
    export_onnx(policy, tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "policy.onnx"))
    about = session.get_modelmeta().custom_metadata_map
    used = json.loads(about["variables"])
    assert used == list(policy.feature_map.variables_used)
    states = pd.DataFrame(np.random.default_rng(0).normal(2, 2, (200, 3)), columns=list("abc"))
    (found,) = session.run(None, {"states": states[used].to_numpy(dtype=np.float32)})
    np.testing.assert_allclose(found, policy.q_values(states), atol=1e-5)


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(SettingError, match="pip install onnx"):
        export_onnx(random_policy(("a",)), io.BytesIO())


def test_trajectories_give_ranges_and_medians():
    states = np.random.default_rng(0).uniform(0, 1, (4, 6, 2))
    use = point_of_use(["b"], trajectories_of(states, ("a", "b")))
    assert use.measured[0].seen == (states[:, :, 1].min(), states[:, :, 1].max())
    assert use.measured[0].median == np.median(states[:, :, 1])
