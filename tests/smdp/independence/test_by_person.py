"""Distance covariance with people as the sample: its statistic, its blocks, several columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from smdp.independence.by_person import Outcome, scores, variable_points
from smdp.independence.people import PeopleRows, people_rows
from smdp.independence.signs import family_test, signs
from tests.smdp.test_screening import chain


@pytest.fixture(scope="module")
def rows() -> PeopleRows:
    return people_rows(chain(subjects=20, times=20), 1)


def test_scores_are_sums_over_the_rows_of_a_person_and_action(rows):
    random = np.random.default_rng(0)
    x, y = random.normal(size=(len(rows.row), 2)), random.normal(size=(len(rows.row), 3))
    found = scores(x, y, 2 * y, rows.by_action, rows.people)
    own = (rows.person == 4) & (rows.action == 1)
    block = x[own].T @ y[own] / np.sqrt((rows.action == 1).sum())
    assert found.restored[4].reshape(2, 2, 3)[1] == pytest.approx(2 * block)
    assert 2 * found.total == pytest.approx(found.restored.sum(axis=0))


def test_two_columns_of_few_values_keep_their_distances(rows):
    """The statistic of whole rows is the distance covariance of two variables of two columns."""
    random = np.random.default_rng(1)
    levels = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 1]], dtype=float)
    x, y = levels[random.integers(0, 5, 60)], levels[random.integers(0, 5, 60)]
    one = PeopleRows(
        row=np.arange(60),
        time=np.zeros(60, dtype=np.int64),
        person=np.arange(60),
        action=np.zeros(60, dtype=np.int64),
        stratum=np.zeros(60, dtype=np.int64),
        people=60,
    )
    found = scores(
        variable_points(x, one, random),
        variable_points(y, one, random),
        variable_points(y, one, random),
        one.by_action,
        60,
    )
    distances = []
    for values in (x, y):
        d = cdist(values / values.std(axis=0), values / values.std(axis=0))
        distances.append(d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean())
    # |f(x) - f(y)|^2 is the distance: inner products of centred points are minus half of it.
    assert found.total @ found.total == pytest.approx((distances[0] * distances[1]).sum() / 240)


def test_a_variable_of_several_columns_is_one_test(rows):
    data = chain(subjects=20, times=20)
    random = np.random.default_rng(2)
    here = data.states[rows.row, rows.time]
    against = Outcome(data.utilities[rows.row, rows.time][:, None], rows, random)
    flips = signs(rows.people, 499, random)
    group, noise = (variable_points(here[:, own], rows, random) for own in ([0, 4], [3, 4]))
    found = family_test([against.test(group, flips), against.test(noise, flips)])
    assert found.p_value[0] <= 0.01 < found.p_value[1]
    assert against.strength(group).low > 0
