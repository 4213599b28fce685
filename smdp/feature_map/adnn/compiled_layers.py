"""Rows through the layers of a network and back, compiled: what training and polishing share.

All weights and biases of a network stand in one array. Of each layer it is known where its weights
(out, in) begin, row after row, and its numbers of outputs and inputs; the biases follow the
weights. Values are (units, rows): what is done for each row is done for neighbours in memory.
Numbers are of single or of double precision, all of them alike.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg  # noqa: F401 - the BLAS of compiled code, there before its threads are limited
from numba import njit

#: Rows that go through a network together.
ROWS = 64
#: From this many weights on, a layer is a product of matrices by BLAS.
BY_BLAS = 2_000

ARCTAN, TANH, RELU, IDENTITY = 0, 1, 2, 3
ACTIVATIONS = {"arctan": ARCTAN, "tanh": TANH, "relu": RELU, "identity": IDENTITY}

_ZERO = np.float32(0)

# Sums may be made in another order, and products joined with sums; infinities stay what they are.
# Without numpy's way with divisions, each would be looked at for a zero, one after the other.
compiled = njit(
    nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"}
)


@compiled
def forward(theta, at, out, into, x, y, rows):  # type: ignore[no-untyped-def]
    """y = W x + b"""
    if out * into >= BY_BLAS and rows == x.shape[1]:
        weights = theta[at : at + out * into].reshape(out, into)
        np.dot(weights, x[:into], y[:out])
        for o in range(out):
            b = theta[at + out * into + o]
            for r in range(rows):
                y[o, r] += b
        return
    for o in range(out):
        b = theta[at + out * into + o]
        w = at + o * into
        for r in range(rows):
            y[o, r] = b
        i = 0
        while i + 4 <= into:
            w0, w1, w2, w3 = theta[w + i], theta[w + i + 1], theta[w + i + 2], theta[w + i + 3]
            for r in range(rows):
                y[o, r] += w0 * x[i, r] + w1 * x[i + 1, r] + w2 * x[i + 2, r] + w3 * x[i + 3, r]
            i += 4
        while i < into:
            w0 = theta[w + i]
            for r in range(rows):
                y[o, r] += w0 * x[i, r]
            i += 1


@compiled
def add_gradient(gradient, at, out, into, x, error, rows, work):  # type: ignore[no-untyped-def]
    """Of the layer's weights and biases, from the error of what comes out of it."""
    if out * into >= BY_BLAS and rows == x.shape[1]:
        product = work[: out * into].reshape(out, into)
        np.dot(error[:out], x[:into].T, product)
        for k in range(out * into):
            gradient[at + k] += work[k]
    else:
        for o in range(out):
            w = at + o * into
            i = 0
            while i + 4 <= into:
                s0, s1, s2, s3 = _ZERO, _ZERO, _ZERO, _ZERO
                for r in range(rows):
                    e = error[o, r]
                    s0 += e * x[i, r]
                    s1 += e * x[i + 1, r]
                    s2 += e * x[i + 2, r]
                    s3 += e * x[i + 3, r]
                gradient[w + i] += s0
                gradient[w + i + 1] += s1
                gradient[w + i + 2] += s2
                gradient[w + i + 3] += s3
                i += 4
            while i < into:
                s0 = _ZERO
                for r in range(rows):
                    s0 += error[o, r] * x[i, r]
                gradient[w + i] += s0
                i += 1
    for o in range(out):
        s0 = _ZERO
        for r in range(rows):
            s0 += error[o, r]
        gradient[at + out * into + o] += s0


@compiled
def backward(theta, at, out, into, error, before, rows):  # type: ignore[no-untyped-def]
    """before = W' error"""
    if out * into >= BY_BLAS and rows == error.shape[1]:
        weights = theta[at : at + out * into].reshape(out, into)
        np.dot(weights.T, error[:out], before[:into])
        return
    for i in range(into):
        for r in range(rows):
            before[i, r] = _ZERO
        o = 0
        while o + 4 <= out:
            w = at + o * into + i
            w0, w1, w2, w3 = theta[w], theta[w + into], theta[w + 2 * into], theta[w + 3 * into]
            for r in range(rows):
                before[i, r] += (
                    w0 * error[o, r]
                    + w1 * error[o + 1, r]
                    + w2 * error[o + 2, r]
                    + w3 * error[o + 3, r]
                )
            o += 4
        while o < out:
            w0 = theta[at + o * into + i]
            for r in range(rows):
                before[i, r] += w0 * error[o, r]
            o += 1
