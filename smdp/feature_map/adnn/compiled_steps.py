"""The steps of training one small network, compiled: forwards, backwards, Adam, the proximal step.

The networks have a few hundred weights and see some hundred rows at a step. As products of tensors
most of the time went into calling them; here a whole stretch of steps is one call. A network is on
its own, so that it learns the same whatever is trained beside it and on however many threads.

All weights and biases stand in one array. `layers` says where: of each layer the place of its
weights (out, in), row after row, its number of outputs and of inputs; the biases follow them. The
layers of the map come first, then those of each head. Values are (units, rows): what is done for
each row is done for neighbours in memory.
"""

from __future__ import annotations

import math

import numpy as np

from smdp.feature_map.adnn.compiled_layers import (
    ARCTAN,
    ROWS,
    TANH,
    add_gradient,
    backward,
    compiled,
    forward,
)

_F = np.float32
_ZERO, _ONE, _HALF_PI = _F(0), _F(1), _F(math.pi / 2)
_BETA1, _BETA2, _EPSILON = _F(0.9), _F(0.999), _F(1e-8)
_LEAST = _F(1e-36)
_REST1, _REST2 = _F(1 - 0.9), _F(1 - 0.999)
# Abramowitz & Stegun (1964), 4.4.49: within 2e-8 for 0 <= x <= 1.
_A1, _A2, _A3, _A4 = _F(-0.3333314528), _F(0.1999355085), _F(-0.1420889944), _F(0.1065626393)
_A5, _A6, _A7, _A8 = _F(-0.0752896400), _F(0.0429096138), _F(-0.0161657367), _F(0.0028662257)


@compiled
def _activate(kind, values, slopes, units, rows):  # type: ignore[no-untyped-def]
    """In place; `slopes` becomes the derivative."""
    for u in range(units):
        # A loop for each, so that several rows are done at once.
        if kind == ARCTAN:
            for r in range(rows):
                x = values[u, r]
                size = abs(x)
                y = _ONE / size if size > _ONE else size
                z = y * y
                p = _A8
                p = p * z + _A7
                p = p * z + _A6
                p = p * z + _A5
                p = p * z + _A4
                p = p * z + _A3
                p = p * z + _A2
                p = p * z + _A1
                p = (p * z + _ONE) * y
                angle = _HALF_PI - p if size > _ONE else p
                values[u, r] = -angle if x < _ZERO else angle
                slopes[u, r] = _ONE / (_ONE + x * x)
        elif kind == TANH:
            for r in range(rows):
                t = _F(math.tanh(values[u, r]))
                values[u, r] = t
                slopes[u, r] = _ONE - t * t
        else:
            for r in range(rows):
                x = values[u, r]
                values[u, r] = max(x, _ZERO)
                slopes[u, r] = _F(x > _ZERO)


@compiled
def _gradient_of_head(  # type: ignore[no-untyped-def]
    theta, gradient, layers, of_map, of_head, head, activation,
    states, outcomes, chosen, share, values, slopes, error, before, work,
):  # fmt: skip
    """Add the slope of `share` times the mean squared error of these rows, which are one head's."""
    depth = of_map + of_head
    targets = outcomes.shape[1]
    columns = states.shape[1]
    for start in range(0, len(chosen), ROWS):
        rows = min(ROWS, len(chosen) - start)
        for r in range(rows):
            row = chosen[start + r]
            for i in range(columns):
                values[0, i, r] = states[row, i]
        for k in range(depth):
            layer = k if k < of_map else of_map + head * of_head + k - of_map
            at, out, into = layers[layer]
            forward(theta, at, out, into, values[k], values[k + 1], rows)
            if k + 1 < depth:
                _activate(activation, values[k + 1], slopes[k + 1], out, rows)
        factor = _F(2 * share / len(chosen))
        for r in range(rows):
            row = chosen[start + r]
            for j in range(targets):
                error[j, r] = factor * (values[depth, j, r] - outcomes[row, j])
        for k in range(depth - 1, -1, -1):
            layer = k if k < of_map else of_map + head * of_head + k - of_map
            at, out, into = layers[layer]
            add_gradient(gradient, at, out, into, values[k], error, rows, work)
            if k > 0:
                backward(theta, at, out, into, error, before, rows)
                for i in range(into):
                    for r in range(rows):
                        before[i, r] *= slopes[k, i, r]
                error, before = before, error


@compiled
def _adam(theta, gradient, mean, square, start, end, decay_until, decay, rate, count):  # type: ignore[no-untyped-def]
    """Of the numbers from `start` to `end`; those before `decay_until` are weights and decay."""
    shrunk = _F(1 - rate * decay)
    for k in range(start, decay_until):
        theta[k] *= shrunk
    step = _F(rate / (1 - 0.9**count))
    root = _F(1 / math.sqrt(1 - 0.999**count))
    for k in range(start, end):
        g = gradient[k]
        m = _BETA1 * mean[k] + _REST1 * g
        v = _BETA2 * square[k] + _REST2 * g * g
        # Numbers too small for full precision take most of the time.
        m = m if abs(m) > _LEAST else _ZERO
        v = v if v > _LEAST else _ZERO
        mean[k] = m
        square[k] = v
        theta[k] -= step * m / (np.sqrt(v) * root + _EPSILON)


