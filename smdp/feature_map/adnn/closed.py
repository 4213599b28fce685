"""Closed features: maps that predict the utility and their own next values, and no more.

A map that suffices for (U, S') must carry whatever any variable says of its own future. Theorem 3.5
asks for less: that (U, phi(S')) depend on the state through phi(S) only. What is to be predicted is
then made of the map itself, backwards from the utility. Without each fold,

    phi_0 is fitted to U,        phi_r to (U, t_r(S')),    t_r = C_(r-1)^(1/2) phi_(r-1),
    C_r = mean over rows and actions of dU/dz dU/dz' + .9^2 (dt/dz)' (dt/dz),    z = phi_r(S),

U and t standing for what the heads predict of them: a direction of the features counts by how much
it is used, to predict the utility or what counts itself. (With the features all alike, whitened, a
feature that only predicts itself is as good as one that the utility needs, and stays in place of
it: with four variables of that kind beside S1 to S4 the true dimension was rejected in 6 of 6 data
sets, and in none when features count by their use.) A circle that does not reach the utility dies
out, since it is discounted in each round, and nothing can shrink to nothing, since the utility
does not. Directions with less than 1 % of the use are left out. No slope goes through the targets,
so that there is nothing to gain from features that are merely easy to predict.

phi_0 is polished (`polish`) before anything is made of it. From then on all next features together
are divided by their standard deviation, and the utility by sd^(1-e) noise^e, the noise being what
phi_0 leaves: what is certain about the utility must not be given up for next values that are mostly
noise. (With e = 0, two features of the quadratic model were a compromise, worse for the utility
than they need be, whose residuals hid that a third is missing. With e = 1 a third one, which the
utility does not need itself, may not find its place.) That a dimension is enough says that there is
a map of it, so it is rejected only if it is with both e = 1/2 and e = 1 (`closed_and_tested`).

Each round begins with the last map and heads whose last layer is the least-squares one. What is
needed k steps before the utility appears in round k. After the last, networks are polished for the
targets that they have.

C^(1/2) phi is known up to a rotation only, and differs between folds. So that people of different
folds can be compared, each fold's is turned to be as near as possible to that of the first
(Procrustes); what can be predicted from what stays the same.

References: Wang, Laber & Witkiewitz, Theorem 3.5; Grill et al. (2020), "Bootstrap your own latent",
for targets taken from the network itself; Gower (1975), "Generalized Procrustes analysis".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from smdp.feature_map.adnn.polish import polished
from smdp.feature_map.adnn.refit import Architecture, how_to_refit, out_of_fold_residuals
from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.adnn.training import train
from smdp.feature_map.layers import Layer, Network, apply
from smdp.feature_map.network_settings import NetworkSettings
from smdp.feature_map.normal_space import DimensionTested, dimension_test, squared_slopes
from smdp.feature_map.transitions import Scale, TrainingSets
from smdp.independence.pooling import at_most

Floats = NDArray[np.float64]

#: Rounds end once targets have settled.
FEWEST_ROUNDS, ROUNDS, SETTLED = 2, 5, 0.98
#: The step size relative to that of a fit from scratch, and the share of its steps in a round.
RATE, STEPS = 0.5, 0.4
#: Directions with less than this share of the use of all are not predicted.
LEAST_SHARE = 0.01
#: Of a use that is only to predict what is used itself: less than 1, so that circles die out.
DISCOUNT = 0.9
#: Of the utility, one after the other as long as the dimension is rejected.
EMPHASES = (0.5, 1.0)
#: Of the utility's standard deviation, the least that counts as its noise.
LEAST_NOISE = 0.01
RIDGE = 1e-6  # a share of the rows


class UtilitySets(TrainingSets):
    """Training sets whose networks predict the utility alone."""

    def targets(self, which: int) -> Floats:
        return self.rows.outcomes[:, :1]


@dataclass(frozen=True)
class ClosedSets(TrainingSets):
    """Training sets with their own targets: the utility, then features of the next state."""

    following: tuple[Floats, ...] = ()  # of each set, (R, m): t(S')
    noise: float = 0.0  # of the utility, out of fold
    emphasis: float = 0.0  # e: 0 divides the utility by its standard deviation, 1 by its noise

    def targets(self, which: int) -> Floats:
        return np.column_stack([self.rows.outcomes[:, 0], self.following[which]])

    @cached_property
    def scales(self) -> tuple[tuple[Scale, Scale], ...]:
        """The utility by its noise and spread, all next features together by their spread."""
        found = []
        for which in range(len(self.following)):
            used = self.training(which)
            of_targets = Scale.of(self.targets(which)[used])
            of_targets.sd[1:] = np.sqrt(np.square(of_targets.sd[1:]).sum())
            noise = np.clip(self.noise / of_targets.sd[0], LEAST_NOISE, 1.0)
            of_targets.sd[0] *= noise**self.emphasis
            found.append((Scale.of(self.rows.states[used]), of_targets))
        return tuple(found)


@dataclass(frozen=True)
class ClosedFit:
    """Networks without each fold (and, if it was given, the one of all rows, as the last).

    `settled`: the share of the targets of a further round that is linear in those of the last, the
    least of all networks; 1 when nothing changes any more.
    """

    sets: ClosedSets  # with the targets of the last round
    networks: tuple[Network, ...]
    settled: float
    rounds: int


def closed_features(
    sets: TrainingSets,
    networks: Sequence[Network],
    size: Architecture,
    weight_decay: float,
    settings: NetworkSettings,
    *,
    emphasis: float = EMPHASES[0],
    rounds: int = ROUNDS,
    seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> ClosedFit:
    """Maps that predict themselves, from those (of this size) that were fitted to the utility.

    `sets`: what these were fitted to, its first target being the utility.
    """
    start = polished(sets, networks, weight_decay)
    return _closed(sets, start, size, weight_decay, settings, emphasis, rounds, seed, report)


def _closed(
    sets: TrainingSets,
    current: Sequence[Network],  # polished
    size: Architecture,
    weight_decay: float,
    settings: NetworkSettings,
    emphasis: float,
    rounds: int,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> ClosedFit:
    how = how_to_refit(settings)
    steps, rate = int(np.ceil(STEPS * how.steps)), RATE * how.learning_rate
    how = replace(how, steps=steps, learning_rate=rate)
    specs = [
        ModelSpec(
            which,
            size.dimension,
            size.width,
            size.depth,
            inputs=size.inputs,
            weight_decay=weight_decay,
        )
        for which in range(len(current))
    ]
    left = out_of_fold_residuals(sets, current[: sets.rows.folds])[:, 0]
    noise = float(np.sqrt(np.square(left).mean()))
    at_first = following_features(sets, current, first=True)
    targets = ClosedSets(sets.rows, at_first, noise, emphasis)
    for r in range(rounds):
        start = [_with_last_layers(targets, which, each) for which, each in enumerate(current)]
        key = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, r))
        trained = train(
            targets,
            specs,
            how,
            seed=key,
            initial=start,
            report=lambda share, r=r: report((r + share) / rounds),  # type: ignore[misc]
        )
        current = tuple(new if new.finite else old for new, old in zip(trained, start, strict=True))
        following = following_features(targets, current, first=False)
        settled = _explained(following, targets.following)
        if (settled >= SETTLED and r + 1 >= FEWEST_ROUNDS) or r + 1 == rounds:
            final = polished(targets, current, weight_decay, report=lambda share: report(1.0))
            return ClosedFit(targets, final, settled, r + 1)
        targets = replace(targets, following=following)
    raise ValueError("there must be a round")


def closed_and_tested(
    sets: TrainingSets,
    networks: Sequence[Network],
    size: Architecture,
    weight_decay: float,
    settings: NetworkSettings,
    probabilities: Floats,  # (R, heads)
    *,
    level: float,
    seed: np.random.SeedSequence,
    test_seed: np.random.SeedSequence,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[ClosedFit, DimensionTested]:
    """The first fit whose dimension is not rejected; if all are, the one with the largest p-value.

    As in `closed_features`; the level is held by each of the fits, and so by the largest p-value.
    """
    tried: list[tuple[ClosedFit, DimensionTested]] = []
    start = polished(sets, networks, weight_decay)
    for k, emphasis in enumerate(EMPHASES):

        def part(share: float, k: int = k) -> None:
            report((k + share) / len(EMPHASES))

        fit = _closed(sets, start, size, weight_decay, settings, emphasis, ROUNDS, seed, part)
        folds = fit.networks[: sets.rows.folds]
        tested = dimension_test(fit.sets, folds, probabilities, seed=test_seed)
        tried.append((fit, tested))
        if not at_most(tested.p_value, level):
            break
    return max(tried, key=lambda each: each[1].p_value)


def following_features(
    sets: TrainingSets, networks: Sequence[Network], *, first: bool
) -> tuple[Floats, ...]:
    """Of each set, t(S'), (R, m); `first`: only what the first target uses counts."""
    found: list[Floats] = []
    for which, network in enumerate(networks):
        values = _next_features(sets, which, network)
        used = sets.training(which)
        values = (values - values[used].mean(axis=0)) @ _use(sets, which, network, first=first)
        if found:
            left, _, right = np.linalg.svd(values.T @ found[0])
            values = values @ left @ right
        found.append(values)
    spread, axes = np.linalg.eigh(np.mean([each.T @ each for each in found], axis=0))
    axes = axes[:, spread >= LEAST_SHARE * spread.sum()]
    return tuple(each @ axes for each in found)


def _use(sets: TrainingSets, which: int, network: Network, *, first: bool) -> Floats:
    """(q, q): C^(1/2)"""
    rows = sets.training(which)
    z = apply(network.features, network.activation, sets.states(which, rows))
    unit = sets.scales[which][1].sd
    counts = np.zeros(len(unit)) if first else np.square(DISCOUNT * unit)
    counts[0] = 1.0
    total = np.zeros((z.shape[1], z.shape[1]))
    for layers in network.heads:
        total += squared_slopes(layers, network.activation, z, counts)
    total /= len(z) * len(network.heads)
    values, axes = np.linalg.eigh(total)
    return np.asarray((axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T)


def _next_features(sets: TrainingSets, which: int, network: Network) -> Floats:
    following = sets.scales[which][0].standardise(sets.rows.outcomes[:, 1:])
    return apply(network.features, network.activation, following)


def _with_last_layers(sets: ClosedSets, which: int, network: Network) -> Network:
    """The network with the last layer of each head fitted to the targets by least squares."""
    rows = sets.training(which)
    features = apply(network.features, network.activation, sets.states(which, rows))
    targets, head = sets.outcomes(which, rows), sets.rows.head[rows]
    heads = []
    for a, layers in enumerate(network.heads):
        own = head == a
        hidden = apply(layers[:-1], network.activation, features[own])
        x = np.column_stack([np.ones(len(hidden)), hidden])
        gram = x.T @ x + RIDGE * len(x) * np.eye(x.shape[1])
        weights = np.linalg.solve(gram, x.T @ targets[own]).T
        heads.append((*layers[:-1], Layer(weights[:, 1:], weights[:, 0])))
    return replace(network, heads=tuple(heads))


def _explained(new: Sequence[Floats], old: Sequence[Floats]) -> float:
    """The share of the new targets that is linear in the old ones; of all sets the least."""
    shares = []
    for now, before in zip(new, old, strict=True):
        x = np.column_stack([np.ones(len(before)), before])
        left = now - x @ np.linalg.lstsq(x, now, rcond=None)[0]
        shares.append(1 - np.square(left).sum() / np.square(now - now.mean(axis=0)).sum())
    return float(min(shares))
