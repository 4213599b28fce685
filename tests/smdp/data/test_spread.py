"""Spread between and within people agrees with R's analysis of variance."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from smdp.data.spread import spread

TESTS = Path(__file__).parents[2]
REFERENCE = json.loads((TESTS / "reference" / "spread.json").read_text())
NAN = np.nan


def by_person(person, value):
    """(n, R), the values of each person scattered over a grid with gaps."""
    random = np.random.default_rng(1)
    grid = np.full((max(person) + 1, 2 * len(value)), NAN)
    places = np.sort(random.choice(grid.shape[1], len(value), replace=False))
    grid[person, places] = value
    return grid


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["name"])
def test_as_in_r(case):
    """tests/reference/spread.R: aov, and n_0 for unequal numbers."""
    found = spread(by_person(case["person"], case["value"]))
    assert found.between == pytest.approx(*case["between"], rel=1e-9)
    assert found.within == pytest.approx(*case["within"], rel=1e-7)
    assert found.intraclass == pytest.approx(*case["intraclass"], rel=1e-7)


def test_people_without_a_value_do_not_count():
    values = np.array([[1.0, 2.0, NAN], [4.0, 6.0, 5.0]])
    silent = np.vstack([values, np.full((2, 3), NAN)])
    assert spread(silent) == spread(values)


def test_what_cannot_be_told_is_not_a_number():
    nobody = spread(np.full((3, 4), NAN))
    assert np.isnan([nobody.between, nobody.within, nobody.intraclass]).all()
    one_value_each = spread(np.array([[1.0], [3.0]]))
    assert one_value_each.between == pytest.approx(np.sqrt(2))
    assert np.isnan([one_value_each.within, one_value_each.intraclass]).all()
    one_person = spread(np.array([[1.0, 3.0]]))
    assert np.isnan([one_person.between, one_person.intraclass]).all()
    assert one_person.within == pytest.approx(np.sqrt(2))
    assert np.isnan(spread(np.full((3, 4), 0.1)).intraclass)


def test_equal_means_have_no_spread():
    """Added in another order, the same numbers differ in the last digit."""
    values = np.array([[0.1, 0.2, 0.3, 0.7], [0.7, 0.3, 0.2, 0.1], [0.3, 0.1, 0.7, 0.2]])
    assert spread(values).between == 0
