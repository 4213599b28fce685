"""Screening as in the paper: what it finds, why, and what it does with difficult data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.progress import Cancelled
from smdp.screening import ScreeningResult, screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate


def paper(**settings: Any) -> ScreeningSettings:
    return ScreeningSettings(method="paper", **settings)


def chain(subjects: int = 40, times: int = 12, actions: int = 2, seed: int = 6) -> Trajectories:
    """b drives a, a drives the utility: a is found first, b once a is in.

    The other two are noise; with this seed neither is among the false selections that the level
    allows.
    """
    random = np.random.default_rng(seed)
    states = random.normal(size=(subjects, times + 1, 4))
    states[:, 1:, 0] = states[:, :-1, 1] + 0.1 * random.normal(size=(subjects, times))
    utilities = states[:, :-1, 0] + 0.1 * random.normal(size=(subjects, times))
    return Trajectories(
        states=states,
        actions=random.integers(0, actions, (subjects, times)),
        utilities=utilities,
        valid=np.ones((subjects, times), dtype=bool),
        available=np.ones((subjects, times), dtype=bool),
        probabilities=np.full((subjects, times, actions), 1 / actions),
        variables=("a", "b", "noise", "other"),
        subjects=tuple(map(str, range(subjects))),
        action_labels=tuple(map(str, range(actions))),
    )


def cut_short(data: Trajectories, lengths: np.ndarray) -> Trajectories:
    """Subjects that leave early: nothing is known after their last state."""
    times = data.valid.shape[1]
    valid = np.arange(times) < lengths[:, None]
    known = np.arange(times + 1) <= lengths[:, None]
    return replace(
        data,
        states=np.where(known[:, :, None], data.states, np.nan),
        utilities=np.where(valid, data.utilities, np.nan),
        actions=np.where(valid, data.actions, -1),
        valid=valid,
    )


def same(one: ScreeningResult, other: ScreeningResult) -> bool:
    return (
        one.selected == other.selected
        and one.table.equals(other.table)
        and all(
            a.p_values.equals(b.p_values) and a.pooled.equals(b.pooled)
            for a, b in zip(one.rounds, other.rounds, strict=True)
        )
    )


@pytest.fixture(scope="module")
def found() -> ScreeningResult:
    return screen(chain(), paper())


def test_a_chain_is_found_round_by_round(found):
    assert found.selected == ("a", "b")
    assert [each.joined for each in found.rounds] == [("a",), ("b",), ()]
    assert [each.outcome for each in found.rounds] == [(), ("a",), ("a", "b")]
    assert found.stopped == "none joined"


def test_every_rounds_p_values_are_kept(found):
    assert list(found.rounds[0].p_values.index) == ["a", "b", "noise", "other"]
    assert list(found.rounds[2].p_values.index) == ["noise", "other"]
    assert list(found.rounds[0].p_values.columns) == list(range(1, 13))
    for each in found.rounds:
        assert each.p_values.to_numpy().min() >= 1 / (found.permutations + 1)
        pooled = (12 * each.p_values.min(axis=1)).clip(upper=1)
        pd.testing.assert_series_equal(each.pooled, pooled, check_names=False)


def test_the_table_says_why(found):
    table = found.table
    assert list(table.index) == ["a", "b", *found.rounds[2].pooled.sort_values().index]
    assert table["status"].tolist() == ["selected", "selected", "not selected", "not selected"]
    assert table["round"].iloc[:2].tolist() == [1, 2]
    assert table["round"].iloc[2:].isna().all()
    assert table.loc["a", "reason"] == "Pooled p = 0.01 in round 1, at most 0.1"
    assert "in the last round (3), above 0.1" in table.loc["noise", "reason"]


def test_the_result_tells_what_it_was_made_from(found):
    assert found.settings == paper()
    assert (found.seed, found.rank, found.permutations) == (0, 1, 1199)
    assert found.times["subjects"].tolist() == [40] * 12
    assert found.times_left_out == ()


@pytest.mark.parametrize("model", ["linear", "quad"])
def test_the_papers_four_variables_are_found_in_round_one(model):
    result = screen(simulate(model, noise=50, seed=11), paper(max_rounds=1))
    joined = result.rounds[0].joined
    assert {"S1", "S2", "S3", "S4"} <= set(joined)
    assert not [name for name in joined if name[0] in "DWC"]


@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
def test_the_result_does_not_depend_on_the_number_of_threads(pooling):
    data = chain(subjects=20, times=8)
    alone = screen(data, paper(pooling=pooling), seed=3)
    assert same(alone, screen(data, paper(pooling=pooling, jobs=3), seed=3))
    assert not same(alone, screen(data, paper(pooling=pooling), seed=4))


def test_discrete_data_can_be_screened_by_likelihood_ratio():
    data = chain(times=6)
    data = replace(data, states=np.round(data.states), utilities=np.round(data.utilities))
    result = screen(data, paper(test="likelihood_ratio"))
    assert result.rounds[0].joined[0] == "a"
    assert {"a", "b"} <= set(result.selected)


def test_forcing_is_obeyed_and_recorded():
    settings = paper(force_in=("noise",), force_out=("a",))
    result = screen(chain(), settings)
    assert "noise" in result.selected
    assert "a" not in result.selected
    assert result.rounds[0].outcome == ("noise",)
    assert "a" not in result.rounds[0].pooled.index
    assert result.table.loc["noise", "status"] == "forced in"
    assert result.table.loc["a", "reason"] == "Forced out by the user, not tested"
    assert result.settings.force_in == ("noise",)


def test_forced_variables_pass_through_when_nothing_is_left_to_test():
    result = screen(chain(), paper(force_in=("a", "b"), force_out=("noise", "other")))
    assert result.selected == ("a", "b")
    assert (result.stopped, result.rounds) == ("nothing to test", ())
    assert screen(chain(), paper(force_out=("a", "b", "noise", "other"))).selected == ()


def test_rounds_can_be_limited():
    result = screen(chain(), paper(max_rounds=1))
    assert result.selected == ("a",)
    assert result.stopped == "max_rounds reached"


def test_it_stops_when_all_are_in():
    result = screen(chain().select(["a", "b"]), paper())
    assert result.selected == ("a", "b")
    assert result.stopped == "all variables are in"


@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
def test_unequal_lengths_three_actions_and_unavailability(pooling):
    random = np.random.default_rng(1)
    data = chain(subjects=60, times=14, actions=3)
    data = replace(data, available=random.random(data.valid.shape) < 0.8)
    data = cut_short(data, random.integers(6, 15, 60))
    result = screen(data, paper(pooling=pooling))
    assert {"a", "b"} <= set(result.selected)
    tested = result.times["subjects"].to_numpy()
    assert (tested <= data.valid.sum(axis=0)).all()
    assert tested[0] >= 50


def test_times_with_too_few_are_left_out_and_counted():
    lengths = np.full(40, 10)
    lengths[:3] = 12
    result = screen(cut_short(chain(), lengths), paper())
    assert result.times_left_out == (11, 12)
    assert result.rounds[0].p_values[[11, 12]].isna().all(axis=None)
    assert result.selected == ("a", "b")
    pooled = (10 * result.rounds[0].p_values.min(axis=1)).clip(upper=1)
    pd.testing.assert_series_equal(result.rounds[0].pooled, pooled, check_names=False)


def test_an_action_that_nobody_takes_at_some_times():
    data = chain()
    actions = data.actions.copy()
    actions[:, ::2] = 0
    assert screen(replace(data, actions=actions), paper()).selected == ("a", "b")


def test_constant_and_identical_variables():
    data = chain()
    states = np.concatenate([data.states, data.states[:, :, :1], data.states[:, :, :1]], axis=2)
    states[:, :, 2] = 0.1
    data = replace(data, states=states, variables=("a", "b", "flat", "other", "a2", "a3"))
    result = screen(data, paper())
    assert {"a", "a2", "a3"} == set(result.rounds[0].joined)
    first = result.rounds[0].p_values
    np.testing.assert_array_equal(first.loc["a"], first.loc["a3"])
    assert result.table.loc["flat", "p_value"] == 1
    assert "constant at every time" in result.table.loc["flat", "reason"]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("pooling", ["ruger", "trajectory"])
def test_progress_grows_to_one_and_can_cancel(jobs, pooling):
    settings = paper(jobs=jobs, pooling=pooling)
    calls: list[tuple[float, str]] = []
    screen(chain(), settings, progress=lambda share, message: calls.append((share, message)))
    shares = [share for share, _ in calls]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert calls[-1] == (1.0, "Screening finished")
    assert calls[0][1] == "Round 1: 4 variables against the utility"

    def stop(share: float, message: str) -> None:
        if share > 0.2:
            raise Cancelled

    with pytest.raises(Cancelled):
        screen(chain(), settings, progress=stop)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "'level' must be a probability above 0 and below 1. Got 0 instead"),
        ({"level": 1}, "'level' must be"),
        ({"level": -0.1}, "'level' must be"),
        ({"level": float("nan")}, "'level' must be"),
        ({"test": "t"}, "'test' must be 'distance_covariance' or 'likelihood_ratio'"),
        ({"pooling": "mean"}, "'pooling' must be 'ruger' or 'trajectory'. Got 'mean'"),
        ({"permutations": 0}, "'permutations' must be a whole number of at least 1"),
        ({"max_rounds": 0}, "'max_rounds' must be"),
        ({"jobs": 1.5}, "'jobs' must be"),
        ({"rank": 2, "pooling": "trajectory"}, "'rank' must be left empty unless"),
        ({"force_in": "a"}, "'force_in' must be a list of variables"),
        ({"force_in": ("a",), "force_out": ("a",)}, "'force_out' must be without"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str):
    with pytest.raises(SettingError, match=message):
        paper(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"permutations": 118}, "'permutations' must be at least 119 .* Got 118 instead"),
        ({"rank": 13}, "'rank' must be a whole number from 1 to 12"),
        ({"force_in": ("z",)}, "'force_in' names z, which is no state variable.*a, b, noise"),
    ],
)
def test_settings_that_the_data_rule_out(settings: dict[str, Any], message: str):
    with pytest.raises(SettingError, match=message):
        screen(chain(), paper(**settings))


def test_data_that_cannot_be_screened():
    data = chain(subjects=6)
    with pytest.raises(DataError, match="No transition is valid"):
        screen(replace(data, valid=np.zeros_like(data.valid)), paper())
    with pytest.raises(DataError, match="At none of the 12 times do 4 subjects share an action"):
        screen(replace(data, actions=np.tile([[0], [1], [0], [1], [0], [1]], (1, 12))), paper())
    states = data.states.copy()
    states[2, 3, 1] = np.nan
    with pytest.raises(DataError, match="Values of b are missing"):
        screen(replace(data, states=states), paper())
    utilities = data.utilities.copy()
    utilities[0, 0] = np.inf
    with pytest.raises(DataError, match="Utilities are missing"):
        screen(replace(data, utilities=utilities), paper())
    with pytest.raises(SettingError, match="'seed' must be"):
        screen(data, paper(), seed=-1)
