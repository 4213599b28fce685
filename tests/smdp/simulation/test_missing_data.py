"""Simulated tables with lost values, gaps and dropout, as preparation meets them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from smdp.data.preparation_settings import PreparationSettings
from smdp.data.prepare import prepare
from smdp.errors import SettingError
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate
from smdp.simulation.missing_data import MissingData, study_roles, study_table


def test_a_complete_table_gives_the_trajectories_back():
    made = simulate("quad", noise=3, subjects=6, times=8, actions=3)
    table = study_table(made)
    assert len(table) == 6 * 9
    back = prepare(table, study_roles(made)).trajectories
    np.testing.assert_array_equal(back.states, made.states)
    np.testing.assert_array_equal(back.actions, made.actions)
    np.testing.assert_array_equal(back.utilities, made.utilities)
    np.testing.assert_allclose(back.probabilities, 1 / 3)
    assert back.valid.all()


@pytest.mark.parametrize("mechanism", ["at random", "after a bad outcome", "when high"])
def test_the_share_lost_is_the_share_asked_for(mechanism):
    made = simulate("linear", subjects=60, times=40, seed=2)
    table = study_table(made, MissingData(values=0.2, mechanism=mechanism), seed=1)
    lost = table[list(made.variables)].isna().to_numpy().mean()
    assert lost == pytest.approx(0.2, abs=0.01)
    again = study_table(made, MissingData(values=0.2, mechanism=mechanism), seed=1)
    pd.testing.assert_frame_equal(table, again)


def test_the_mechanisms_lose_what_they_say():
    made = simulate("linear", subjects=60, times=40, seed=2)
    names = list(made.variables)
    everything = study_table(made)[names]

    def lost(mechanism):
        return study_table(made, MissingData(values=0.2, mechanism=mechanism))[names].isna()

    high = everything > 0
    shares = {m: lost(m)[high].sum().sum() / high.sum().sum() for m in ("at random", "when high")}
    assert shares["at random"] == pytest.approx(0.2, abs=0.01)
    assert shares["when high"] == pytest.approx(0.3, abs=0.02)  # ranks above one half
    before = study_table(made).groupby("subject", sort=False)["utility"].shift()
    bad = (before < before.median()).to_numpy()
    assert lost("after a bad outcome")[bad].to_numpy().mean() == pytest.approx(0.3, abs=0.02)


def test_gaps_and_dropout_leave_rows_out():
    made = simulate("linear", subjects=200, times=30, seed=3)
    gaps = study_table(made, MissingData(occasions=0.1))
    assert len(gaps) == pytest.approx(200 * (1 + 0.9 * 30), rel=0.02)
    assert (gaps.groupby("subject")["time"].min() == 1).all()
    left = study_table(made, MissingData(dropout=0.5))
    last = left.groupby("subject")["time"].max()
    assert (last < 31).mean() == pytest.approx(0.5, abs=0.1)
    assert last.min() >= 11
    assert left.groupby("subject")["action"].apply(lambda a: a.iloc[-1]).isna().all()


def test_three_actions_with_lost_values_still_screen_true_variables():
    """From a raw table with 10 % lost values, gaps and dropout: what is kept is mostly true."""
    made = simulate("linear", noise=6, subjects=60, times=25, actions=3, seed=5)
    names = [*(f"S{j}" for j in range(1, 7)), "W1", "W2", "C1", "C2"]
    few = made.select(names)
    table = study_table(few, MissingData(values=0.1, occasions=0.05, dropout=0.2), seed=1)
    prepared = prepare(table, study_roles(few), PreparationSettings(exclude_above=0.9))
    found = screen(prepared.trajectories, ScreeningSettings(permutations=499), seed=1).selected
    assert len(set(found) & set(names[:6])) >= 4
    assert len(set(found) - set(names[:6])) <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": 0.6}, "'values' must be a share from 0 to 0.5. Got 0.6"),
        ({"mechanism": "mar"}, "'mechanism' must be 'at random' or 'after a bad outcome' or"),
        ({"dropout": -1}, "'dropout' must be a share from 0 to 1"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(SettingError, match=message):
        MissingData(**arguments)
