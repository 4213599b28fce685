"""The whole way from a table to trajectories."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.data.study import Cell
from smdp.errors import DataError


def test_trajectories_hold_what_the_table_says(frame, roles):
    prepared = prepare(frame, roles)
    t = prepared.trajectories
    assert t.states.shape == (6, 10, 3)
    assert t.actions.shape == (6, 9)
    assert t.valid.sum(axis=1).tolist() == [4, 5, 6, 5, 8, 9]  # P4's gap costs two
    row = frame[(frame["id"] == "P2") & (frame["time"] == 3)].iloc[0]
    assert t.actions[1, 2] == row["treat"]
    assert t.utilities[1, 2] == row["reward"]
    assert t.states[1, 2, 1] == row["steps"]
    inside = np.arange(10)[None, :] < np.array([5, 6, 7, 8, 9, 10])[:, None]
    assert np.isfinite(t.states[inside]).all()
    assert np.isnan(t.states[~inside]).all()
    assert (prepared.imputed == Cell.ABSENT).all(axis=2).tolist() == (~inside).tolist()


def test_next_value_utility_is_in_own_units(frame):
    roles = ColumnRoles("id", "time", "treat", ["stress", "age"], NextValue("stress", -1))
    for rescaling in (None, RescalingSettings()):
        t = prepare(frame, roles, PreparationSettings(rescaling=rescaling)).trajectories
        own = prepare(frame, roles).trajectories.states[:, :, 0]
        np.testing.assert_array_equal(t.utilities[t.valid], -own[:, 1:][t.valid])


def test_missing_utility_or_action_is_not_used(frame, roles):
    frame.loc[0, "reward"] = np.nan
    frame["treat"] = frame["treat"].astype(float)
    frame.loc[1, "treat"] = np.nan
    t = prepare(frame, roles).trajectories
    assert t.valid[0].tolist()[:4] == [False, False, True, True]


def test_earlier_actions_alone_widen_the_state(frame):
    roles = ColumnRoles("id", "time", "treat", ["stress", "age"], "reward", action_lags=2)
    t = prepare(frame, roles).trajectories
    assert t.variables == ("stress", "age", "treat_lag1", "treat_lag2")
    both = prepare(frame, replace(roles, lags=1)).trajectories
    assert both.variables == ("stress", "age", "stress_lag1", "treat_lag1", "treat_lag2")
    assert roles.look_back == 2
    np.testing.assert_array_equal(t.states[:, :, -2:], both.states[:, :, -2:])


def test_lags_widen_the_state(frame, roles):
    roles = ColumnRoles("id", "time", "treat", ["stress", "age"], "reward", lags=2)
    prepared = prepare(frame, roles)
    t = prepared.trajectories
    assert t.variables == (
        "stress",
        "age",
        "stress_lag1",
        "treat_lag1",
        "stress_lag2",
        "treat_lag2",
    )
    plain = prepare(frame, ColumnRoles("id", "time", "treat", ["stress", "age"], "reward"))
    first = plain.trajectories
    np.testing.assert_array_equal(t.states[5, :, 2], first.states[5, 1:9, 0])
    np.testing.assert_array_equal(t.states[5, :, 5], first.actions[5, 0:8])
    assert np.isfinite(t.states[:, :-1][t.valid]).all()
    assert np.isfinite(t.states[:, 1:][t.valid]).all()
    assert prepared.imputed.shape == t.states.shape
    # P4 has no row at decision 3: its action is unknown wherever it would be remembered.
    assert not t.valid[3, :3].any()


def test_lag_of_three_actions_is_one_column_for_each_but_the_first(frame):
    frame["treat"] = np.resize(["none", "call", "message"], len(frame))
    t = prepare(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", lags=1)).trajectories
    assert t.variables == ("age", "treat=call_lag1", "treat=message_lag1")


def test_lag_longer_than_the_study(frame):
    with pytest.raises(DataError, match="look-back of 20"):
        prepare(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", lags=20))


def test_log_says_who_and_what(frame, roles):
    frame.loc[frame["id"] == "P1", ["stress", "steps"]] = np.nan
    frame.loc[frame.index[0], ["stress", "steps"]] = 1.0
    log = prepare(frame, roles).log
    out = log[log["step"] == "exclude"]
    assert out["subject"].tolist() == ["P1"]
    assert "of the values that change over time are missing" in out["what"].iloc[0]
    assert log["step"].iloc[-1] == "assemble"


def test_select(frame, roles):
    t = prepare(frame, roles).trajectories
    one = t.select(["age", "stress"])
    assert one.variables == ("age", "stress")
    np.testing.assert_array_equal(one.states[:, :, 1], t.states[:, :, 0])
    with pytest.raises(DataError, match="no state variable nothing"):
        t.select(["nothing"])


def test_strata_tell_unavailable_from_invalid(frame):
    frame["avail"] = (frame["time"] != 2).astype(int)
    t = prepare(frame, ColumnRoles("id", "time", "treat", ["age"], "reward", "avail")).trajectories
    assert (t.strata[t.valid[:, 1], 1] == 2).all()
    assert (t.strata[~t.valid] == -1).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(6)))
def test_row_order_and_subject_names_change_nothing(seed, names):
    random = np.random.default_rng(seed)
    n, length = 6, 8
    table = pd.DataFrame(
        {
            "id": np.repeat([f"P{i}" for i in range(n)], length),
            "time": np.tile(np.arange(length), n),
            "x": random.normal(size=n * length).round(2),
            "k": random.integers(0, 5, n * length).astype(float),
            "a": random.integers(0, 2, n * length),
            "u": random.normal(size=n * length),
        }
    )
    holes = random.random(len(table)) < 0.2
    table.loc[holes & (table["time"] % 3 > 0), ["x", "k"]] = np.nan
    roles = ColumnRoles("id", "time", "a", ["x", "k"], "u")
    chosen = PreparationSettings(rescaling=RescalingSettings())
    shuffled = table.sample(frac=1, random_state=seed % 1000)
    renamed = shuffled.assign(id=shuffled["id"].map({f"P{i}": f"Q{names[i]}" for i in range(n)}))
    one, two = (prepare(f, roles, chosen).trajectories for f in (table, renamed))
    order = [two.subjects.index(f"Q{names[i]}") for i in range(n)]
    np.testing.assert_array_equal(one.states, two.states[order])
    np.testing.assert_array_equal(one.utilities, two.utilities[order])
    np.testing.assert_array_equal(one.valid, two.valid[order])
