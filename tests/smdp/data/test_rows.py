"""Trajectories give their decisions one below the other, in one way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.rows import require_complete, require_every_action
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError

NONE = -1


@pytest.fixture
def three() -> Trajectories:
    """Two subjects, one of them twice, and four decisions; 'b' has no usable one."""
    valid = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1]], dtype=bool)
    available = np.array([[1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]], dtype=bool)
    probabilities = np.full((3, 4, 2), 0.5)
    probabilities[0, 0] = [1.0, 0.0]
    probabilities[0, 3] = np.nan
    return Trajectories(
        states=np.arange(15.0).reshape(3, 5, 1),
        actions=np.array([[0, NONE, 1, 1], [0, 0, 0, 0], [0, 1, 0, 1]]),
        utilities=np.arange(12.0).reshape(3, 4),
        valid=valid,
        available=available,
        probabilities=probabilities,
        variables=("s",),
        subjects=("c", "b", "c"),
        action_labels=("0", "1"),
    )


def test_rows_are_the_valid_decisions_by_trajectory_and_time(three):
    rows = three.rows()
    assert rows.row.tolist() == [0, 0, 0, 2, 2]
    assert rows.time.tolist() == [0, 1, 3, 0, 3]
    assert rows.at(three.strata).tolist() == [0, 2, 1, 0, 1]
    assert rows.at(three.utilities).tolist() == [0, 1, 3, 8, 11]
    assert rows.after(three.states)[:, 0].tolist() == [1, 2, 4, 11, 14]


def test_only_those_with_a_row_are_counted_and_a_name_is_one_subject(three):
    rows = three.rows()
    assert (rows.units, rows.subjects) == (2, 1)
    assert rows.unit.tolist() == [0, 0, 0, 1, 1]
    assert rows.first.tolist() == [0, 3]
    assert rows.cluster.tolist() == [0, 0]
    apart = replace(three, subjects=("c", "b", "a")).rows()
    assert apart.subject.tolist() == [1, 1, 1, 0, 0]  # in the order of the names
    assert apart.cluster.tolist() == [1, 0]


def test_some_of_the_rows_are_counted_anew(three):
    rows = replace(three, subjects=("c", "b", "a")).rows()
    kept = rows.take(rows.row == 0)
    assert kept.time.tolist() == [0, 1, 3]
    assert kept.subject.tolist() == [0, 0, 0]
    assert kept.shape == rows.shape
    grid = kept.on_grid(np.array([[1.0], [2.0], [3.0]]))
    assert np.isnan(grid).sum() == 9
    assert grid[0, [0, 1, 3], 0].tolist() == [1, 2, 3]


def test_an_action_is_possible_unless_ruled_out(three):
    possible = three.possible
    assert possible[0].tolist() == [[True, False], [False, False], [True, True], [True, True]]
    assert possible[1:].all()


def test_some_of_the_trajectories(three):
    mask = three.take(np.array([True, False, True]))
    assert mask.subjects == ("c", "c")
    np.testing.assert_array_equal(mask.states, three.states[[0, 2]])
    drawn = three.take(np.array([1, 1, 0]))
    assert drawn.subjects == ("b", "b", "c")
    np.testing.assert_array_equal(drawn.valid, three.valid[[1, 1, 0]])


def test_what_rows_cannot_do_without(three):
    require_complete(three.states, three.utilities)
    with pytest.raises(DataError, match="missing in transitions that are marked as valid"):
        require_complete(three.states, np.array([1.0, np.nan]))
    require_every_action(np.array([0, 1, 2]), ("x", "y"), "so nothing can be said")
    with pytest.raises(DataError, match="the action 'y' in a usable transition, so nothing"):
        require_every_action(np.array([0, 2]), ("x", "y"), "so nothing can be said")
