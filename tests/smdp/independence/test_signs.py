"""Signs: exact for few people, the level held for the family, the same in every form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from smdp.independence.signs import (
    PersonScores,
    deviates,
    family_test,
    largest_of,
    q_values,
    signs,
)


def of(scores: np.ndarray) -> PersonScores:
    return PersonScores(scores, scores.sum(axis=0))


def binomial_error(level: float, tests: int) -> float:
    return 2.58 * math.sqrt(level * (1 - level) / tests)


def test_few_people_get_all_patterns_but_their_own():
    found = signs(6, 999, np.random.default_rng(0))
    assert found.shape == (31, 6)
    assert len(np.unique(found, axis=0)) == 31
    assert (found[:, 0] == 1).all()  # all turned round is the same pattern
    assert not (found == 1).all(axis=1).any()
    assert signs(12, 2047, np.random.default_rng(0)).shape == (2047, 12)
    assert signs(13, 2047, np.random.default_rng(0)).shape == (2047, 13)


def test_the_p_value_of_few_people_is_exact():
    scores = np.array([[1.0], [2.0], [0.5], [3.0], [1.5], [0.2]])
    flips = signs(6, 999, np.random.default_rng(0))
    assert family_test([deviates(of(scores), flips)]).p_value[0] == 1 / 32
    scores[-1] = -0.2  # one other pattern has a larger sum
    assert family_test([deviates(of(scores), flips)]).p_value[0] == 2 / 32


@pytest.mark.parametrize("width", [3, 60])
def test_deviates_are_in_the_order_of_the_statistic(width):
    """However many coordinates scores have: by pairs of people, or by their sums."""
    random = np.random.default_rng(width)
    scores = random.normal(size=(20, width)) + 0.1
    flips = signs(20, 500, random)
    pairs = scores @ scores.T - np.diag((scores**2).sum(axis=1))
    expected = [pairs.sum(), *np.einsum("bi,ij,bj->b", flips, pairs, flips)]
    found = deviates(of(scores), flips)
    np.testing.assert_array_equal(np.argsort(found), np.argsort(expected))


def test_both_forms_give_the_same_deviates():
    random = np.random.default_rng(2)
    narrow = random.normal(size=(20, 8)) ** 3
    wide = np.column_stack([narrow, np.zeros((20, 30))])
    flips = signs(20, 200, random)
    np.testing.assert_allclose(deviates(of(narrow), flips), deviates(of(wide), flips), atol=1e-9)


def test_statistics_of_all_shapes_are_on_one_scale():
    random = np.random.default_rng(3)
    flips = signs(40, 4000, random)
    for width in (1, 4, 200):
        found = deviates(of(random.normal(size=(40, width))), flips)[1:]
        assert abs(found.mean()) < 0.15
        assert 0.8 < found.std() < 1.2


def test_the_family_keeps_its_level_and_a_lone_test_its_own():
    random = np.random.default_rng(4)
    flips = signs(20, 399, random)
    alone, family = [], []
    for _ in range(400):
        tests = [deviates(of(random.normal(size=(20, 5))), flips) for _ in range(8)]
        found = family_test(tests)
        alone.append(found.p_value[0])
        family.append(found.adjusted.min())
        assert (found.adjusted >= found.p_value).all()
    for shares in (alone, family):
        assert np.mean(np.array(shares) <= 0.10) < 0.10 + binomial_error(0.10, 400)
        assert np.mean(np.array(shares) <= 0.10) > 0.10 - binomial_error(0.10, 400)


def test_what_was_found_already_no_longer_counts_against_the_others():
    random = np.random.default_rng(5)
    flips = signs(20, 999, random)
    weak = of(random.normal(size=(20, 1)) + 0.55)
    strong = of(random.normal(size=(20, 1)) * 0.1 + 3)
    noise = [of(random.normal(size=(20, 1))) for _ in range(3)]
    deviating = [deviates(each, flips) for each in (strong, weak, *noise)]
    with_strong = family_test(deviating).adjusted
    assert with_strong[0] == 1 / 1000
    assert with_strong[1] == family_test(deviating[1:]).adjusted[0]


def test_those_beside_count_against_the_others_as_if_they_were_asked_about():
    random = np.random.default_rng(8)
    flips = signs(20, 999, random)
    clear = deviates(of(random.normal(size=(20, 1)) + 0.5), flips)
    noise = [deviates(of(random.normal(size=(20, 1))), flips) for _ in range(6)]
    family = family_test([clear, *noise])
    beside = family_test([clear], beside=noise)
    assert beside.adjusted[0] == family.adjusted[0] > beside.p_value[0] == family.p_value[0]


def test_copies_of_a_test_cost_nothing():
    random = np.random.default_rng(6)
    flips = signs(15, 499, random)
    one = deviates(of(random.normal(size=(15, 2)) + 0.4), flips)
    assert set(family_test([one] * 50).adjusted) == set(family_test([one]).adjusted)


def test_nothing_to_test_with_is_p_one():
    flips = signs(8, 999, np.random.default_rng(0))
    nothing = deviates(of(np.zeros((8, 4))), flips)
    one_person = np.zeros((8, 4))
    one_person[3] = 5
    alone = deviates(of(one_person), flips)
    found = family_test([nothing, alone, deviates(of(np.ones((8, 1))), flips)])
    assert found.p_value[:2].tolist() == [1, 1]
    assert found.adjusted[:2].tolist() == [1, 1]
    assert found.p_value[2] == 1 / 128


def test_the_larger_of_two_components_counts():
    random = np.random.default_rng(7)
    flips = signs(20, 100, random)
    one, other = of(random.normal(size=(20, 3))), of(random.normal(size=(20, 3)))
    both = largest_of([one, other], flips)
    np.testing.assert_array_equal(both, np.maximum(deviates(one, flips), deviates(other, flips)))


def test_q_values_are_those_of_benjamini_and_hochberg():
    # R: p.adjust(c(.01, .02, .03, .04, .05, 1), "BH")
    found = q_values(np.array([0.03, 0.01, 1, 0.02, 0.05, 0.04]))
    np.testing.assert_allclose(found, [0.06, 0.06, 1, 0.06, 0.06, 0.06])
    # R: p.adjust(c(.001, .5, .2, .04), "BH")
    found = q_values(np.array([0.001, 0.5, 0.2, 0.04]))
    np.testing.assert_allclose(found, [0.004, 0.5, 0.2 * 4 / 3, 0.08])
