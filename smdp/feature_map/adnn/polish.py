"""The last stretch of training: from near a minimum of the squared error into it.

Steps on minibatches end near a minimum, not in it. For predictions that is good enough. A test of
what the network leaves over sees the difference: products of two errors have to be small beside the
noise of a mean over all rows (`smdp.feature_map.normal_space`). Here the loss of all rows,

    mean over actions a of the mean over their rows of sum over j of (Y_j - h_aj(phi(s)))^2 / v_aj
    + ridge |weights|^2,

goes down by Levenberg and Marquardt's steps d, with J the derivatives of all predictions by all
weights and biases, each divided by the root of its v, and D the diagonal of J'J:

    (J'J + ridge + damping D) d = J'(Y - h) - ridge weights.

v_aj is the mean square that people left out have before the first step (in units in which the loss
as a whole stays what it was). An outcome that is nearly without noise after an action tells more of
the map than one that is nothing but noise, and what is tested later is divided by the same noise.
But none counts more than the first, the utility: where that is mostly noise, as in real studies,
features would rather predict themselves. (In HeartSteps two of three features then kept 77 % of
what the state says of the outcome instead of 93 %.)

The damping falls by a factor after a step that lowers the loss, and rises until there is one. Of
many rows, evenly spaced ones make J'J, all of them the loss and its slope: the time is linear in
the rows, and it is the slope that decides where the steps end. Of more than `MOST_ROWS` after an
action, as many as that, evenly spaced, make loss and slope too: so many more than there are
weights say where the minimum is.

J'J has a row and a column for every weight. Networks of more than `MOST_WEIGHTS`, those of more
than about ten variables, stay as they are: steps would take longer than all the training before.

How far to go, people who were left out say: the networks without each fold take a few steps at a
time, until their own fold's people have not been predicted better for two times; the best is kept,
and the network of all rows takes as many. Where signals are weak that is soon (and to go on would
overfit); where they are strong it is far, and most of what minibatches left over is found.

References: Levenberg (1944); Marquardt (1963); Roosta-Khorasani & Mahoney (2019), "Sub-sampled
Newton methods", for fewer rows in J'J.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from smdp.feature_map.adnn.compiled_layers import ACTIVATIONS
from smdp.feature_map.adnn.compiled_polish import derivatives, loss_and_slope
from smdp.feature_map.layers import Layer, Network
from smdp.feature_map.transitions import TrainingSets
from smdp.parallel import each
from smdp.progress import Progress, silent

Floats = NDArray[np.float64]

#: Steps at a time, how many times at the most, and how many times in a row without a gain.
STEPS, TIMES, PATIENCE = 4, 8, 2
#: No outcome counts as if its noise were less than this share of the mean.
LEAST_NOISE = 1e-3
#: Of J'J, which says how to step and not where the steps end.
SINGLE: Any = np.float32
#: Larger networks stay as they are.
MOST_WEIGHTS = 1_200
#: Of the weight decay of the steps before, the ridge that is about as strong.
RIDGE = 1e-3
#: A step that lowers the loss by less than this share is the last.
LEAST_GAIN = 1e-5
FIRST_DAMPING, LEAST_DAMPING = 1e-3, 1e-7
EASIER, HARDER, TRIES = 5.0, 8.0, 6
#: Of each head, in loss and slope.
MOST_ROWS = 20_000
#: Numbers in the derivatives of one head's rows: evenly spaced rows, as many as that allows ..
MOST_NUMBERS = 350_000
#: .. but this many predictions for every weight.
FEWEST_FOR_EACH = 3


def polished(
    sets: TrainingSets,
    networks: Sequence[Network],
    weight_decay: float,
    *,
    times: int = TIMES,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[Network, ...]:
    """The networks of the sets 0, 1, ..: those without each fold, perhaps that of all rows.

    `weight_decay`: with which they were trained. Inputs whose weights are all zero stay out.
    """
    if len(_numbers(networks[0])) > MOST_WEIGHTS:
        return tuple(networks)
    count = sets.rows.folds
    folds, rest = tuple(networks[:count]), tuple(networks[count:])

    def further(first: int, some: tuple[Network, ...], time: int) -> tuple[Network, ...]:
        def progress(k: int) -> Progress:
            done = time * len(networks) + first + k
            return lambda share, what: report((done + share) / (times * len(networks)))

        work, ridge = list(enumerate(some, first)), RIDGE * weight_decay
        return tuple(each(_some_steps, work, sets, ridge, counts, progress=progress))

    noise = _held_out(sets, folds)
    counts = 1 / np.maximum(noise, LEAST_NOISE * noise.mean())
    counts = np.minimum(counts, counts[:, :1])  # nothing counts more than the utility
    counts *= noise.mean() / (counts * noise).mean()
    least, moved, best, gained = (noise * counts).sum(), folds, folds, 0
    for time in range(times):
        moved = further(0, moved, time)
        loss = (_held_out(sets, moved) * counts).sum()
        if loss < least:
            least, best, gained = loss, moved, time + 1
        elif time + 1 - gained >= PATIENCE:
            break
    for time in range(gained):
        rest = further(count, rest, time)
    return best + rest


def _held_out(sets: TrainingSets, folds: Sequence[Network]) -> Floats:
    """(heads, outputs): the mean squares of people left out."""
    rows = sets.rows
    squares = np.empty((len(rows.head), sets.outputs))
    for k, network in enumerate(folds):
        own = ~sets.training(k)
        predicted = network.predict(sets.states(k, own), rows.head[own])
        squares[own] = np.square(predicted - sets.outcomes(k, own))
    return np.array([squares[rows.head == a].mean(axis=0) for a in range(rows.heads)])


def _some_steps(
    which: tuple[int, Network],
    sets: TrainingSets,
    ridge: float,
    counts: Floats,
    progress: Progress = silent,
) -> Network:
    dataset, network = which
    inputs = list(network.selected)
    if not inputs:
        return network
    rows = sets.training(dataset)
    first = network.features[0]
    narrow = replace(
        network,
        features=(Layer(first.weights[:, inputs], first.bias), *network.features[1:]),
    )
    loss = _Loss(
        sets.states(dataset, rows)[:, inputs],
        sets.outcomes(dataset, rows),
        sets.rows.head[rows],
        narrow,
        ridge,
        counts,
    )
    progress(0.0, "")
    found = loss.lowered(narrow)
    weights = np.zeros_like(first.weights)
    weights[:, inputs] = found.features[0].weights
    return replace(found, features=(Layer(weights, found.features[0].bias), *found.features[1:]))


class _Loss:
    """Of one network on its training rows."""

    def __init__(
        self,
        states: Floats,
        targets: Floats,
        head: NDArray[np.int64],
        like: Network,
        ridge: float,
        counts: Floats,  # (heads, outputs): how much each outcome does
    ) -> None:
        self._counts, self._ridge = counts, ridge
        own = [_spaced(np.flatnonzero(head == a), MOST_ROWS) for a in range(len(like.heads))]
        self._states = [np.ascontiguousarray(states[rows]) for rows in own]
        self._targets = [np.ascontiguousarray(targets[rows]) for rows in own]
        sizes = [each.weights.size + each.bias.size for each in _layers(like)]
        starts = np.cumsum([0, *sizes])
        self._places = np.array(
            [(at, *each.weights.shape) for at, each in zip(starts, _layers(like), strict=False)]
        )
        of_map, of_head = len(like.features), len(like.heads[0])
        self._size = of_map, of_head
        self._activation = ACTIVATIONS[like.activation]
        #: Where the numbers of each head begin, and where all end.
        self._heads = starts[of_map::of_head].tolist()

    def lowered(self, network: Network) -> Network:
        """The network after some steps, or where it can get no better."""
        theta = _numbers(network)
        loss, slope = self.at(theta)
        damping = FIRST_DAMPING
        for _ in range(STEPS):
            curvature = self._curvature(theta)
            for _ in range(TRIES):
                with suppress(LinAlgError):  # nearly flat: rounding may have bent it upside down
                    further = theta + curvature.step(slope, self._ridge, damping)
                    lower, slope_there = self.at(further)
                    if lower < loss:
                        break
                damping *= HARDER
            else:
                break
            damping = max(damping / EASIER, LEAST_DAMPING)
            gain = (loss - lower) / loss
            theta, loss, slope = further, lower, slope_there
            if gain < LEAST_GAIN:
                break
        return _with_numbers(network, theta)

    def at(self, theta: Floats) -> tuple[float, Floats]:
        """The loss, and minus half of its slope: where to go."""
        total, slope = 0.0, np.zeros_like(theta)
        for a, counts in enumerate(self._counts):
            total += loss_and_slope(
                theta,
                self._places,
                *self._size,
                a,
                self._activation,
                self._states[a],
                self._targets[a],
                counts / len(self._counts),
                slope,
            )
        return float(total + self._ridge * theta @ theta), slope - self._ridge * theta

    def _curvature(self, theta: Floats) -> _Curvature:
        """J'J"""
        shared = self._heads[0]
        of_map = np.zeros((shared, shared))
        between, of_heads = [], []
        for a, every in enumerate(self._states):
            start, end = self._heads[a : a + 2]
            numbers, outputs = shared + end - start, self._targets[a].shape[1]
            most = max(MOST_NUMBERS // numbers, FEWEST_FOR_EACH * numbers) // outputs
            states = np.ascontiguousarray(_spaced(every, most))
            j = np.empty((numbers, len(states) * outputs), dtype=SINGLE)
            roots = np.sqrt(self._counts[a] / (len(states) * len(self._counts)))
            derivatives(theta, self._places, *self._size, a, self._activation, states, roots, j)
            gram = (j @ j.T).astype(np.float64)
            of_map += gram[:shared, :shared]
            between.append(gram[:shared, shared:])
            of_heads.append(gram[shared:, shared:])
        return _Curvature(of_map, tuple(between), tuple(of_heads))


@dataclass(frozen=True)
class _Curvature:
    """J'J in blocks: heads of different actions have nothing in common but the map."""

    of_map: Floats  # (s, s)
    between: tuple[Floats, ...]  # (s, h), of each head
    of_heads: tuple[Floats, ...]  # (h, h)

    def step(self, slope: Floats, ridge: float, damping: float) -> Floats:
        """Solved for the slope: each head in terms of the map, then the map alone (Schur)."""
        shared = len(self.of_map)
        matrix, left = _damped(self.of_map, ridge, damping), slope[:shared].copy()
        parts, start = [], shared
        for between, of_head in zip(self.between, self.of_heads, strict=True):
            end = start + len(of_head)
            factor = cho_factor(_damped(of_head, ridge, damping), overwrite_a=True)
            right = np.column_stack([slope[start:end], between.T])
            solved = cho_solve(factor, right, overwrite_b=True)
            matrix -= between @ solved[:, 1:]
            left -= between @ solved[:, 0]
            parts.append(solved)
            start = end
        of_map = cho_solve(cho_factor(matrix, overwrite_a=True), left)
        return np.concatenate([of_map, *(each[:, 0] - each[:, 1:] @ of_map for each in parts)])


def _damped(block: Floats, ridge: float, damping: float) -> Floats:
    found = block.copy()
    found[np.diag_indices_from(found)] += ridge + damping * np.maximum(np.diag(block), 1e-8)
    return found


def _spaced(rows: NDArray[Any], most: int) -> NDArray[Any]:
    """Evenly spaced ones, no more than `most`."""
    return rows[:: -(-len(rows) // max(1, most))]


def _layers(network: Network) -> list[Layer]:
    return [*network.features, *(layer for head in network.heads for layer in head)]


def _numbers(network: Network) -> Floats:
    """Weights and biases, layer after layer."""
    parts = [part for each in _layers(network) for part in (each.weights.ravel(), each.bias)]
    return np.concatenate(parts)


def _with_numbers(network: Network, numbers: Floats) -> Network:
    sizes = [size for each in _layers(network) for size in (each.weights.size, each.bias.size)]
    parts = iter(np.split(numbers, np.cumsum(sizes)[:-1]))

    def filled(layers: Sequence[Layer]) -> tuple[Layer, ...]:
        return tuple(Layer(next(parts).reshape(old.weights.shape), next(parts)) for old in layers)

    return replace(
        network,
        features=filled(network.features),
        heads=tuple(filled(head) for head in network.heads),
    )
