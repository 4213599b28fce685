"""The average effect of treatment agrees with R and with what was published."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smdp.data.guess_roles import guess_roles
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.evaluation.trial_effects import INTERCEPT, trial_summary
from smdp.plain_data import read_plain, write_plain
from smdp.simulation.generative_model import simulate

TESTS = Path(__file__).parents[2]
HEARTSTEPS = TESTS.parents[1] / "shared" / "data" / "heartsteps" / "heartsteps_v1.csv"
needs_heartsteps = pytest.mark.skipif(not HEARTSTEPS.exists(), reason="HeartSteps is not here")
REFERENCE = json.loads((TESTS / "reference" / "wcls.json").read_text())


def trajectories_of(case: dict) -> Trajectories:
    n, times, actions = case["subjects"], case["times"], case["actions"]
    states = np.full((n, times + 1, 2), np.nan)
    states[:, :-1] = np.stack([case["x"], case["z"]], axis=-1).reshape(n, times, 2)
    return Trajectories(
        states=states,
        actions=np.array(case["action"], dtype=np.int64).reshape(n, times),
        utilities=np.array(case["utility"], dtype=float).reshape(n, times),
        valid=np.ones((n, times), dtype=bool),
        available=np.ones((n, times), dtype=bool),
        probabilities=np.array(case["probability"]).reshape(n, times, actions),
        variables=("x", "z"),
        subjects=tuple(f"{i:02d}" for i in range(n)),
        action_labels=tuple(str(a) for a in range(actions)),
    )


@pytest.mark.parametrize("case", REFERENCE, ids=[case["name"] for case in REFERENCE])
def test_agrees_with_r(case):
    """tests/reference/wcls.R: lm with weights, and the corrected sandwich by hand."""
    found = trial_summary(
        trajectories_of(case), controls=case["controls"], moderators=case["moderators"]
    )
    effects = found.effects[found.effects["term"] != INTERCEPT]
    np.testing.assert_allclose(effects["estimate"], case["estimate"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(effects["standard_error"], case["error"], rtol=1e-8)
    np.testing.assert_allclose(effects["p_value"], case["p_value"], rtol=1e-6)


def heartsteps_in_primary_rows(frame: pd.DataFrame, utility: str) -> pd.DataFrame:
    """Only decisions of the published analysis keep a utility, so only they are used."""
    primary = frame["in_primary_analysis"] == 1
    return frame.assign(utility=frame[utility].where(primary))


def heartsteps_roles(frame: pd.DataFrame):
    roles = guess_roles(frame)
    # Google Fit's count is missing altogether for some, who would have to be left out.
    return replace(roles, states=[v for v in roles.variables if v.name != "log_gf_pre30"])


def test_the_effect_over_time_is_told_as_far_as_people_go():
    """Of ten people one goes on three times as long: that is nobody's course but hers."""
    random = np.random.default_rng(3)
    data = trajectories_of(
        {
            "subjects": 10, "times": 60, "actions": 2,
            "x": random.normal(size=600), "z": random.normal(size=600),
            "action": random.integers(0, 2, 600), "utility": random.normal(size=600),
            "probability": np.full((600, 2), 0.5),
        }
    )  # fmt: skip
    assert trial_summary(data).over_time["at"].max() == 60
    valid = data.valid.copy()
    valid[1:, 20:] = False
    assert trial_summary(replace(data, valid=valid)).over_time["at"].max() == 20


@needs_heartsteps
def test_heartsteps_as_published():
    """Klasnja et al. (2019): 0.131 on the log scale, +14 %, p = .06, in the primary rows.

    Their conventions: missing step counts are zero, after and before the decision; the steps in the
    30 minutes before are the only control. A closing row lets each last decision count, which
    as a transition would have no next state.
    """
    frame = read_table(HEARTSTEPS)
    roles = heartsteps_roles(frame)
    frame = heartsteps_in_primary_rows(frame, "utility_zero_filled")
    frame["log_steps_pre30"] = frame["log_steps_pre30"].fillna(np.log(0.5))
    closing = (
        frame.groupby("subject")
        .tail(1)
        .assign(time=lambda rows: rows["time"] + 1, available=0, utility=np.nan)
    )
    frame = pd.concat([frame, closing]).sort_values(["subject", "time"], ignore_index=True)
    found = trial_summary(prepare(frame, roles).trajectories, controls=["log_steps_pre30"])
    effect = found.effects.iloc[0]
    assert (found.subjects, found.decisions) == (37, 6061)
    assert effect["estimate"] == pytest.approx(0.131, abs=5e-4)
    assert np.exp(effect["estimate"]) - 1 == pytest.approx(0.14, abs=5e-3)
    assert effect["standard_error"] == pytest.approx(0.0674, abs=5e-5)
    assert effect["p_value"] == pytest.approx(0.06, abs=5e-3)


