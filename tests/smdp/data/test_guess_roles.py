"""Roles are guessed right for tables as they come."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import NextValue
from smdp.data.guess_roles import guess_columns, guess_roles
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.errors import DataError
from smdp.simulation.samples import sample_file

HEARTSTEPS = Path(__file__).parents[4] / "shared" / "data" / "heartsteps" / "heartsteps_v1.csv"
needs_heartsteps = pytest.mark.skipif(not HEARTSTEPS.exists(), reason="HeartSteps is not here")


def test_basics_like_sample():
    roles = guess_roles(read_table(sample_file("basics_mobile_synthetic.csv")))
    assert (roles.subject, roles.time, roles.action) == ("student", "report", "module")
    assert roles.utility == NextValue("cigs", -1)
    assert len(roles.states) == 15


def test_three_action_sample():
    frame = read_table(sample_file("three_action_synthetic.csv"))
    roles = guess_roles(frame)
    assert (roles.subject, roles.time, roles.action) == ("person", "time", "action")
    assert (roles.available, roles.utility) == ("available", "outcome_walked")
    assert roles.probability == {
        "none": "prob_none",
        "call": "prob_call",
        "message": "prob_message",
    }


@needs_heartsteps
def test_heartsteps():
    frame = read_table(HEARTSTEPS)
    roles = guess_roles(frame)
    assert (roles.subject, roles.time, roles.action) == ("subject", "time", "action")
    assert (roles.available, roles.probability, roles.utility) == ("available", "prob", "utility")
    assert "utility_zero_filled" not in roles.state_names
    assert "in_primary_analysis" not in roles.state_names
    found = {p.about for p in find_problems(frame, roles) if "missing code" in p.remedy}
    assert {"temperature", "windspeed"} <= found


@needs_heartsteps
def test_heartsteps_trajectories_keep_lengths_and_availability():
    frame = read_table(HEARTSTEPS)
    study = arrange(frame, guess_roles(frame))
    assert len(study.subjects) == 37
    assert (study.lengths.min(), study.lengths.max()) == (175, 256)
    assert (study.present & ~study.available).sum() == (frame["available"] == 0).sum()
    roles = guess_roles(frame)
    with pytest.raises(DataError, match="no observed value at all of 'log_gf_pre30' of subject"):
        prepare(frame, roles)
    states = [v for v in roles.variables if v.name != "log_gf_pre30"]
    trajectories = prepare(frame, replace(roles, states=states)).trajectories
    assert len(trajectories.subjects) == 37
    unavailable = trajectories.strata == 2
    assert unavailable.sum() > 1000
    assert np.isfinite(trajectories.states[:, :-1][trajectories.valid]).all()


def test_a_column_that_repeats_the_utility_is_not_a_state():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.repeat(range(6), 10),
            "t": np.tile(range(10), 6),
            "a": random.integers(0, 2, 60),
            "x": random.normal(size=60),
            "y": random.normal(size=60),
        }
    )
    frame["y_filled"] = frame["y"]
    guess = {c.column: c for c in guess_columns(frame).columns}
    assert guess["y_filled"].role == "ignore"
    assert "repeats the utility" in guess["y_filled"].why


def test_names_in_other_words():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "Participant ID": np.repeat([f"x{i}" for i in range(6)], 10),
            "Timestamp": np.tile(pd.date_range("2024-01-01", periods=10), 6),
            "Treatment": np.resize(["A", "B"], 60),
            "Pain": random.integers(0, 11, 60),
            "Comment": "text",
        }
    )
    roles = guess_roles(frame)
    assert (roles.subject, roles.time, roles.action) == ("Participant ID", "Timestamp", "Treatment")
    assert roles.utility == NextValue("Pain", -1)
    assert roles.state_names == ("Pain",)


def test_what_cannot_be_guessed_is_said():
    frame = pd.DataFrame({"x": np.arange(10.0), "z": np.arange(10.0)})
    with pytest.raises(DataError, match="No column looks like the subject"):
        guess_roles(frame)


def test_a_word_among_the_times_does_not_make_another_column_the_time():
    frame = pd.DataFrame(
        {
            "id": np.repeat(range(6), 8),
            "time": np.tile([str(t) for t in range(8)], 6),
            "action": np.resize([0, 1, 1], 48),
            "stress": np.resize(range(5), 48),
            "reward": np.repeat(range(6), 8) + np.tile(range(8), 6),
        }
    )
    frame.loc[19, "time"] = "soon"
    guess = guess_columns(frame)
    assert (guess.first("time"), guess.first("utility")) == ("time", "reward")
    with pytest.raises(DataError, match="'soon'"):
        arrange(frame, guess_roles(frame))
