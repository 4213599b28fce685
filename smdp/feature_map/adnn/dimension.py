"""The smallest dimension whose map is not rejected, for one set of variables.

Candidates are tried upwards, a few at a time as one batch. For each: width, depth and penalty by
cross-validation, variables from the penalised fit, then the unpenalised refit and both tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.refit import Architecture, Refitted, refit, residuals_without_state
from smdp.feature_map.adnn.tuning import (
    Key,
    Tuned,
    clearly_worse,
    default_widths,
    held_out_loss,
    tune,
)
from smdp.feature_map.layers import apply
from smdp.feature_map.sufficiency import Compared, RelativeTest, absolute_p_value
from smdp.feature_map.transitions import TrainingSets
from smdp.independence.pooling import at_most
from smdp.progress import Message

#: Networks that are trained at once when it can be chosen.
AT_ONCE = 75

#: Up to this dimension, every one is a candidate.
SMALL = 8

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

    def news(self, settings: FeatureMapSettings) -> Message:
        """For those who watch: what the test said."""
        p = self.relative.p_value if settings.test == "relative" else self.absolute
        verdict = "rejected" if self.rejected else "not rejected"
        return Message(
            f"Dimension {self.dimension} {verdict}, p = {p:.4f}",
            tested_dimension=self.dimension,
            p_value=float(p),
            rejected=bool(self.rejected),
        )


@dataclass(frozen=True)
class DimensionChoice:
    """Every candidate that was tried, upwards, and the one that was chosen."""

    candidates: tuple[Candidate, ...]
    chosen: Candidate
    notes: tuple[str, ...]


def candidate_dimensions(columns: int, settings: FeatureMapSettings) -> tuple[int, ...]:
    """The dimensions to try for this many variables.

    By default all, with gaps above 8: 12, 18, .. (each half as large again), and the largest.
    `choose_dimension` fills the gap that matters.
    """
    if settings.dimensions is not None:
        return tuple(q for q in settings.dimensions if q <= columns) or (columns,)
    found = list(range(1, min(columns, SMALL) + 1))
    while found[-1] < columns:
        found.append(min(columns, found[-1] * 3 // 2))
    return tuple(found)


def choose_dimension(
    sets: TrainingSets,
    settings: FeatureMapSettings,
    *,
    seed: np.random.SeedSequence,
    report: Report,
) -> DimensionChoice:
    """Candidates upwards until one is not rejected; if all are, the largest.

    Of many variables, those that matter are found first: without a bottleneck a map loses nothing
    but what its penalty drops. If it is not rejected and drops variables, it is the choice, and the
    next pass seeks the dimension among the few that are left.

    Where the choice drops no variable, so that it may be final, more is tried: if candidates have
    gaps, those between it and the last one rejected, upwards; and larger penalties, which
    cross-validation may have refused only because they shrink what they keep.
    """
    columns = sets.rows.columns
    dimensions = candidate_dimensions(columns, settings)
    if columns > SMALL and settings.dimensions is None and settings.iterate:
        # One short start will do for a map that is not the last.
        short = replace(settings, restarts=1, refit_steps=-(-settings.refit_steps // 2))
        search = _Search(sets, short, seed)
        whole = search.first_not_rejected((columns,), _within(report, 0.0, 0.3))
        if whole is not None and len(whole.inputs) < columns:
            return DimensionChoice(tuple(search.tried), whole, tuple(search.notes))
        report = _within(report, 0.3, 0.7)
    search = _Search(sets, settings, seed)
    chosen = search.first_not_rejected(dimensions, _within(report, 0.0, 0.8))
    if chosen is not None and settings.dimensions is None:
        below = [c.dimension for c in search.tried if c.dimension < chosen.dimension]
        gap = tuple(range(max(below, default=0) + 1, chosen.dimension))
        if gap and len(chosen.inputs) == columns:
            chosen = search.first_not_rejected(gap, _within(report, 0.8, 0.1)) or chosen
    if chosen is not None and settings.iterate and len(chosen.inputs) == columns:
        chosen = search.sparser(chosen, _within(report, 0.9, 0.1))
    tried = tuple(sorted(search.tried, key=lambda candidate: candidate.dimension))
    return DimensionChoice(tried, chosen or tried[-1], tuple(search.notes))


class _Search:
    """Fits and tests dimensions, a few at a time, and remembers what it did."""

    def __init__(
        self, sets: TrainingSets, settings: FeatureMapSettings, seed: np.random.SeedSequence
    ) -> None:
        self._sets, self._settings, self._seed = sets, settings, seed
        self._refitted: dict[Architecture, Refitted] = {}
        self._losses: dict[Key, NDArray[np.float64]] = {}
        self._relative: RelativeTest | None = None
        self.tried: list[Candidate] = []
        self.notes: list[str] = []

    def first_not_rejected(self, dimensions: tuple[int, ...], report: Report) -> Candidate | None:
        sets, settings = self._sets, self._settings
        size = _at_once(sets, settings)
        for start in range(0, len(dimensions), size):
            part = dimensions[start : start + size]
            within = _within(report, start / len(dimensions), len(part) / len(dimensions))
            fitted, notes = self._fit(part, settings, within)
            self.notes += notes
            relative = self._relative or self._compared_with_full_state(within)
            for tuned, architecture in fitted.items():
                within(REFITTED, f"Testing dimension {tuned.dimension}")
                refitted = self._refitted[architecture]
                found = _tested(sets, tuned, refitted, relative, settings, self._seed)
                self.tried.append(found)
                within(REFITTED, found.news(settings))
                if not found.rejected:
                    return found
        return None

    def sparser(self, chosen: Candidate, report: Report) -> Candidate:
        """Of the same dimension, with a larger penalty: the map of the fewest variables that is not
        rejected and, refitted, not clearly worse on held-out subjects; or else `chosen` itself."""
        best = chosen
        larger = [p for p in self._settings.penalties if p > chosen.tuned.penalty]
        for k, penalty in enumerate(larger):
            within = _within(report, k / len(larger), 1 / len(larger))
            found = self._with_penalty(penalty, chosen, within)
            if found is not None and len(found.inputs) < len(best.inputs):
                best = found
        self.tried = [best if each is chosen else each for each in self.tried]
        return best

    def _with_penalty(self, penalty: float, chosen: Candidate, report: Report) -> Candidate | None:
        sets, alone = self._sets, replace(self._settings, penalties=(penalty,))
        try:
            fitted, _ = self._fit((chosen.dimension,), alone, report)
        except DataError:  # it could not be trained: nothing is lost
            return None
        ((tuned, architecture),) = fitted.items()
        if not 0 < len(architecture.inputs) < len(chosen.inputs):
            return None
        assert self._relative is not None
        refitted = self._refitted[architecture]
        report(REFITTED, f"Testing {len(architecture.inputs)} of {len(chosen.inputs)} variables")
        found = _tested(sets, tuned, refitted, self._relative, self._settings, self._seed)
        worse = clearly_worse(_refit_losses(sets, refitted), _refit_losses(sets, chosen.refitted))
        return None if found.rejected or worse else found

    def _fit(
        self, dimensions: tuple[int, ...], settings: FeatureMapSettings, report: Report
    ) -> tuple[dict[Tuned, Architecture], list[str]]:
        """Tune and refit these dimensions, except for what is known from before."""
        name = f"dimension {dimensions[0]}"
        if len(dimensions) > 1:
            name = f"dimensions {dimensions[0]} to {dimensions[-1]}"
        tuned, notes = tune(
            self._sets,
            dimensions,
            settings,
            seed=_spawn(self._seed, 0),
            known=self._losses,
            report=lambda share: report(TUNED * share, f"Tuning {name}"),
        )
        wanted = {
            each: Architecture(each.dimension, each.width, each.depth, each.network.selected)
            for each in tuned
        }
        more, left_out = refit(
            self._sets,
            [each for each in wanted.values() if each not in self._refitted],
            settings,
            seed=_spawn(self._seed, 1),
            report=lambda share: report(TUNED + (REFITTED - TUNED) * share, f"Refitting {name}"),
        )
        self._refitted |= more
        return wanted, notes + left_out

    def _compared_with_full_state(self, report: Report) -> RelativeTest:
        """The reference has a hidden layer even where the map may not: it is what the full state
        can predict, whereas one layer without a bottleneck may itself predict badly."""
        sets, reference = self._sets, _reference(self._sets, self._settings)
        found, notes = refit(
            sets,
            [reference],
            replace(self._settings, interpretable=False),
            seed=_spawn(self._seed, 1),
            report=lambda share: report(REFITTED, "Fitting the full state"),
        )
        self.notes += notes
        if not self._settings.interpretable:
            self._refitted |= found
        self._relative = RelativeTest(
            sets.rows,
            found[reference].residuals,
            residuals_without_state(sets),
            self._settings.margin,
        )
        return self._relative


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
        refit_loss=float(_refit_losses(sets, refitted).mean()),
        absolute=absolute,
        relative=compared,
        rejected=at_most(decides, settings.level),
    )


def _refit_losses(sets: TrainingSets, refitted: Refitted) -> NDArray[np.float64]:
    return np.array([held_out_loss(sets, f, each) for f, each in enumerate(refitted.folds)])


def _at_once(sets: TrainingSets, settings: FeatureMapSettings) -> int:
    """How many dimensions are fitted together."""
    widths = settings.widths or default_widths(sets.rows.columns)
    of_each = len(widths) * len(settings.depths) * len(settings.penalties) * settings.folds
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
