"""Algorithm 2 for many networks: minibatches, Adam, and a proximal step.

At each step and for each network, the loss is the mean over the actions of the mean over a
minibatch of that action's rows of |prediction - Y|^2 (standardised). The first layer W moves by

    W <- prox_{eta lambda}(W - eta m),    eta = rate / (sqrt(v) + eps)

with m Adam's running mean of the gradient and v that of its mean square over all of W: with one
step size for each network, block soft-thresholding is the exact proximal operator. All other
weights have Adam's own steps, with decoupled weight decay. The rate follows half a cosine to 0.

Reference: Wang, Laber & Witkiewitz, Algorithm 2 (descending: the printed plus sign is a slip);
Kingma & Ba (2015), "Adam"; Loshchilov & Hutter (2019), "Decoupled weight decay regularization".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.feature_map.adnn.compiled_layers import ACTIVATIONS
from smdp.feature_map.adnn.compiled_steps import take_steps
from smdp.feature_map.adnn.initial_network import initial_network
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec
from smdp.feature_map.layers import Layer, Network
from smdp.feature_map.transitions import TrainingSets
from smdp.parallel import each
from smdp.progress import Progress, silent

Single = NDArray[np.float32]

#: Networks of one training set that are one piece of work at the most.
TOGETHER = 60
#: Products between two looks whether to go on: a fraction of a second.
AT_A_STRETCH = 300_000_000


def train(
    sets: TrainingSets,
    specs: Sequence[ModelSpec],
    how: HowToTrain,
    *,
    seed: np.random.SeedSequence,
    initial: Sequence[Network] | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> list[Network]:
    """The trained networks, in the order of the specifications.

    A network depends on its specification, the seed and how to train, not on its company or on
    the number of threads. One whose loss became infinite has weights that are not finite.
    """
    rows = sets.rows
    starts = initial or [
        initial_network(
            spec,
            rows.columns,
            sets.outputs,
            rows.heads,
            interpretable=how.interpretable,
            activation=how.activation,
            seed=seed,
        )
        for spec in specs
    ]
    pieces = list(_pieces(specs))
    done = np.cumsum([0, *map(len, pieces)]) / max(1, len(specs))

    def progress(k: int) -> Progress:
        return lambda share, what: report(done[k] + share * (done[k + 1] - done[k]))

    work = [([specs[m] for m in piece], [starts[m] for m in piece]) for piece in pieces]
    found: dict[int, Network] = {}
    trained = each(_train_some, work, sets, how, seed, progress=progress)
    for piece, networks in zip(pieces, trained, strict=True):
        found.update(zip(piece, networks, strict=True))
    return [found[m] for m in range(len(specs))]


def _pieces(specs: Sequence[ModelSpec]) -> Iterator[list[int]]:
    """Networks of one training set."""
    for dataset in sorted({spec.dataset for spec in specs}):
        alike = [m for m, spec in enumerate(specs) if spec.dataset == dataset]
        parts = -(-len(alike) // TOGETHER)
        for k in range(parts):
            yield alike[len(alike) * k // parts : len(alike) * (k + 1) // parts]


def _train_some(
    piece: tuple[Sequence[ModelSpec], Sequence[Network]],
    sets: TrainingSets,
    how: HowToTrain,
    seed: np.random.SeedSequence,
    progress: Progress = silent,
) -> list[Network]:
    specs, starts = piece
    rows = _Rows.of(sets, specs[0].dataset, how, seed)
    found = []
    for m, (spec, start) in enumerate(zip(specs, starts, strict=True)):

        def report(share: float, m: int = m) -> None:
            progress((m + share) / len(specs), "")

        found.append(_train_one(rows, spec, start, how, report))
    return found


@dataclass(frozen=True)
class _Rows:
    """One training set, standardised, and which of its rows each step takes."""

    states: Single  # (R, p)
    outcomes: Single  # (R, outputs)
    order: NDArray[np.int32]  # (heads, rows)
    lengths: NDArray[np.int64]  # (heads,): how many of them there are
    of_variable: NDArray[np.int64]  # (p,): columns of one variable have the same number

    @classmethod
    def of(
        cls, sets: TrainingSets, dataset: int, how: HowToTrain, seed: np.random.SeedSequence
    ) -> _Rows:
        orders = [_order(sets, dataset, a, how, seed) for a in range(sets.rows.heads)]
        lengths = np.array([len(order) for order in orders])
        together = np.zeros((len(orders), lengths.max()), dtype=np.int32)
        for a, order in enumerate(orders):
            together[a, : len(order)] = order
        states, outcomes = sets.states(dataset), sets.outcomes(dataset)
        single = (states.astype(np.float32), outcomes.astype(np.float32))
        of_variable = np.array(sets.rows.of_variable or range(sets.rows.columns))
        return cls(*single, together, lengths, of_variable)


def _order(
    sets: TrainingSets, dataset: int, head: int, how: HowToTrain, seed: np.random.SeedSequence
) -> NDArray[np.int64]:
    """The training rows of an action, shuffled anew each time all have been used."""
    rows = np.flatnonzero(sets.training(dataset) & (sets.rows.head == head))
    if how.batch is None:
        return rows
    # 2**32 - 1: a key that no network's random start has.
    key = (*seed.spawn_key, 2**32 - 1, dataset, head)
    random = np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))
    needed = how.steps * how.batch
    shuffled = [random.permutation(rows) for _ in range(-(-needed // len(rows)))]
    return np.concatenate(shuffled)[:needed]


def _train_one(
    rows: _Rows,
    spec: ModelSpec,
    start: Network,
    how: HowToTrain,
    report: Callable[[float], None],
) -> Network:
    first = start.features[0]
    columns = first.weights.shape[1]
    inputs = list(range(columns) if spec.inputs is None else spec.inputs)
    narrow = Layer(first.weights[:, inputs], first.bias)
    layers = [narrow, *start.features[1:], *(layer for head in start.heads for layer in head)]
    theta, places = _in_one(layers)
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    running, counts = np.zeros(1), np.zeros(2 + len(start.heads), dtype=np.int64)
    states = np.ascontiguousarray(rows.states[:, inputs])
    variables, group = np.unique(rows.of_variable[inputs], return_inverse=True)
    a_step = len(theta) * (how.batch * len(rows.order) if how.batch else len(states))
    stretch = max(1, AT_A_STRETCH // max(1, a_step))
    for step in range(0, how.steps, stretch):
        report(step / how.steps)
        take_steps(
            theta,
            mean,
            square,
            running,
            counts,
            places,
            len(start.features),
            len(start.heads[0]),
            len(start.heads),
            ACTIVATIONS[how.activation],
            states,
            rows.outcomes,
            rows.order,
            rows.lengths,
            how.batch or 0,
            step,
            min(how.steps, step + stretch),
            how.steps,
            how.learning_rate,
            float(spec.weight_decay),
            how.penalised,
            float(spec.penalty),
            float(how.harder_below),
            float(how.harder),
            group,
            len(variables),
            how.updates == "alternating",
        )
    return _with(start, theta, places, inputs)


def _in_one(layers: Sequence[Layer]) -> tuple[Single, NDArray[np.int64]]:
    """All weights and biases as one array, and the place, outputs and inputs of each layer."""
    parts = [part for layer in layers for part in (layer.weights.ravel(), layer.bias)]
    sizes = [layer.weights.size + layer.bias.size for layer in layers]
    starts = np.cumsum([0, *sizes[:-1]])
    places = [(at, *layer.weights.shape) for at, layer in zip(starts, layers, strict=True)]
    return np.concatenate(parts).astype(np.float32), np.array(places, dtype=np.int64)


def _with(
    start: Network, theta: Single, places: NDArray[np.int64], inputs: Sequence[int]
) -> Network:
    """The network with these weights and biases; inputs that it may not use have none."""
    numbers = theta.astype(np.float64)
    layers = []
    for at, out, into in places.tolist():
        weights = numbers[at : at + out * into].reshape(out, into)
        layers.append(Layer(weights, numbers[at + out * into : at + out * into + out]))
    wide = np.zeros_like(start.features[0].weights)
    wide[:, inputs] = layers[0].weights
    layers[0] = Layer(wide, layers[0].bias)
    of_map, of_head = len(start.features), len(start.heads[0])
    return replace(
        start,
        features=tuple(layers[:of_map]),
        heads=tuple(tuple(layers[k : k + of_head]) for k in range(of_map, len(layers), of_head)),
    )
