"""Local polynomial regression of one series on time, as R's `loess(surface = "direct")` does it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smdp.data.preparation_settings import ImputationSettings
from smdp.errors import DataError

Floats = NDArray[np.float64]

#: A local design is singular when its smallest singular value, its columns being scaled to length
#: 1, is at most this share of the largest: R's own threshold.
_SINGULAR = 100 * np.finfo(np.float64).eps

#: How many (point, observation) pairs are worked on at once; bounds the memory.
_PAIRS_AT_ONCE = 500_000


def local_polynomial(
    time: ArrayLike,
    values: ArrayLike,
    at: ArrayLike,
    *,
    span: float = 0.75,
    degree: Literal[0, 1, 2] = 1,
) -> Floats:
    """Fitted values at the times `at` of a local polynomial regression of `values` on `time`.

    Of the n observed points, q = floor(n * span + 1e-5), at most n, are a point's neighbourhood.
    With d_i the distance of observation i and h that of the q-th nearest, times sqrt(span) where
    span > 1, the fitted value at t minimises

        sum_i w_i (y_i - b_0 - b_1 (x_i - t) - b_2 (x_i - t)^2)^2,  w_i = (1 - (d_i / h)^3)_+^3

    and is b_0. NaN in `values` or `time` means unobserved; where `at` is NaN, so is the answer.

    Wherever R's `loess(y ~ x, span, degree, control = loess.control(surface = "direct"))` answers
    without a warning, this is its answer up to rounding. Where R warns:

    - a neighbourhood with too few distinct times for the degree ("pseudoinverse used", "near
      singularities"): the degree falls, 2 to 1 to 0. That is R's answer too at a time that was
      observed. Elsewhere R's pseudo-inverse draws the fit towards zero (from one point with value
      y it answers y / 2 or y / 3), which is no estimate of the series, and is not followed;
    - no point with a positive weight ("zero-width neighborhood", "all data on boundary", "span is
      too small"), where R answers 0 or stops: the neighbourhood is widened to the next distinct
      time, so that the answer is the mean of the nearest observations.

    Reference: Cleveland, Grosse & Shyu (1992), "Local regression models"; the netlib `dloess`
    routine `ehg127`, which R calls.

    >>> local_polynomial([0, 1, 2, 3, 4], [0.0, 2.0, float("nan"), 6.0, 8.0], [2]).round(6)
    array([4.])
    """
    ImputationSettings(span=span, degree=degree)
    x, y = _observed(time, values)
    points = np.asarray(at, dtype=np.float64)
    if np.isinf(points).any():
        raise DataError("'at' holds an infinite time.", "Ask for fitted values at finite times.")
    wanted = points[~np.isnan(points)]
    fitted = np.full(points.shape, np.nan)
    rows = max(1, _PAIRS_AT_ONCE // x.size)
    blocks = [
        _fit_block(x, y, wanted[start : start + rows], span, degree)
        for start in range(0, wanted.size, rows)
    ]
    fitted[~np.isnan(points)] = np.concatenate([*blocks, np.empty(0)])
    return fitted


def _observed(time: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """The observed (time, value) pairs."""
    x = np.asarray(time, dtype=np.float64).ravel()
    y = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != y.shape:
        raise DataError(
            f"'time' has {x.size} entries but 'values' has {y.size}.",
            "Give one value for each time, NaN where it was not observed.",
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise DataError(
            f"'{'time' if np.isinf(x).any() else 'values'}' holds an infinite number.",
            "Replace it by a finite number, or by NaN if it was not observed.",
        )
    observed = ~(np.isnan(x) | np.isnan(y))
    if not observed.any():
        raise DataError(
            "A series without a single observed value cannot be fitted.",
            "Leave the series out, or give at least one observed value.",
        )
    return x[observed], y[observed]


def _fit_block(x: Floats, y: Floats, points: Floats, span: float, degree: int) -> Floats:
    """Fitted values at the points, each of the highest degree that its neighbourhood allows."""
    offset = x[None, :] - points[:, None]
    root_weight = _root_weights(offset**2, span)
    fitted = np.full(points.size, np.nan)
    open_points = np.arange(points.size)
    for allowed in range(degree, -1, -1):
        value, singular = _intercept(offset[open_points], root_weight[open_points], y, allowed)
        fitted[open_points[~singular]] = value[~singular]
        open_points = open_points[singular]
        if not open_points.size:
            break
    return fitted


def _root_weights(squared: Floats, span: float) -> Floats:
    """Square roots of the tricube weights; `squared` (m, n) are the squared distances.

    At least one weight of each point is positive.
    """
    n = squared.shape[1]
    neighbours = min(n, max(1, int(np.floor(n * span + 1e-5))))
    radius = np.partition(squared, neighbours - 1, axis=1)[:, neighbours - 1] * max(1.0, span)
    nearest = squared.min(axis=1)
    empty = radius <= nearest
    if empty.any():
        farther = squared[empty] > nearest[empty, None]
        # An infinite radius, where all points are equally far, weighs them equally.
        radius[empty] = np.where(farther, squared[empty], np.inf).min(axis=1)
    relative = np.sqrt(squared / radius[:, None])
    return np.maximum(1 - relative**3, 0) ** 1.5


def _intercept(
    offset: Floats, root_weight: Floats, y: Floats, degree: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """The weighted least-squares polynomials' values at offset 0, and which are not determined.

    `offset` and `root_weight` are (m, n). The triangular factor of the QR decomposition of
    [design | response] holds everything needed, without the loss of digits of normal equations.
    """
    m, n = offset.shape
    k = degree + 1
    design = np.zeros((m, max(n, k + 1), k + 1))
    design[:, :n, 0] = root_weight
    for power in range(1, k):
        design[:, :n, power] = design[:, :n, power - 1] * offset
    design[:, :n, k] = root_weight * y
    length = np.sqrt((design[:, :, :k] ** 2).sum(axis=1))
    length[length == 0] = 1
    design[:, :, :k] /= length[:, None, :]
    triangle: Floats = np.asarray(np.linalg.qr(design, mode="r"))
    u, sigma, vt = np.linalg.svd(triangle[:, :k, :k])
    singular = sigma[:, -1] <= _SINGULAR * sigma[:, 0]
    sigma[singular] = 1
    rotated = np.einsum("mij,mi->mj", u, triangle[:, :k, k]) / sigma
    return (vt[:, :, 0] * rotated).sum(axis=1) / length[:, 0], singular
