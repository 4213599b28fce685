"""How much of what the state says q features keep."""

import numpy as np

from smdp.feature_map.share_kept import share_kept


def residuals(lost, seed=0, people=30, times=40):
    """By people: noise, and noise with what the map and with what nothing explains."""
    random = np.random.default_rng(seed)
    noise, small, large = random.standard_normal((3, people * times))
    person = np.repeat(np.arange(people), times)
    full = noise
    own = noise + np.sqrt(lost) * small
    return person, own, full, own + np.sqrt(1 - lost) * large


def test_a_small_loss_is_negligible_and_a_large_one_is_not():
    small, large = share_kept(*residuals(0.002)), share_kept(*residuals(0.2))
    assert small.at_least > 0.95
    assert large.at_least < 0.95
    assert abs(large.share - 0.8) < 0.05
    assert large.low < large.at_least < large.share < large.high < 0.9
    assert abs(large.explained_by_state - 0.5) < 0.05
    assert large.explained < large.explained_by_state


def test_the_interval_covers():
    covered = [
        kept.low <= 0.9 <= kept.high
        for kept in (share_kept(*residuals(0.1, seed)) for seed in range(200))
    ]
    assert np.mean(covered) > 0.9  # three standard errors below .95


def test_where_the_state_says_nothing_there_is_no_bound():
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(10), 20)
    noise = random.standard_normal(200)
    kept = share_kept(person, 1.01 * noise, noise + 0.1 * random.standard_normal(200), noise)
    assert not kept.at_least > 0.95
    assert kept.at_least == kept.low == -np.inf
    assert kept.high == np.inf
