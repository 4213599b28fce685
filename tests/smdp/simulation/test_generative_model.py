"""The paper's generative model: its law, its noise, and its names."""

from __future__ import annotations

import numpy as np
import pytest

from smdp.errors import SettingError
from smdp.simulation.generative_model import LINKS, GenerativeModel, simulate


def test_shapes_names_and_known_randomisation():
    made = simulate("linear", noise=50, subjects=7, times=5)
    assert made.states.shape == (7, 6, 114)
    assert made.variables[:2] == ("S1", "S2")
    assert made.variables[63:66] == ("S64", "D1", "D2")
    assert made.variables[79:82] == ("D16", "W1", "W2")
    assert made.variables[96:98] == ("W17", "C1")
    assert made.variables[-1] == "C17"
    assert made.valid.all()
    assert (made.probabilities == 0.5).all()
    assert set(np.unique(made.actions)) == {0, 1}
    assert np.isfinite(made.states).all()


@pytest.mark.parametrize(
    ("noise", "kinds"), [(0, (0, 0, 0)), (1, (0, 1, 0)), (50, (16, 17, 17)), (200, (66, 67, 67))]
)
def test_noise_is_of_three_kinds(noise, kinds):
    law = GenerativeModel("linear", noise)
    assert (law.dependent, law.white, law.constant) == kinds
    assert len(law.variables) == 64 + noise


def test_noise_does_not_change_the_rest():
    plain, noisy = simulate("quad", seed=4), simulate("quad", noise=200, seed=4)
    np.testing.assert_array_equal(noisy.states[:, :, :64], plain.states)
    np.testing.assert_array_equal(noisy.utilities, plain.utilities)
    np.testing.assert_array_equal(noisy.actions, plain.actions)
    assert not np.array_equal(simulate("quad", seed=5).states, plain.states)


@pytest.mark.parametrize("model", ["linear", "quad", "exp"])
def test_states_and_utility_follow_their_law(model):
    """Residuals from the conditional means have mean 0 and the variances of section 5."""
    made = simulate(model, noise=48, subjects=400, times=20, seed=1)
    g = LINKS[model]
    now, following = made.states[:, :-1], made.states[:, 1:]
    act = made.actions
    s = [g(now[:, :, j]) for j in range(4)]
    zero, one = 2 * (s[0] + s[1]) - (s[2] + s[3]), 2 * (s[2] + s[3]) - (s[0] + s[1])
    residual = made.utilities - np.where(act == 0, zero, one)
    assert residual.std() == pytest.approx(0.1, rel=0.03)
    assert residual.mean() == pytest.approx(0, abs=0.005)
    for start, count in ((0, 64), (64, 16)):
        for j in range(count):
            parent = g(now[:, :, start + j // 4])
            follows = act == (0 if j % 4 < 2 else 1)
            rest = following[:, :, start + j] - np.where(follows, parent, 0)
            assert rest[follows].std() == pytest.approx(0.1, rel=0.06)
            assert rest[~follows].std() == pytest.approx(0.5, rel=0.06)
            assert abs(rest.mean()) < 0.02


def test_white_noise_is_white_and_constants_are_constant():
    made = simulate("linear", noise=6, subjects=300, times=30).states
    white, constant = made[:, :, 66:68], made[:, :, 68:]
    assert white.std() == pytest.approx(0.5, rel=0.03)
    assert abs(np.corrcoef(white[:, :-1, 0].ravel(), white[:, 1:, 0].ravel())[0, 1]) < 0.05
    np.testing.assert_array_equal(constant, np.broadcast_to(constant[:, :1], constant.shape))
    assert constant.std() == pytest.approx(0.5, rel=0.1)


def test_links_are_truncated_at_three():
    values = np.array([-2.0, 0.5, 1.0, 5.0, 1000.0])
    np.testing.assert_allclose(LINKS["quad"](values), [3, 0.25, 1, 3, 3])
    np.testing.assert_allclose(LINKS["exp"](values), [*np.exp(values[:3]), 3, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "cubic"}, "'model' must be 'linear' or 'quad' or 'exp'. Got 'cubic'"),
        ({"noise": -1}, "'noise' must be a whole number of at least 0"),
        ({"subjects": 0}, "'subjects' must be a whole number of at least 1"),
        ({"times": 1.5}, "'times' must be"),
        ({"seed": -3}, "'seed' must be"),
        ({"actions": 1}, "'actions' must be a whole number of at least 2"),
        ({"actions": 33}, "'actions' must be at most 32"),
    ],
)
def test_bad_settings_are_explained(arguments, message):
    with pytest.raises(SettingError, match=message):
        simulate(**{"model": "linear", **arguments})


def test_more_actions_follow_the_same_law():
    """With K = 3: six children a variable, and 2 G_a minus the mean of the other two."""
    made = simulate("quad", subjects=300, times=20, seed=1, actions=3)
    g = LINKS["quad"]
    now, following, act = made.states[:, :-1], made.states[:, 1:], made.actions
    assert set(np.unique(act)) == {0, 1, 2}
    assert made.action_labels == ("0", "1", "2")
    np.testing.assert_allclose(made.probabilities, 1 / 3)
    sums = np.stack([g(now[:, :, 2 * a : 2 * a + 2]).sum(axis=2) for a in range(3)], axis=2)
    own = np.take_along_axis(sums, act[:, :, None], axis=2)[:, :, 0]
    residual = made.utilities - (2 * own - (sums.sum(axis=2) - own) / 2)
    assert residual.std() == pytest.approx(0.1, rel=0.03)
    for j in (0, 3, 5, 11, 63):
        follows = act == j % 6 // 2
        rest = following[:, :, j] - np.where(follows, g(now[:, :, j // 6]), 0)
        assert rest[follows].std() == pytest.approx(0.1, rel=0.06)
        assert rest[~follows].std() == pytest.approx(0.5, rel=0.06)
    assert GenerativeModel("quad", 0, 3).true_variables == ("S1", "S2", "S3", "S4", "S5", "S6")


def test_the_papers_model_has_not_changed():
    """Published studies are repeated from their seeds: the numbers of a seed stay."""
    made = simulate("exp", noise=4, subjects=2, times=2, seed=7)
    expected = [3.171395614381785, -1.8360929948690572, 1.802112196465279, 9.495987396271543]
    np.testing.assert_allclose(made.utilities.ravel(), expected, rtol=1e-12)