@needs_heartsteps
def test_heartsteps_as_the_pages_prepare_it():
    """Missing steps stay missing, and there is no control: the same effect in the primary rows."""
    frame = read_table(HEARTSTEPS)
    roles = heartsteps_roles(frame)
    frame = heartsteps_in_primary_rows(frame, "utility")
    found = trial_summary(prepare(frame, roles).trajectories)
    assert found.decisions == 5507
    assert found.effects["estimate"].iloc[0] == pytest.approx(0.131, abs=5e-4)
    assert found.estimated == 0


def test_intervals_cover_a_known_effect():
    """In the linear model, treatment changes the mean utility by 3 (S3 + S4 - S1 - S2)."""
    slopes = np.array([-3.0, -3.0, 3.0, 3.0])
    inside = []
    for seed in range(40):
        study = simulate("linear", subjects=20, times=6, seed=seed).select(["S1", "S2", "S3", "S4"])
        effects = trial_summary(study, moderators=study.variables).effects
        effects = effects[effects["term"] != INTERCEPT]
        average = study.states[:, :-1].reshape(-1, 4).mean(axis=0) @ slopes
        truth = np.array([average, *slopes])
        inside.append((effects["lower"] <= truth) & (truth <= effects["upper"]))
    # 200 intervals that are not independent: far below 0.95 would be an error.
    assert 0.9 < np.mean(inside) <= 1


def test_unknown_probabilities_are_estimated_and_said():
    study = simulate("linear", subjects=20, times=10, seed=3).select(["S1"])
    known = trial_summary(study, controls=["S1"])
    unknown = replace(study, probabilities=np.full_like(study.probabilities, np.nan))
    found = trial_summary(unknown, controls=["S1"])
    assert found.estimated == 1.0
    assert any("estimated by a logit on S1" in note for note in found.notes)
    assert found.effects["estimate"].iloc[0] == pytest.approx(
        known.effects["estimate"].iloc[0], abs=0.2
    )


def test_unavailable_decisions_are_left_out():
    study = simulate("linear", subjects=20, times=10, seed=3).select(["S1"])
    available = np.random.default_rng(0).random(study.valid.shape) < 0.7
    found = trial_summary(replace(study, available=available))
    assert found.decisions == available.sum()


def test_bad_input_is_refused():
    study = simulate("linear", subjects=6, times=10, seed=3).select(["S1", "S2", "S3", "S4"])
    with pytest.raises(DataError, match="6 subjects are too few for the 6 coefficients"):
        trial_summary(study, controls=study.variables)
    constant = replace(study, states=np.where(np.arange(4) == 1, 2.0, study.states))
    with pytest.raises(DataError, match="S2 never changes"):
        trial_summary(constant, controls=["S2"])
    twice = replace(study, states=study.states[:, :, [0, 0, 2, 3]])
    with pytest.raises(DataError, match="cannot be told apart"):
        trial_summary(twice, controls=["S1", "S2"])
    with pytest.raises(SettingError, match="'controls' must be a list"):
        trial_summary(study, controls="S1")
    with pytest.raises(DataError, match="no state variable mood"):
        trial_summary(study, moderators=["mood"])


def test_survives_a_file(tmp_path):
    study = simulate("linear", subjects=8, times=10, seed=3).select(["S1"])
    found = trial_summary(study)
    write_plain(found, tmp_path)
    pd.testing.assert_frame_equal(read_plain(tmp_path).effects, found.effects)