@compiled
def shrink_groups(weights, group, thresholds):  # type: ignore[no-untyped-def]
    """The proximal operator of the group lasso, in place: `weights` (out, in), of which the columns
    with the same number in `group` are one variable w,

        prox(w) = argmin_v 1/2 |v - w|^2 + threshold |v| = max(0, 1 - threshold / |w|) w.

    A group whose norm is at most its threshold becomes exactly zero. The threshold of a variable
    with several columns is sqrt(their number) times as large, so that noise has the same chance
    whatever the number.

    Reference: Yuan & Lin (2006), "Model selection and estimation in regression with grouped
    variables"; Parikh & Boyd (2014), "Proximal algorithms", section 6.5.4.
    """
    norms = norms_of_groups(weights, group, len(thresholds))
    for i in range(weights.shape[1]):
        norm, threshold = norms[group[i]], thresholds[group[i]]
        left = _ZERO if norm <= threshold else _F(1 - threshold / norm)
        for o in range(weights.shape[0]):
            weights[o, i] *= left


@compiled
def norms_of_groups(weights, group, count):  # type: ignore[no-untyped-def]
    """Of the groups 0, 1, .. of columns: the root of the mean of their squared norms."""
    squares, columns = np.zeros(count), np.zeros(count)
    for i in range(weights.shape[1]):
        columns[group[i]] += 1
        for o in range(weights.shape[0]):
            squares[group[i]] += weights[o, i] * weights[o, i]
    return np.sqrt(squares / columns)


@compiled
def _proximal(  # type: ignore[no-untyped-def]
    theta, gradient, mean, running, layer, penalty, rate, count, harder_below, harder, group, groups
):
    """Of the first layer: one step size for all its weights, then the prox of each group."""
    at, out, into = layer
    total = _ZERO
    for k in range(at, at + out * into):
        g = gradient[k]
        total += g * g
        m = _BETA1 * mean[k] + _REST1 * g
        mean[k] = m if abs(m) > _LEAST else _ZERO
    running[0] = 0.999 * running[0] + (1 - 0.999) * total / (out * into)
    eta = rate / (math.sqrt(running[0] / (1 - 0.999**count)) + 1e-8)
    step = _F(eta / (1 - 0.9**count))
    for k in range(at, at + out * into):
        theta[k] -= step * mean[k]
    weights = theta[at : at + out * into].reshape(out, into)
    thresholds = np.full(groups, eta * penalty)
    if harder_below > 0:
        norms = norms_of_groups(weights, group, groups)
        thresholds *= np.where(norms < harder_below * norms.max(), harder, 1.0)
    shrink_groups(weights, group, thresholds)


@compiled
def take_steps(  # type: ignore[no-untyped-def]
    theta, mean, square, running, counts,
    layers, of_map, of_head, heads, activation,
    states, outcomes, order, lengths, batch,
    first, last, steps, learning_rate, decay,
    penalised, penalty, harder_below, harder, group, groups,
    alternating,
):  # fmt: skip
    """The steps from `first` to before `last` of so many `steps`; arrays of the first row change.

    `order`: (heads, rows), which rows a head's steps take, `batch` at a time, or all `lengths` of
    them if that is 0. `counts`: steps so far of the map, the first layer and each head.
    """
    widest = states.shape[1]
    largest = 1
    for k in range(len(layers)):
        widest = max(widest, layers[k, 1])
        largest = max(largest, layers[k, 1] * layers[k, 2])
    depth = of_map + of_head
    values = np.empty((depth + 1, widest, ROWS), dtype=np.float32)
    slopes = np.empty((depth + 1, widest, ROWS), dtype=np.float32)
    error = np.empty((widest, ROWS), dtype=np.float32)
    before = np.empty((widest, ROWS), dtype=np.float32)
    work = np.empty(largest, dtype=np.float32)
    gradient = np.zeros_like(theta)
    turns = heads if alternating else 1
    for t in range(first, last):
        rate = learning_rate * 0.5 * (1 + math.cos(math.pi * t / steps))
        for turn in range(turns):
            gradient[:] = _ZERO
            for a in range(heads):
                if alternating and a != turn:
                    continue
                start, end = (t * batch, (t + 1) * batch) if batch > 0 else (0, lengths[a])
                chosen = order[a, start:end]
                share = 1.0 if alternating else 1.0 / heads
                _gradient_of_head(
                    theta, gradient, layers, of_map, of_head, a, activation,
                    states, outcomes, chosen, share, values, slopes, error, before, work,
                )  # fmt: skip
            counts[0] += 1
            for k in range(len(layers)):
                of = 0
                if k >= of_map:
                    a = (k - of_map) // of_head
                    if alternating and a != turn:
                        continue
                    of = 2 + a
                    if (k - of_map) % of_head == 0:
                        counts[of] += 1
                at, out, into = layers[k]
                weights, end = at + out * into, at + out * into + out
                start = weights if penalised and k == 0 else at
                _adam(theta, gradient, mean, square, start, end, weights, decay, rate, counts[of])
            if penalised:
                counts[1] += 1
                _proximal(
                    theta, gradient, mean, running, layers[0], penalty, rate, counts[1],
                    harder_below, harder, group, groups,
                )  # fmt: skip
