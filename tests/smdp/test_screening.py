"""Screening with people as the sample: what it finds, why, and what it does with difficult data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.data.variables import earlier_action
from smdp.errors import DataError, SettingError
from smdp.progress import Cancelled
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate


def chain(
    subjects: int = 20, times: int = 20, actions: int = 2, seed: int = 3, effect: float = 0.5
) -> Trajectories:
    """b drives a, a drives the utility; "friend" goes along with a, "self" remembers itself."""
    random = np.random.default_rng(seed)
    states = random.normal(size=(subjects, times + 1, 5))
    for t in range(times):
        states[:, t + 1, 0] += states[:, t, 1]
        states[:, t + 1, 3] += 0.8 * states[:, t, 3]
    states[:, :, 2] = states[:, :, 0] + 0.7 * states[:, :, 2]
    utilities = effect * states[:, :-1, 0] + random.normal(size=(subjects, times))
    utilities += 0.5 * random.normal(size=(subjects, 1))
    return Trajectories(
        states=states,
        actions=random.integers(0, actions, (subjects, times)),
        utilities=utilities,
        valid=np.ones((subjects, times), dtype=bool),
        available=np.ones((subjects, times), dtype=bool),
        probabilities=np.full((subjects, times, actions), 1 / actions),
        variables=("a", "b", "friend", "self", "noise"),
        subjects=tuple(map(str, range(subjects))),
        action_labels=tuple(map(str, range(actions))),
    )


@pytest.fixture(scope="module")
def found():
    return screen(chain())


def test_the_closed_set_is_what_leads_to_the_utility(found):
    assert found.selected == ("a", "b")
    assert "a" in found.rounds[0].joined
    assert found.stopped == "none joined"
    assert found.rounds[0].stage == "first"
    assert {"forward", "closure"} <= {each.stage for each in found.rounds}


def test_the_arrows_say_through_which(found):
    arrows = found.arrows.set_index(["source", "target"])["family_p"]
    assert arrows["a", ""] <= 0.10
    assert arrows["b", "a"] <= 0.10
    assert arrows["b", ""] > 0.10
    assert arrows["a", "b"] > 0.10


def test_a_next_value_that_is_the_utility_is_not_told_twice():
    data = chain()
    result = screen(replace(data, utilities=3 - 2 * data.states[:, 1:, 0]))
    assert "b" in result.selected
    forced = screen(
        replace(data, utilities=3 - 2 * data.states[:, 1:, 0]), ScreeningSettings(force_in=("a",))
    )
    arrows = set(zip(forced.arrows["source"], forced.arrows["target"], strict=True))
    assert {("b", ""), ("a", ""), ("a", "a")} <= arrows
    assert ("b", "a") not in arrows


def test_the_table_says_why(found):
    table = found.table
    assert table.index[:2].tolist() == ["a", "b"]
    assert table.loc[["a", "b"], "status"].tolist() == ["selected", "selected"]
    assert table.loc["friend", "status"] in ("not needed", "not selected")
    assert table.loc["noise", "status"] == "not selected"
    assert table.loc["a", "reason"].startswith("Family p = ")
    assert (table["family_p"] >= table["p_value"]).all()
    assert table.loc["a", "strength"] > table.loc["noise", "strength"]
    assert table.loc["a", "strength_low"] > 0
    assert table.loc["noise", "strength_low"] == 0


def test_as_printed_friends_are_kept_too():
    kept = screen(chain(), ScreeningSettings(method="rounds")).selected
    assert {"a", "b", "friend"} <= set(kept)
    assert "noise" not in kept


def test_the_papers_four_variables_and_no_other():
    result = screen(simulate("linear", noise=30, seed=11, times=60), ScreeningSettings(level=0.05))
    assert result.selected == ("S1", "S2", "S3", "S4")
    assert result.past_actions == 2
    assert result.earlier_actions > 0.01


def test_pure_noise_keeps_nothing_more_often_than_the_level():
    kept = 0
    for seed in range(60):
        kept += bool(screen(chain(subjects=12, seed=seed, effect=0.0)).selected)
    assert kept / 60 < 0.10 + 2.58 * np.sqrt(0.09 / 60)


def test_the_same_seed_gives_the_same_result(found):
    again = screen(chain(), ScreeningSettings(jobs=3))
    assert again.table.equals(found.table)
    assert again.arrows.equals(found.arrows)
    other = screen(chain(), seed=4)
    assert not other.table.equals(found.table)


def test_forcing_is_obeyed_and_passes_through():
    result = screen(chain(), ScreeningSettings(force_in=("noise",), force_out=("a",)))
    assert "noise" in result.selected
    assert "a" not in result.selected
    assert result.table.loc["noise", "status"] == "forced in"
    assert result.table.loc["noise", "strength_low"] == 0
    assert result.table.loc["a", "status"] == "forced out"
    all_forced = ScreeningSettings(force_in=("a", "b"), force_out=("friend", "self", "noise"))
    result = screen(chain(), all_forced)
    assert result.selected == ("a", "b")
    assert result.stopped == "nothing to test"


def test_variables_that_cannot_be_tested_are_said_so():
    data = chain()
    states = data.states.copy()
    states[:, :, 4] = np.arange(21) / 7  # the same for everybody at each time
    states[:, :, 3] = 2 - 3 * states[:, :, 0]
    result = screen(replace(data, states=states))
    assert result.selected == ("a", "b")
    assert result.table.loc["noise", "status"] == "cannot be tested"
    assert result.table.loc["self", "status"] == "says the same"
    assert "Says the same as a" in result.table.loc["self", "reason"]
    assert np.isnan(result.table.loc["noise", "p_value"])


def test_variables_that_nearly_say_the_same_do_not_hide_each_other():
    data = chain()
    states = data.states.copy()
    random = np.random.default_rng(1)
    states[:, :, 2] = states[:, :, 0] + 0.02 * random.normal(size=states.shape[:2])
    kept = screen(replace(data, states=states)).selected
    assert {"a", "friend"} & set(kept)
    assert "b" in kept


def with_earlier_actions(effect: float, lags: int = 2) -> Trajectories:
    """The utility follows what was done two decisions ago, and the state remembers that."""
    data = chain(subjects=30, times=30)
    n, times = data.actions.shape
    earlier = np.zeros((n, times + 1, lags))
    for lag in range(1, lags + 1):
        earlier[:, lag:, lag - 1] = data.actions[:, : times - lag + 1]
    about = [earlier_action("module", "1", lag, named=False) for lag in range(1, lags + 1)]
    valid = data.valid & (np.arange(times) >= lags)
    before = np.roll(data.actions, 2, axis=1)
    return replace(
        data,
        states=np.concatenate([data.states, earlier], axis=2),
        utilities=data.utilities + effect * before,
        valid=valid,
        variables=(*data.variables, *(each.name for each in about)),
        about=(*data.about, *about),
    )


def test_earlier_actions_of_the_state_join_where_they_matter_with_those_after_them():
    result = screen(with_earlier_actions(0.6))
    assert result.selected == ("a", "b", "module_lag1", "module_lag2")
    assert result.rounds[-1].stage == "earlier"
    assert result.rounds[-1].joined == ("module_lag2",)
    assert "module_lag2 is kept" in result.table.loc["module_lag1", "reason"]
    assert result.earlier_actions > 0.10  # nothing is left of them
    assert not set(screen(with_earlier_actions(0.0)).selected) & {"module_lag1", "module_lag2"}


def test_earlier_actions_that_are_not_in_the_state_are_missed_aloud():
    data = with_earlier_actions(0.6)
    result = screen(data.select(data.variables[:5]))
    assert result.earlier_actions <= 0.05


def test_unequal_lengths_three_actions_and_unavailability():
    random = np.random.default_rng(1)
    data = chain(subjects=30, times=30, actions=3)
    valid = np.arange(30) < random.integers(10, 31, 30)[:, None]
    known = np.arange(31) <= valid.sum(axis=1)[:, None]
    available = random.random(valid.shape) < 0.8
    data = replace(
        data,
        valid=valid,
        available=available,
        actions=np.where(valid & available, data.actions, -1),
        states=np.where(known[:, :, None], data.states, np.nan),
        utilities=np.where(valid, data.utilities, np.nan),
    )
    result = screen(data)
    assert {"a", "b"} <= set(result.selected)
    assert result.past_actions < 2  # 64 sequences would have too few rows each
    assert result.times["subjects"].iloc[0] == 30


def test_trajectories_of_one_name_are_one_person():
    data = chain(subjects=24)
    names = tuple(str(i // 2) for i in range(24))
    result = screen(replace(data, subjects=names))
    assert result.people == 12
    assert result.permutations == 2047  # all there are for 12 people


def test_a_variable_that_is_there_for_one_person_only():
    data = chain()
    states = data.states.copy()
    states[1:, :, 4] = 0
    assert "noise" not in screen(replace(data, states=states)).selected


def test_progress_grows_to_one_and_can_cancel():
    calls: list[tuple[float, str]] = []
    screen(chain(), progress=lambda share, message: calls.append((share, message)))
    shares = [share for share, _ in calls]
    assert shares == sorted(shares)
    assert calls[-1] == (1.0, "Screening finished")
    assert calls[0][1] == "Round 1: does the utility depend on it?"

    def stop(share: float, message: str) -> None:
        if share > 0.2:
            raise Cancelled

    with pytest.raises(Cancelled):
        screen(chain(), progress=stop)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "best"}, "'method' must be 'closed_set', 'rounds' or 'paper'"),
        ({"past_actions": -1}, "'past_actions' must be"),
        ({"permutations": 8}, "'permutations' must be at least 9 to reach a level of 0.1"),
        ({"permutations": 10**6}, "'permutations' must be at most 50,000"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str):
    with pytest.raises(SettingError, match=message):
        ScreeningSettings(**settings)


def test_too_few_people_are_told_so():
    with pytest.raises(DataError, match=r"Only 5 people .* 6 are needed"):
        screen(chain(subjects=5))
    data = chain(subjects=8)
    one_has_all = data.valid & (np.arange(8) == 0)[:, None]
    with pytest.raises(DataError, match="Only 0 people"):
        screen(replace(data, valid=one_has_all))
    everybody_differs = replace(data, actions=np.tile(np.arange(8)[:, None], (1, 20)))
    everybody_differs = replace(
        everybody_differs,
        action_labels=tuple(map(str, range(8))),
        probabilities=np.full((8, 20, 8), 1 / 8),
    )
    with pytest.raises(DataError, match="Only 0 people"):
        screen(everybody_differs)


def test_a_look_back_longer_than_the_series_holds_what_there_is():
    result = screen(chain(subjects=40, times=2), ScreeningSettings(past_actions=5))
    assert result.past_actions <= 1
