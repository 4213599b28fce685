"""Screening takes a variable of several columns as one candidate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

from smdp.data.prepare import prepare
from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings


@pytest.fixture(scope="module")
def trajectories() -> Trajectories:
    return prepare(table_of_every_kind(), roles_of_every_kind()).trajectories


@pytest.mark.parametrize("method", ["closed_set", "rounds", "paper"])
def test_one_candidate_one_test(trajectories: Trajectories, method: str) -> None:
    settings = ScreeningSettings(method=method, permutations=199)
    found = screen(trajectories, settings, seed=3)
    assert set(found.table.index) == {"weather", "home", "movement", "diary", "stress"}
    assert list(found.rounds[0].pooled.index) == list(trajectories.wholes)
    if method != "paper":
        assert {"movement", "diary"} <= set(found.selected)
        assert not {"stress", "home"} & set(found.selected)
    assert set(trajectories.select(found.selected).wholes) == set(found.selected)
    again = screen(trajectories, settings, seed=3)
    assert again.table.equals(found.table)


def test_a_nominal_variable_is_found_by_any_of_its_levels(trajectories: Trajectories) -> None:
    rain = trajectories.states[:, :-1, trajectories.variables.index("weather: snow")]
    noise = np.random.default_rng(0).normal(size=rain.shape)
    moved = replace(trajectories, utilities=np.where(rain == 1, 1.5, 0.0) + noise)
    found = screen(moved.select(["weather", "home", "stress"]), seed=1)
    assert found.selected == ("weather",)
    assert found.arrows is not None
    assert set(found.arrows["source"]) == {"weather"}


def test_noise_of_several_columns_is_rarely_found(trajectories: Trajectories) -> None:
    random = np.random.default_rng(4)
    chosen = trajectories.select(["weather", "movement", "diary"])
    hits = []
    for _ in range(20):
        noise = random.normal(size=trajectories.utilities.shape)
        found = screen(replace(chosen, utilities=noise), seed=1)
        hits.append(bool(found.selected))
    assert np.mean(hits) <= 0.3  # of a level of .10


def test_columns_are_no_candidates_of_their_own(trajectories: Trajectories) -> None:
    with pytest.raises(SettingError, match="weather: rain"):
        screen(trajectories, ScreeningSettings(force_in=("weather: rain",)))
    forced = screen(trajectories, ScreeningSettings(force_in=("weather",)), seed=2)
    assert "weather" in forced.selected
    assert forced.table.loc["weather", "status"] == "forced in"
