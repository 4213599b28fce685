"""The smallest dimension whose map is not rejected, for one set of variables.

Candidates are tried upwards, a few at a time as one batch. For each: width, depth and penalty by
cross-validation, variables from the penalised fit, then the unpenalised refit and both tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from smdp.feature_map.layers import apply
from smdp.feature_map.refit import Architecture, Refitted, refit, residuals_without_state
from smdp.feature_map.sufficiency import Compared, RelativeTest, absolute_p_value
from smdp.feature_map.transitions import TrainingSets
from smdp.feature_map.tuning import Tuned, default_widths, held_out_loss, tune
from smdp.independence.pooling import at_most
from smdp.settings import FeatureMapSettings

#: Networks that are trained at once when it can be chosen.
AT_ONCE = 75

#: Shares of the work of a batch of candidates: tuning, refitting, testing.
TUNED, REFITTED = 0.6, 0.95

Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Candidate:
    """One dimension, fitted and tested."""

    tuned: Tuned
    refitted: Refitted
    inputs: tuple[int, ...]  # the columns with weights that are not zero
    refit_loss: float  # out of fold, comparable with the tuned loss
    absolute: float  # p-value
    relative: Compared  # p-values
    rejected: bool  # by the test that decides

    @property
    def dimension(self) -> int:
        return self.tuned.dimension


@dataclass(frozen=True)
class DimensionChoice:
    """Every candidate that was tried; the last is the choice."""

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]

    @property
    def chosen(self) -> Candidate:
        return self.candidates[-1]


def candidate_dimensions(columns: int, settings: FeatureMapSettings) -> tuple[int, ...]:
    """The dimensions to try for this many variables."""
    if settings.dimensions is None:
        return tuple(range(1, columns + 1))
    return tuple(q for q in settings.dimensions if q <= columns) or (columns,)


def choose_dimension(
    sets: TrainingSets,
    settings: FeatureMapSettings,
    *,
    seed: np.random.SeedSequence,
    report: Report,
) -> DimensionChoice:
    """Candidates upwards until one is not rejected; if all are, the largest."""
    dimensions = candidate_dimensions(sets.rows.columns, settings)
    reference = _reference(sets, settings)
    size = _at_once(sets, settings)
    relative: RelativeTest | None = None
    known: dict[Architecture, Refitted] = {}
    tried: list[Candidate] = []
    notes: list[str] = []
    for start in range(0, len(dimensions), size):
        part = dimensions[start : start + size]
        within = _within(report, start / len(dimensions), len(part) / len(dimensions))
        fitted, left_out = _fit(sets, part, reference, known, settings, seed, within)
        notes += left_out
        relative = relative or RelativeTest(
            sets.rows,
            known[reference].residuals,
            residuals_without_state(sets),
            settings.margin,
        )
        for tuned, architecture in fitted.items():
            within(REFITTED, f"Testing dimension {tuned.dimension}")
            tried.append(_tested(sets, tuned, known[architecture], relative, settings, seed))
            if not tried[-1].rejected:
                return DimensionChoice(tuple(tried), tuple(notes))
    notes.append(
        f"Every dimension tried was rejected at level {settings.level:g}; "
        f"the largest, {tried[-1].dimension}, is used."
    )
    return DimensionChoice(tuple(tried), tuple(notes))


def _fit(
    sets: TrainingSets,
    dimensions: tuple[int, ...],
    reference: Architecture,
    known: dict[Architecture, Refitted],
    settings: FeatureMapSettings,
    seed: np.random.SeedSequence,
    report: Report,
) -> tuple[dict[Tuned, Architecture], list[str]]:
    """Tune and refit these dimensions; what is refitted, the reference too, joins `known`."""
    name = f"dimension {dimensions[0]}"
    if len(dimensions) > 1:
        name = f"dimensions {dimensions[0]} to {dimensions[-1]}"
    tuned, notes = tune(
        sets,
        dimensions,
        settings,
        seed=_spawn(seed, 0),
        report=lambda share: report(TUNED * share, f"Tuning {name}"),
    )
    wanted = {
        each: Architecture(each.dimension, each.width, each.depth, each.network.selected)
        for each in tuned
    }
    more, left_out = refit(
        sets,
        [each for each in (*wanted.values(), reference) if each not in known],
        settings,
        seed=_spawn(seed, 1),
        report=lambda share: report(TUNED + (REFITTED - TUNED) * share, f"Refitting {name}"),
    )
    known.update(more)
    return wanted, notes + left_out


def _tested(
    sets: TrainingSets,
    tuned: Tuned,
    refitted: Refitted,
    relative: RelativeTest,
    settings: FeatureMapSettings,
    seed: np.random.SeedSequence,
) -> Candidate:
    network = refitted.network
    features = apply(network.features, network.activation, sets.states(sets.everything))
    absolute = absolute_p_value(
        sets.rows, refitted.residuals, features, settings, seed=_spawn(seed, 2, tuned.dimension)
    )
    compared = relative.compare(refitted.residuals)
    decides = compared.p_value if settings.test == "relative" else absolute
    return Candidate(
        tuned=tuned,
        refitted=refitted,
        inputs=tuned.network.selected,
        refit_loss=float(
            np.mean([held_out_loss(sets, f, each) for f, each in enumerate(refitted.folds)])
        ),
        absolute=absolute,
        relative=compared,
        rejected=at_most(decides, settings.level),
    )


def _at_once(sets: TrainingSets, settings: FeatureMapSettings) -> int:
    """How many dimensions are fitted together."""
    widths = settings.widths or default_widths(sets.rows.columns)
    of_each = len(widths) * len(settings.depths) * len(settings.penalties) * (settings.folds + 1)
    return max(1, AT_ONCE // of_each)


def _within(report: Report, first: float, length: float) -> Report:
    """Progress through a part of the whole."""
    return lambda share, what: report(first + length * share, what)


def _reference(sets: TrainingSets, settings: FeatureMapSettings) -> Architecture:
    """No bottleneck: as many features as variables, all of which may be used."""
    columns = sets.rows.columns
    widths = settings.widths or default_widths(columns)
    return Architecture(columns, max(widths), min(settings.depths), tuple(range(columns)))


def _spawn(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))
