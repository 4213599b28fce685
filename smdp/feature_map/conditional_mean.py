"""E(S | phi) by ridge regression on random Fourier features, fitted without the row's own fold.

Reference: Rahimi & Recht (2007), "Random features for large-scale kernel machines".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Waves, of frequencies for a Gaussian kernel whose width is one standard deviation.
WAVES = 200
RIDGE = 1e-3


def cross_fitted_residuals(
    features: NDArray[np.float64],  # (R, q)
    values: NDArray[np.float64],  # (R, p)
    fold: NDArray[np.int64],  # (R,)
) -> NDArray[np.float64]:
    """(R, p): the values minus their expectation given the features."""
    spread = features.std(axis=0)
    standard = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    # The same waves in every run: they are a basis, not a source of chance.
    random = np.random.default_rng(0)
    frequencies = random.standard_normal((standard.shape[1], WAVES))
    phases = random.uniform(0, 2 * np.pi, WAVES)
    basis = np.column_stack([standard, np.cos(standard @ frequencies + phases)])
    residuals = np.empty_like(values)
    for f in np.unique(fold):
        training = fold != f
        x_mean, y_mean = basis[training].mean(axis=0), values[training].mean(axis=0)
        x = basis[training] - x_mean
        gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        coefficients = np.linalg.solve(gram, x.T @ (values[training] - y_mean))
        predicted = y_mean + (basis[~training] - x_mean) @ coefficients
        residuals[~training] = values[~training] - predicted
    return residuals
