"""What the polish asks of one head's rows, compiled and in double precision: the loss and its
slope, and the derivatives of predictions.

`layers` says of each layer of the network where its weights begin, its outputs and its inputs:
those of the map first, then those of each head (`compiled_layers`).
"""

from __future__ import annotations

import math

import numpy as np

from smdp.feature_map.adnn.compiled_layers import (
    ARCTAN,
    RELU,
    ROWS,
    TANH,
    add_gradient,
    backward,
    compiled,
    forward,
)

# Arctangent by the rational function of Moshier's Cephes library, to the last digits.
_P0, _P1, _P2, _P3, _P4 = (
    -8.750608600031904122785e-1,
    -1.615753718733365076637e1,
    -7.500855792314704667340e1,
    -1.228866684490136173410e2,
    -6.485021904942025371773e1,
)
_Q0, _Q1, _Q2, _Q3, _Q4 = (
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)
_SMALL, _LARGE = 0.66, math.tan(3 * math.pi / 8)


@compiled
def _activate(kind, values, slopes, units, rows):  # type: ignore[no-untyped-def]
    """In place; `slopes` becomes the derivative."""
    for u in range(units):
        if kind == ARCTAN:
            for r in range(rows):
                x = values[u, r]
                size = abs(x)
                large, small = size > _LARGE, size <= _SMALL
                top = -1.0 if large else (size if small else size - 1.0)
                bottom = size if large else (1.0 if small else size + 1.0)
                base = math.pi / 2 if large else (0.0 if small else math.pi / 4)
                y = top / bottom
                z = y * y
                p = (((_P0 * z + _P1) * z + _P2) * z + _P3) * z + _P4
                q = ((((z + _Q0) * z + _Q1) * z + _Q2) * z + _Q3) * z + _Q4
                angle = base + y + y * z * p / q
                values[u, r] = -angle if x < 0.0 else angle
                slopes[u, r] = 1.0 / (1.0 + x * x)
        elif kind == TANH:
            for r in range(rows):
                t = math.tanh(values[u, r])
                values[u, r] = t
                slopes[u, r] = 1.0 - t * t
        elif kind == RELU:
            for r in range(rows):
                x = values[u, r]
                values[u, r] = max(x, 0.0)
                slopes[u, r] = 1.0 if x > 0.0 else 0.0
        else:
            for r in range(rows):
                slopes[u, r] = 1.0


@compiled
def _layer(k, of_map, of_head, head):  # type: ignore[no-untyped-def]
    """Where the k-th layer on the way of a head's rows stands among all."""
    return k if k < of_map else of_map + head * of_head + k - of_map


@compiled
def _through(  # type: ignore[no-untyped-def]
    theta, layers, of_map, of_head, head, activation, states, start, rows, values, slopes
):
    """Rows of a head, from `start` on, through all layers."""
    for r in range(rows):
        for i in range(states.shape[1]):
            values[0, i, r] = states[start + r, i]
    depth = of_map + of_head
    for k in range(depth):
        at, out, into = layers[_layer(k, of_map, of_head, head)]
        forward(theta, at, out, into, values[k], values[k + 1], rows)
        if k + 1 < depth:
            _activate(activation, values[k + 1], slopes[k + 1], out, rows)


@compiled
def _most(layers, columns):  # type: ignore[no-untyped-def]
    """Units of the widest layer, weights of the largest."""
    widest, largest = columns, 1
    for k in range(len(layers)):
        widest = max(widest, layers[k, 1])
        largest = max(largest, layers[k, 1] * layers[k, 2])
    return widest, largest


@compiled
def loss_and_slope(  # type: ignore[no-untyped-def]
    theta, layers, of_map, of_head, head, activation, states, targets, counts, slope
):
    """The mean over a head's rows of the sum over outcomes of counts * (prediction - target)^2;
    minus half of its slope is added to `slope`."""
    widest, largest = _most(layers, states.shape[1])
    depth, outputs = of_map + of_head, targets.shape[1]
    values = np.empty((depth + 1, widest, ROWS))
    slopes = np.empty((depth + 1, widest, ROWS))
    error, before = np.empty((widest, ROWS)), np.empty((widest, ROWS))
    work = np.empty(largest)
    total, share = 0.0, 1.0 / len(states)
    for start in range(0, len(states), ROWS):
        rows = min(ROWS, len(states) - start)
        _through(
            theta, layers, of_map, of_head, head, activation, states, start, rows, values, slopes
        )
        for j in range(outputs):
            count = counts[j] * share
            for r in range(rows):
                left = targets[start + r, j] - values[depth, j, r]
                total += count * left * left
                error[j, r] = count * left
        for k in range(depth - 1, -1, -1):
            at, out, into = layers[_layer(k, of_map, of_head, head)]
            add_gradient(slope, at, out, into, values[k], error, rows, work)
            if k > 0:
                backward(theta, at, out, into, error, before, rows)
                for i in range(into):
                    for r in range(rows):
                        before[i, r] *= slopes[k, i, r]
                error, before = before, error
    return total


@compiled
def derivatives(  # type: ignore[no-untyped-def]
    theta, layers, of_map, of_head, head, activation, states, roots, found
):
    """Those of roots * predictions of a head's rows by the weights and biases of its layers.

    `found`: (numbers of the map, then of the head; outputs * rows), of single precision.
    """
    widest, _ = _most(layers, states.shape[1])
    depth, outputs, count = of_map + of_head, len(roots), len(states)
    values = np.empty((depth + 1, widest, ROWS))
    slopes = np.empty((depth + 1, widest, ROWS))
    error, before = np.empty((widest, ROWS)), np.empty((widest, ROWS))
    shift = 0  # of the head's numbers, which follow those of the map
    if head > 0:
        shift = layers[of_map + head * of_head, 0] - layers[of_map, 0]
    for start in range(0, count, ROWS):
        rows = min(ROWS, count - start)
        _through(
            theta, layers, of_map, of_head, head, activation, states, start, rows, values, slopes
        )
        for j in range(outputs):
            first = j * count + start
            for o in range(outputs):
                for r in range(rows):
                    error[o, r] = roots[j] if o == j else 0.0
            for k in range(depth - 1, -1, -1):
                at, out, into = layers[_layer(k, of_map, of_head, head)]
                place = at if k < of_map else at - shift
                for o in range(out):
                    if k == depth - 1 and o != j:
                        found[place + o * into : place + (o + 1) * into, first : first + rows] = 0
                        found[place + out * into + o, first : first + rows] = 0
                        continue
                    for i in range(into):
                        for r in range(rows):
                            found[place + o * into + i, first + r] = error[o, r] * values[k, i, r]
                    for r in range(rows):
                        found[place + out * into + o, first + r] = error[o, r]
                if k > 0:
                    backward(theta, at, out, into, error, before, rows)
                    for i in range(into):
                        for r in range(rows):
                            before[i, r] *= slopes[k, i, r]
                    error, before = before, error
