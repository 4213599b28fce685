"""Block soft-thresholding against its closed form and its definition."""

import numpy as np
import torch
from scipy.optimize import minimize

from smdp.feature_map.adnn.prox import block_soft_threshold


def test_closed_form():
    w = np.array([[[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]])
    expected = np.array([[[3.0 * 0.8, 4.0 * 0.8], [0.0, 0.0], [0.0, 0.0]]])
    np.testing.assert_allclose(block_soft_threshold(w, 1.0), expected, atol=1e-15)


def test_groups_at_or_below_the_threshold_are_exactly_zero():
    w = np.random.default_rng(0).standard_normal((5, 7, 3))
    norms = np.linalg.norm(w, axis=-1, keepdims=True)
    shrunk = block_soft_threshold(w, 1.5)
    assert (shrunk[np.broadcast_to(norms <= 1.5, w.shape)] == 0).all()
    assert (np.linalg.norm(shrunk, axis=-1)[norms[..., 0] > 1.5] > 0).all()


def test_it_minimises_its_objective():
    w = np.array([0.7, -1.2, 0.4])
    found = minimize(lambda v: 0.5 * np.sum((v - w) ** 2) + 0.6 * np.linalg.norm(v), w).x
    np.testing.assert_allclose(block_soft_threshold(w[None], 0.6)[0], found, atol=1e-5)


def test_tensors_and_arrays_agree():
    w = np.random.default_rng(1).standard_normal((4, 5, 2))
    threshold = np.linspace(0, 2, 4)[:, None, None]
    as_tensors = block_soft_threshold(torch.from_numpy(w), torch.from_numpy(threshold))
    np.testing.assert_allclose(as_tensors.numpy(), block_soft_threshold(w, threshold), rtol=1e-12)
