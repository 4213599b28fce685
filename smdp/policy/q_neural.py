"""A neural Q-function and its refits by fitted Q iteration.

A network with one output for each action follows targets U + gamma max_b Q(S', b) that a copy of
it makes, refreshed every 100 steps and clipped to [min U, max U] / (1 - gamma), outside of which no
Q-value can be. The level of Q, which would need some 1 / (1 - gamma) refreshes, is set in one: if
targets exceed Q by r on average, adding c = r / (1 - gamma) to Q makes r 0, for then targets rise
by gamma c.

Reference: Riedmiller (2005), "Neural fitted Q iteration"; Ernst, Geurts & Wehenkel (2005),
"Tree-based batch mode reinforcement learning"; Bertsekas & Castanon (1989), "Adaptive aggregation
methods for infinite horizon dynamic programming" (the level); Kingma & Ba (2015), "Adam".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from smdp.feature_map.layers import Layer
from smdp.policy.decision_rows import DecisionRows
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import FittedQ, q_function
from smdp.pools import among_threads, one_thread
from smdp.progress import Progress

BATCH = 128
LEARNING_RATE = 1e-3
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
#: Steps between two refreshes of the targets.
REFRESH = 100
#: Rows that the next steps are drawn from, at random if there are more: bounds the time.
ROWS_IN_USE = 20_000
#: Rows whose Q-values are computed at once: bounds the memory.
ROWS_AT_ONCE = 4096
#: Next states at which the change from one refresh to the next is watched.
WATCHED = 2000
#: Settled: over the last refreshes, what states gain by switching their best action is below this
#: share of the mean margin between the actions ..
STILL_GAINING = 0.001
LAST = 3
#: .. and targets differ from Q on average by less than this many standard deviations of U.
STILL_MOVING = 0.1


def neural_q(
    rows: DecisionRows,
    samples: NDArray[np.int64],  # (B, subjects): how often each subject is in each resample
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> FittedQ:
    """Fitted Q iteration of the trial and all resamples at once."""
    every = np.ones((1, rows.subjects), dtype=np.int64)
    with _one_thread():
        # On its own, so that its bits do not depend on how many refits there are.
        trial = _Training(rows, every, settings, seed, 0)
        trial.run(lambda share: progress(share / (1 + len(samples) / 5), "Training the network"))
        networks = trial.networks()
        if len(samples):
            done = 1 / (1 + len(samples) / 5)
            refits = _Training(rows, samples, settings, seed, 1)
            refits.run(lambda share: progress(done + (1 - done) * share, "Refits"))
            networks += refits.networks()
    notes = []
    if not trial.converged:
        notes.append(
            "The network did not settle: at the end, "
            f"{np.mean(trial.switched[-LAST:]):.1%} of the states still changed their best action, "
            f"and targets differed from Q-values by {abs(trial.residual):.2g} standard deviations "
            "of the utility on average. More steps or a smaller discount may help."
        )
    return FittedQ(
        functions=tuple(q_function(rows, layers) for layers in networks),
        change=tuple(trial.change),
        switched=tuple(trial.switched),
        converged=trial.converged,
        notes=tuple(notes),
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums are split between threads: only with a fixed number of them are the bits the same.

    Numbers too small for full precision become 0: running means of gradients that have vanished
    would take most of the time.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    try:
        with one_thread():
            yield
    finally:
        torch.set_flush_denormal(False)
        if not among_threads():
            torch.set_num_threads(threads)


class _Training:
    """M networks with a leading axis for the network, and gradient and Adam written out.

    At this size, torch's own bookkeeping takes longer than the arithmetic. Utilities are centred
    and scaled; `networks` are in the utility's own units.
    """

    def __init__(
        self,
        rows: DecisionRows,
        samples: NDArray[np.int64],  # (M, subjects)
        settings: PolicySettings,
        seed: int,
        first: int,  # the number of the first network, for its random numbers
    ) -> None:
        self._rows, self._settings = rows, settings
        self._mean, self._sd = float(rows.utility.mean()), float(rows.utility.std()) or 1.0
        self._utility = _single((rows.utility - self._mean) / self._sd)
        self._bounds = [
            float(v) / (1 - settings.discount) for v in (self._utility.min(), self._utility.max())
        ]
        self._features, self._following = _single(rows.features), _single(rows.following)
        self._level = torch.from_numpy(rows.level)[:, None]
        self._counts = samples
        self._randoms = [
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2, first + m)))
            for m in range(len(samples))
        ]
        sizes = [rows.features.shape[1], settings.width, settings.width, rows.levels]
        self._flat = _single(np.stack([_random_start(sizes, each) for each in self._randoms]))
        self._flat_gradient = torch.zeros_like(self._flat)
        self._layers = _layers(self._flat, sizes)
        self._gradients = _layers(self._flat_gradient, sizes)
        self._adam_mean, self._adam_square = (torch.zeros_like(self._flat) for _ in range(2))
        self._forced = torch.from_numpy(rows.forced)
        ruled_out = ~rows.choices & ~rows.forced[:, None]
        self._ruled_out = torch.from_numpy(ruled_out) if ruled_out.any() else None
        watched = np.linspace(0, len(rows.level) - 1, min(WATCHED, len(rows.level)))
        self._watched = self._following[watched.astype(np.int64)]
        self._seen = self._look()
        self.residual = float("nan")
        self._gained: list[float] = []
        self.change: list[float] = []
        self.switched: list[float] = []

    @property
    def converged(self) -> bool:
        """Of the first network."""
        late = self._gained[-LAST:]
        settled = len(late) == LAST and np.mean(late) <= STILL_GAINING
        return bool(settled and abs(self.residual) <= STILL_MOVING)

    def run(self, report: Callable[[float], None]) -> None:
        steps = self._settings.steps
        for start in range(0, steps, REFRESH):
            report(start / steps)
            in_use, order = self._draw()
            targets = self._targets(in_use)
            features, level = self._features[in_use], self._level[in_use]
            for step in range(start, min(start + REFRESH, steps)):
                rows = order[step - start]  # (M, BATCH)
                self._gradient(features[rows], level[rows], targets.gather(1, rows))
                self._move(step)
            self._watch()
        self._targets(self._draw()[0])

    def _draw(self) -> tuple[Tensor, Tensor]:
        """(N,): the rows in use; (REFRESH, M, BATCH): which of them each coming step takes."""
        count = len(self._rows.level)
        in_use = np.arange(count)
        if count > ROWS_IN_USE:
            in_use = np.sort(self._randoms[0].choice(count, ROWS_IN_USE, replace=False))
        subject = self._rows.subject[in_use]
        drawn = []
        for counts, random in zip(self._counts, self._randoms, strict=True):
            own = np.repeat(np.arange(len(in_use)), counts[subject])
            drawn.append(own[random.integers(0, len(own), (REFRESH, BATCH))])
        return torch.from_numpy(in_use), torch.from_numpy(np.stack(drawn, axis=1))

    def _forward(self, inputs: Tensor) -> list[Tensor]:
        """What comes out of each layer: (M, rows, out) from (M, rows, q)."""
        found = []
        for k, (weights, bias) in enumerate(self._layers):
            inputs = torch.baddbmm(bias, inputs, weights)
            if k < len(self._layers) - 1:
                inputs = inputs.relu_()
            found.append(inputs)
        return found

    def _gradient(self, inputs: Tensor, level: Tensor, targets: Tensor) -> None:
        """Of the mean over the batch of {Q(s, a) - target}^2, for each network."""
        outputs = self._forward(inputs)
        error = outputs[-1].gather(2, level) - targets[:, :, None]
        slope = torch.zeros_like(outputs[-1]).scatter_(2, level, error.mul_(2 / BATCH))
        for k in range(len(self._layers) - 1, -1, -1):
            weights, bias = self._gradients[k]
            below = outputs[k - 1] if k else inputs
            torch.bmm(below.transpose(1, 2), slope, out=weights)
            torch.sum(slope, dim=1, keepdim=True, out=bias)
            if k:
                slope = torch.bmm(slope, self._layers[k][0].transpose(1, 2))
                slope = torch.ops.aten.threshold_backward(slope, below, 0.0)

    def _move(self, step: int) -> None:
        """One step of Adam."""
        gradient, mean, square = self._flat_gradient, self._adam_mean, self._adam_square
        mean.lerp_(gradient, 1 - BETA1)
        square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        correction = math.sqrt(1 - BETA2 ** (step + 1))
        rate = LEARNING_RATE * (1 - step / self._settings.steps) / (1 - BETA1 ** (step + 1))
        root = square.sqrt().add_(EPSILON * correction)
        self._flat.addcdiv_(mean, root, value=-rate * correction)

    def _targets(self, in_use: Tensor) -> Tensor:
        """(M, N): u + gamma times the value of the next state, as far as it is possible.

        The level of Q is set first.
        """
        utility, gamma = self._utility[in_use], self._settings.discount
        own = self._q(self._features[in_use])
        own = own.gather(2, self._level[in_use].expand(len(own), -1, -1))[:, :, 0]
        values = self._next_values(in_use)
        targets = (utility + gamma * values).clamp_(*self._bounds)
        weight = _single(self._counts[:, self._rows.subject[in_use.numpy()]].astype(np.float64))
        residual = ((targets - own) * weight).sum(dim=1) / weight.sum(dim=1)
        self.residual = float(residual[0])
        raised = (residual / (1 - gamma))[:, None]
        self._layers[-1][1].add_(raised[:, :, None])
        return (utility + gamma * (values + raised)).clamp_(*self._bounds)

    def _next_values(self, in_use: Tensor) -> Tensor:
        """(M, N): the largest Q-value of an action that is possible in the next state."""
        q = self._q(self._following[in_use])
        actions = q[:, :, : self._rows.actions]
        own_level = self._rows.levels > self._rows.actions
        without = q[:, :, -1] if own_level else actions.mean(dim=2)
        if self._ruled_out is not None:
            actions = actions.masked_fill(self._ruled_out[in_use], -torch.inf)
        return torch.where(self._forced[in_use], without, actions.amax(dim=2))

    def _q(self, features: Tensor) -> Tensor:
        """(M, N, levels): of features (N, q)."""
        parts = features.split(ROWS_AT_ONCE)
        return torch.cat(
            [self._forward(part.expand(len(self._flat), -1, -1))[-1] for part in parts], dim=1
        )

    def _look(self) -> Tensor:
        """(watched, K): Q-values of the first network."""
        return self._q(self._watched)[0, :, : self._rows.actions].clone()

    def _watch(self) -> None:
        before, self._seen = self._seen, self._look()
        self.change.append(self._sd * float((self._seen - before).square().mean().sqrt()))
        formerly = before.argmax(dim=1, keepdim=True)
        self.switched.append(
            float((self._seen.argmax(dim=1, keepdim=True) != formerly).float().mean())
        )
        best, second = self._seen.topk(2, dim=1).values.unbind(dim=1)
        gained = (best - self._seen.gather(1, formerly)[:, 0]).mean()
        self._gained.append(float(gained) / max(float((best - second).mean()), EPSILON))

    def networks(self) -> list[list[Layer]]:
        found = []
        for m in range(len(self._flat)):
            *hidden, last = [
                Layer(w[m].numpy().T.astype(np.float64), b[m, 0].numpy().astype(np.float64))
                for w, b in self._layers
            ]
            bias = last.bias * self._sd + self._mean / (1 - self._settings.discount)
            found.append([*hidden, Layer(last.weights * self._sd, bias)])
        return found


def _single(values: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _layers(flat: Tensor, sizes: Sequence[int]) -> list[tuple[Tensor, Tensor]]:
    """Views of flat parameters (M, P): weights (M, in, out) and biases (M, 1, out)."""
    found, start = [], 0
    for into, out in pairwise(sizes):
        both = flat[:, start : start + (into + 1) * out].unflatten(1, (into + 1, out))
        found.append((both[:, :-1], both[:, -1:]))
        start += (into + 1) * out
    return found


def _random_start(sizes: Sequence[int], random: np.random.Generator) -> NDArray[np.float64]:
    """(P,): uniform weights and biases with variance 1 / (3 inputs)."""
    drawn = [
        random.uniform(-1, 1, (into + 1) * out) / np.sqrt(into) for into, out in pairwise(sizes)
    ]
    return np.concatenate(drawn)
