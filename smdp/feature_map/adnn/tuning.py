"""Width, depth and penalty by cross-validation over subjects, for each candidate dimension.

The loss of a candidate is the mean over held-out rows of |prediction - Y|^2, with Y standardised
by the training folds. Among the candidates of one dimension, the sparsest is taken whose loss
exceeds the lowest by no more than one standard error of their *paired* difference over the folds.
Only differences matter, and folds differ more from each other than candidates do.

Reference: Hastie, Tibshirani & Friedman (2009), "The elements of statistical learning", 7.10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.adnn.specification import HowToTrain, ModelSpec, failures
from smdp.feature_map.adnn.training import train
from smdp.feature_map.layers import Network
from smdp.feature_map.network_settings import NetworkSettings
from smdp.feature_map.transitions import TrainingSets

#: How much harder weak columns are penalised in the polish. (In proportion to 1 / norm, as the
#: adaptive lasso has it, true variables go.)
HARDER = 10.0
#: The step size of the polish relative to that of training: it only settles what is there.
POLISH_RATE = 0.1
#: The share of the loss by which dimensions may differ and count as equally good.
NEGLIGIBLE = 0.01


#: Dimension, width, depth and penalty.
Key = tuple[int, int, int, float]


@dataclass(frozen=True, eq=False)
class Chosen:
    """What cross-validation chose for one dimension."""

    dimension: int
    width: int
    depth: int
    penalty: float
    losses: NDArray[np.float64]  # of each fold

    @property
    def loss(self) -> float:
        return float(self.losses.mean())

    @property
    def key(self) -> Key:
        return (self.dimension, self.width, self.depth, self.penalty)


@dataclass(frozen=True, eq=False)
class Tuned(Chosen):
    """And its network: penalised and polished, trained on all rows."""

    network: Network


def default_widths(columns: int) -> tuple[int, ...]:
    return (20,) if columns <= 8 else (40,)


def how_to_select(settings: NetworkSettings) -> HowToTrain:
    """Penalised training."""
    return HowToTrain(
        interpretable=settings.interpretable,
        activation=settings.activation,
        steps=settings.steps,
        batch=settings.batch,
        learning_rate=settings.learning_rate,
        penalised=True,
        updates=settings.turns,
    )


def tune(
    sets: TrainingSets,
    dimensions: Sequence[int],
    settings: NetworkSettings,
    *,
    seed: np.random.SeedSequence,
    keep: Callable[[list[Chosen]], list[Chosen]] = lambda chosen: chosen,
    known: dict[Key, NDArray[np.float64]] | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> tuple[list[Tuned], list[str]]:
    """For each dimension the chosen network, and notes on candidates that had to be left out.

    `keep`: which dimensions to go on with, by their losses; only these are trained on all rows.
    `known`: losses by fold from earlier calls with the same seed, which are not measured again; new
    ones join them.
    """
    how = how_to_select(settings)
    known = {} if known is None else known
    candidates = grid(sets, dimensions, settings)
    specs = [spec for spec in candidates if _key(spec) not in known]
    networks = train(sets, specs, how, seed=seed, report=lambda share: report(0.7 * share))
    losses: dict[Key, list[float]] = {}
    for spec, network in zip(specs, networks, strict=True):
        losses.setdefault(_key(spec), []).append(held_out_loss(sets, spec.dataset, network))
    known.update({key: np.array(loss) for key, loss in losses.items()})
    failed = [s for s in candidates if not np.isfinite(known[_key(s)][s.dataset])]
    mine = {_key(spec): known[_key(spec)] for spec in candidates}
    usable = {key: loss for key, loss in mine.items() if np.isfinite(loss).all()}
    whole: dict[Key, Network] = {}
    while True:
        kept = keep([_chosen(q, usable, failed, settings) for q in dimensions])
        specs = [_spec(each.key, sets.everything, settings) for each in kept]
        specs = [spec for spec in specs if _key(spec) not in whole]
        if not specs:
            break
        networks = train(
            sets, specs, how, seed=seed, report=lambda share: report(0.7 + 0.1 * share)
        )
        for spec, network in zip(specs, networks, strict=True):
            whole[_key(spec)] = network
            if not network.finite:
                failed.append(spec)
                del usable[_key(spec)]
    tuned = [Tuned(*each.key, each.losses, whole[each.key]) for each in kept]
    polished = _polish(sets, tuned, settings, seed, lambda share: report(0.8 + 0.2 * share))
    notes = [failures(failed, settings.activation)] if failed else []
    return [replace(each, network=new) for each, new in zip(tuned, polished, strict=True)], notes


def _key(spec: ModelSpec) -> Key:
    return (spec.dimension, spec.width, spec.depth, spec.penalty)


def _spec(key: Key, dataset: int, settings: NetworkSettings) -> ModelSpec:
    return ModelSpec(dataset, *key, weight_decay=settings.weight_decay)


def _chosen(
    q: int,
    losses: dict[Key, NDArray[np.float64]],
    failed: list[ModelSpec],
    settings: NetworkSettings,
) -> Chosen:
    own = {key: loss for key, loss in losses.items() if key[0] == q}
    if not own:
        notes = failures(failed, settings.activation)
        raise DataError(f"No network of dimension {q} could be trained.", notes)
    key = one_standard_error(own)
    return Chosen(*key, own[key])


def grid(
    sets: TrainingSets, dimensions: Sequence[int], settings: NetworkSettings
) -> list[ModelSpec]:
    """Every candidate without each fold."""
    return [
        _spec((q, width, depth, penalty), dataset, settings)
        for q in dimensions
        for width in settings.widths or default_widths(sets.rows.columns)
        for depth in settings.depths
        for penalty in settings.penalties
        for dataset in range(sets.rows.folds)
    ]


def held_out_loss(sets: TrainingSets, dataset: int, network: Network) -> float:
    """The mean squared error, summed over outcomes, on the rows not trained on."""
    if not network.finite:
        return float("nan")
    held_out = ~sets.training(dataset)
    predicted = network.predict(sets.states(dataset, held_out), sets.rows.head[held_out])
    return float(np.square(predicted - sets.outcomes(dataset, held_out)).sum(axis=1).mean())


def one_standard_error(
    losses: dict[Key, NDArray[np.float64]],
) -> Key:
    """The sparsest candidate that is not clearly worse than the best: losses by fold, paired."""
    best = min(losses.values(), key=lambda each: each.mean())
    # A larger penalty is sparser; then the smaller network.
    return min(
        (key for key, each in losses.items() if not clearly_worse(each, best)),
        key=lambda key: (-key[3], key[2], key[1]),
    )


def smallest_dimension(chosen: Sequence[Chosen]) -> Chosen:
    """Of what was chosen for each dimension, the smallest that is not clearly worse than the best.

    Losses that differ by `NEGLIGIBLE` count as equal: beyond the dimension that suffices they still
    fall a little, since wider bottlenecks are easier to train, and folds agree about it.
    """
    best = min(chosen, key=lambda each: each.loss)
    limit = best.losses * (1 + NEGLIGIBLE)
    return min(
        (each for each in chosen if not clearly_worse(each.losses, limit)),
        key=lambda each: each.dimension,
    )


def clearly_worse(losses: NDArray[np.float64], best: NDArray[np.float64]) -> bool:
    """By more than one standard error of the paired difference over the folds."""
    difference = losses - best
    return bool(difference.mean() > difference.std(ddof=1) / np.sqrt(len(difference)))


def _polish(
    sets: TrainingSets,
    tuned: Sequence[Tuned],
    settings: NetworkSettings,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> list[Network]:
    """Steps on all rows at once, without the noise of minibatches, for exact zeros."""
    start = [each.network for each in tuned]
    if settings.polish_steps == 0:
        return start
    how = HowToTrain(
        interpretable=settings.interpretable,
        activation=settings.activation,
        steps=settings.polish_steps,
        batch=None,
        learning_rate=POLISH_RATE * settings.learning_rate,
        penalised=True,
        updates=settings.turns,
        harder_below=settings.weak_columns,
        harder=HARDER,
    )
    specs = [_spec(each.key, sets.everything, settings) for each in tuned]
    polished = train(sets, specs, how, seed=seed, initial=start, report=report)
    return [new if new.finite else old for new, old in zip(polished, start, strict=True)]
