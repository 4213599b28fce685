"""Algorithm 2 for many networks at once: minibatches, Adam, and a proximal step.

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

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from smdp.feature_map.adnn.minibatches import Minibatches
from smdp.feature_map.adnn.network import BatchedLayer, BatchedNetwork, initial_network
from smdp.feature_map.adnn.prox import block_soft_threshold
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec
from smdp.feature_map.layers import Network
from smdp.feature_map.transitions import TrainingSets
from smdp.parallel import each
from smdp.progress import Progress, silent

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

#: Steps between two reports of progress.
REPORT_EVERY = 20

#: Numbers held by the activations of one batch of networks: bounds the memory.
LARGEST_BATCH = 30_000_000

#: Weights of one batch of networks: with twice as many, training was slower by a quarter.
MOST_WEIGHTS = 3_000_000


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
    parts = list(_batches_of_models(sets, specs, how))
    before = np.cumsum([0, *map(len, parts)]) / max(1, len(specs))

    def progress(k: int) -> Progress:
        return lambda share, what: report(before[k] + share * (before[k + 1] - before[k]))

    batches = [([specs[m] for m in part], [starts[m] for m in part]) for part in parts]
    trained = each(_train_on_one_thread, batches, sets, how, seed, progress=progress)
    found: dict[int, Network] = {}
    for part, networks in zip(parts, trained, strict=True):
        found.update(zip(part, networks, strict=True))
    return [found[m] for m in range(len(specs))]


def _train_on_one_thread(
    batch: tuple[Sequence[ModelSpec], Sequence[Network]],
    sets: TrainingSets,
    how: HowToTrain,
    seed: np.random.SeedSequence,
    progress: Progress = silent,
) -> list[Network]:
    with one_thread():
        return _train_batch(sets, *batch, how, seed, lambda share: progress(share, ""))


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are split between threads: only with a fixed number of them are the bits the same.

    Numbers too small for full precision become 0: running means of gradients that have vanished
    would take most of the time.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(threads)


def _batches_of_models(
    sets: TrainingSets, specs: Sequence[ModelSpec], how: HowToTrain
) -> Iterator[list[int]]:
    """Networks of one depth, as many as fit into memory."""
    rows = how.batch * sets.rows.heads if how.batch else len(sets.rows.states)
    for depth in sorted({spec.depth for spec in specs}):
        alike = [m for m, spec in enumerate(specs) if spec.depth == depth]
        widest = max(specs[m].width * 2 * depth + specs[m].dimension for m in alike)
        numbers = rows * (widest + 2 * sets.outputs)
        weights = max(_weights(sets, specs[m]) for m in alike)
        at_once = max(1, min(LARGEST_BATCH // numbers, MOST_WEIGHTS // weights))
        # Of nearly equal size, so that none is left with a few.
        parts = -(-len(alike) // at_once)
        for k in range(parts):
            yield alike[len(alike) * k // parts : len(alike) * (k + 1) // parts]


def _weights(sets: TrainingSets, spec: ModelSpec) -> int:
    """About how many weights a network has."""
    rows, width = sets.rows, spec.width
    outputs = sets.outputs * rows.heads
    within = (spec.depth - 1) * width * (1 + rows.heads)
    return width * (rows.columns + spec.dimension * (1 + rows.heads) + within + outputs)


def _train_batch(
    sets: TrainingSets,
    specs: Sequence[ModelSpec],
    starts: Sequence[Network],
    how: HowToTrain,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> list[Network]:
    network = BatchedNetwork(starts, [spec.inputs for spec in specs])
    data = Minibatches(sets, [spec.dataset for spec in specs], how, seed)
    heads = list(range(sets.rows.heads))
    together = [heads] if how.updates == "joint" else [[a] for a in heads]
    first = _FirstLayer(network.features[0], specs, how) if how.penalised else None
    shared = network.features[1:] if how.penalised else network.features
    biases = [network.features[0].bias] if how.penalised else []
    decay = torch.tensor([spec.weight_decay for spec in specs])[:, None, None]
    map_optimiser = _Adam(shared, decay, how, biases)
    head_optimisers = [
        _Adam([layer for a in group for layer in network.heads[a]], decay, how)
        for group in together
    ]
    layers = [*network.features, *(layer for head in network.heads for layer in head)]
    for step in range(how.steps):
        if step % REPORT_EVERY == 0:
            report(step / how.steps)
        rate = how.learning_rate * 0.5 * (1 + math.cos(math.pi * step / how.steps))
        for group, head_optimiser in zip(together, head_optimisers, strict=True):
            _loss(network, data, group, step).backward()
            for layer in layers:
                layer.mask_gradient()
            for optimiser in (map_optimiser, head_optimiser):
                optimiser.step(rate)
            if first is not None:
                first.step(rate)
    return network.unpack()


def _loss(network: BatchedNetwork, data: Minibatches, heads: list[int], step: int) -> Tensor:
    """The sum over the networks of each one's mean loss on this step's rows."""
    batches = [data.rows(a, step) for a in heads]
    features = network.map(data.states(torch.cat(batches, dim=1)))
    total = torch.zeros(())
    for a, rows, own in zip(
        heads, batches, features.split([b.shape[1] for b in batches], dim=1), strict=True
    ):
        error = network.predict(own, a) - data.outcomes(rows)
        total = total + error.square().sum() / (rows.shape[1] * len(heads))
    return total


class _Adam:
    """Adam with decoupled weight decay, of each network its own: weights decay, biases do not."""

    def __init__(
        self,
        layers: Sequence[BatchedLayer],
        decay: Tensor,  # (M, 1, 1)
        how: HowToTrain,
        more: Sequence[Tensor] = (),
    ) -> None:
        self._weights, self._decay = [layer.weights for layer in layers], decay
        parameters = [*self._weights, *(layer.bias for layer in layers), *more]
        self._adam = torch.optim.Adam(
            parameters, lr=how.learning_rate, betas=(BETA1, BETA2), eps=EPSILON, fused=True
        )

    def step(self, rate: float) -> None:
        with torch.no_grad():
            for weights in self._weights:
                weights.mul_(1 - rate * self._decay)
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        self._adam.zero_grad()


class _FirstLayer:
    """The penalised first layer: Adam with one step size for each network, then the prox."""

    def __init__(self, layer: BatchedLayer, specs: Sequence[ModelSpec], how: HowToTrain) -> None:
        self._layer, self._how = layer, how
        self._penalty = torch.tensor([spec.penalty for spec in specs])[:, None, None]
        self._size = torch.tensor([float(np.prod(size)) for size in layer.sizes])
        self._mean = torch.zeros_like(layer.weights)
        self._square = torch.zeros(len(specs))
        self._steps = 0

    def step(self, rate: float) -> None:
        gradient = self._layer.weights.grad
        assert gradient is not None
        self._steps += 1
        self._mean.mul_(BETA1).add_(gradient, alpha=1 - BETA1)
        square = gradient.square().sum((1, 2)) / self._size
        self._square.mul_(BETA2).add_(square, alpha=1 - BETA2)
        root = (self._square / (1 - BETA2**self._steps)).sqrt()
        eta = (rate / (root + EPSILON))[:, None, None]
        with torch.no_grad():
            weights = self._layer.weights
            moved = weights - eta * self._mean / (1 - BETA1**self._steps)
            weights.copy_(block_soft_threshold(moved, eta * self._penalty * self._factor(moved)))
        self._layer.weights.grad = None

    def _factor(self, weights: Tensor) -> Tensor | float:
        """(M, p, 1): how many times its penalty each column has."""
        if self._how.harder_below == 0:
            return 1.0
        norms = weights.norm(dim=2, keepdim=True)
        weak = norms < self._how.harder_below * norms.amax(dim=1, keepdim=True)
        return torch.where(weak, self._how.harder, 1.0)
