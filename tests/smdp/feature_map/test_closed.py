"""Maps that predict the utility and their own next values."""

import numpy as np
import pytest

from smdp.feature_map.adnn.closed import (
    EMPHASES,
    ClosedSets,
    UtilitySets,
    closed_and_tested,
    closed_features,
    following_features,
)
from smdp.feature_map.adnn.refit import Architecture, out_of_fold_residuals, trained_without_each
from smdp.feature_map.layers import Layer, Network
from smdp.feature_map.normal_space import dimension_test, head_probabilities

SEED = np.random.SeedSequence(0)


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def network(features, *heads):
    """Linear, of two features of four variables."""
    first = Layer(np.array(features, dtype=float), np.zeros(2))
    last = tuple((Layer(np.array(head, dtype=float), np.zeros(len(head))),) for head in heads)
    return Network((first,), last, "identity")


def test_features_count_by_their_use(sets):
    map_of = [[1, 0, 0, 0], [0, 0, 0, 1]]
    start = UtilitySets(sets.rows)
    (only, *_) = following_features(start, [network(map_of, [[2, 0]], [[1, 0]])] * 2, first=True)
    expected = sets.scales[0][0].standardise(sets.rows.outcomes[:, 1:])[:, 0]
    assert only.shape == (len(expected), 1)
    assert abs(np.corrcoef(only[:, 0], expected)[0, 1]) > 1 - 1e-9
    both = following_features(start, [network(map_of, [[2, 0]], [[0, 1]])] * 2, first=True)
    assert both[0].shape[1] == 2


def test_a_feature_that_only_predicts_itself_dies_out(sets):
    map_of = [[1, 0, 0, 0], [0, 0, 0, 1]]
    white = following_features(
        UtilitySets(sets.rows), [network(map_of, [[1, 0]], [[0, 0.5]])] * 2, first=True
    )
    closed = ClosedSets(sets.rows, white)
    assert closed.outputs == 3
    # What the utility uses is the first feature; the second, itself.
    heads = [[[1, 0], [0, 0], [0, 0.2]]] * 2
    found = following_features(closed, [network(map_of, *heads)] * 2, first=False)
    shares = np.sort(found[0].var(axis=0))[::-1]
    assert len(shares) == 1 or shares[1] < 0.1 * shares[0]


def test_maps_that_differ_by_a_rotation_have_the_same_targets(sets):
    map_of, head = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0]]), np.array([[1.0, 0.5]])
    other = np.array([[0.5, 1.0]])
    turn = turned(1.0)
    networks = [
        network(map_of, head, other),
        network(turn @ map_of, head @ turn.T, other @ turn.T),
    ]
    one, two = following_features(UtilitySets(sets.rows), networks, first=True)
    assert np.abs(np.corrcoef(one.ravel(), two.ravel())[0, 1]) > 0.99


@pytest.mark.parametrize("emphasis", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.3, 0.0, 1e9])
def test_the_utility_counts_by_its_noise_all_next_features_by_their_spread(sets, noise, emphasis):
    random = np.random.default_rng(0)
    following = tuple(random.standard_normal((len(sets.rows.head), 3)) for _ in range(2))
    closed = ClosedSets(sets.rows, following, noise, emphasis)
    for k in range(2):
        used = closed.training(k)
        spread = sets.rows.outcomes[used, 0].std()
        share = np.clip(noise / spread, 0.01, 1)
        variances = closed.outcomes(k, used).var(axis=0)
        np.testing.assert_allclose(variances[0], share ** (-2 * emphasis))
        np.testing.assert_allclose(variances[1:].sum(), 1)


def test_trained_and_tested(study, sets, quick):
    start = UtilitySets(sets.rows)
    size = Architecture(2, 6, 1, (0, 1, 2, 3))
    networks = trained_without_each(start, size, 0.01, quick, seed=SEED, report=lambda share: None)
    assert len(networks[0].heads[0][-1].bias) == 1
    found = closed_features(start, networks, size, 0.01, quick, seed=SEED)
    again = closed_features(start, networks, size, 0.01, quick, seed=SEED)
    assert 0 < found.settled <= 1
    assert 2 <= found.rounds <= 5
    residuals = out_of_fold_residuals(found.sets, found.networks)
    assert residuals.shape == (len(sets.rows.head), found.sets.outputs)
    np.testing.assert_array_equal(residuals, out_of_fold_residuals(again.sets, again.networks))
    probabilities = head_probabilities(study, sets.rows)
    p_value = dimension_test(found.sets, found.networks, probabilities, seed=SEED).p_value
    assert 0 < p_value <= 1
    start_and_size = (start, networks, size, 0.01, quick, probabilities)
    for level in (0.0, 1.0):  # nothing is rejected, and everything
        fit, tested = closed_and_tested(*start_and_size, level=level, seed=SEED, test_seed=SEED)
        assert tested.p_value >= p_value
        assert (fit.sets.emphasis == EMPHASES[0]) == (tested.p_value == p_value)
        if level == 0:
            assert fit.networks == found.networks


def test_no_round_is_refused(sets, quick):
    networks = [network(np.eye(2, 4), [[1, 0]], [[1, 0]])] * 2
    with pytest.raises(ValueError, match="round"):
        closed_features(
            UtilitySets(sets.rows),
            networks,
            Architecture(2, 6, 1, (0, 1, 2, 3)),
            0.01,
            quick,
            rounds=0,
            seed=SEED,
        )
