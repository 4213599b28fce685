"""How few features are enough, for one set of variables.

Candidates are tried upwards. For each: width, depth and penalty by cross-validation, variables from
the penalised fit, then the unpenalised refit, and two questions.
*Exact*: does the test of the normal space reject the dimension (`normal_space`)? *Practical*: do
the features keep what the state says of the utility (`share_kept`)? The choice is the smallest
dimension that is not rejected; where only as many features as there are variables would do, the
smallest that is enough in practice (or whichever is asked for). Candidates are tried until the
exact question is answered, so that both answers are there. What a decision by the features costs
(`value_lost`) is told beside them, and decides nothing. In a large study nearly every dimension is
rejected: there the largest that can be comes first, and if it is, none is taken to be exact.

The map is refitted to predict the utility and its own next features (`closed`), or every variable's
next value. The paper's absolute test, and the comparison with the full state that chose the maps of
earlier versions (`sufficiency`), can be asked for instead; then the first that is not rejected is
the choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError
from smdp.feature_map.adnn.closed import UtilitySets, closed_and_tested, closed_features
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.polish import polished
from smdp.feature_map.adnn.refit import (
    Architecture,
    Refitted,
    out_of_fold_residuals,
    refit,
    residuals_without_state,
    utility_residuals,
)
from smdp.feature_map.adnn.tuning import (
    Key,
    Tuned,
    clearly_worse,
    default_widths,
    held_out_loss,
    tune,
)
from smdp.feature_map.layers import Network, apply
from smdp.feature_map.normal_space import dimension_test, form_test
from smdp.feature_map.share_kept import ShareKept, share_kept
from smdp.feature_map.sufficiency import RelativeTest, absolute_p_value
from smdp.feature_map.transitions import TrainingSets, Transitions
from smdp.feature_map.value_lost import Described, FullStatePolicy, ValueLost
from smdp.independence.pooling import at_most
from smdp.independence.signs import FEWEST_PEOPLE
from smdp.progress import Message

#: Up to this dimension, every one is a candidate.
SMALL = 8

#: Shares of the work of a candidate: tuning, refitting, testing.
TUNED, REFITTED = 0.6, 0.95

Report = Callable[[float, str], None]

#: Why a dimension was chosen: what found it to be enough, or "largest" if nothing did.
Why = Literal["exact", "least rejected", "practical", "absolute", "relative", "largest"]
BARELY = 0.2  # of the level: a p-value above this share of it


@dataclass(frozen=True)
class Candidate:
    """One dimension, fitted and tested."""

    tuned: Tuned
    inputs: tuple[int, ...]  # the columns that it uses
    refitted: Refitted
    losses: NDArray[np.float64]  # of each fold, after the refit; of the utility if it is closed
    refit_loss: float  # out of fold, comparable with the tuned loss; NaN where it is closed
    p_value: float  # of the test that decides
    figures: dict[str, float | bool]  # what was found, by the columns of the table
    rejected: bool  # by the test that decides
    practical: bool = False  # enough in practice

    @property
    def dimension(self) -> int:
        return self.tuned.dimension

    def news(self) -> Message:
        """For those who watch: what the test said."""
        verdict = "rejected" if self.rejected else "not rejected"
        share = self.figures.get("share_kept", float("nan"))
        kept = {"share_kept": float(share)} if share == share else {}
        return Message(
            f"Dimension {self.dimension} {verdict}, p = {self.p_value:.4f}",
            tested_dimension=self.dimension,
            p_value=float(self.p_value),
            rejected=bool(self.rejected),
            **kept,
        )


@dataclass(frozen=True)
class DimensionChoice:
    """Every candidate that was tried, upwards, and the one that was chosen."""

    candidates: tuple[Candidate, ...]
    chosen: Candidate
    why: Why
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
    probabilities: NDArray[np.float64] | None = None,
    everybody: Transitions | None = None,
) -> DimensionChoice:
    """Candidates upwards until one is enough; if none is, the largest.

    `probabilities`: (R, heads), of the treatments, for the test of the normal space and for what a
    decision by the features costs. `everybody`: of a large study, whose sets are of some people
    only. What features keep is then said of everybody, and the largest dimension that can be
    rejected comes first; where it is, only what is enough in practice is left to be found.

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
        search = _Search(sets, short, seed, probabilities, everybody, whole=True)
        whole = search.smallest_enough((columns,), _within(report, 0.0, 0.3))
        if whole is not None and len(whole.inputs) < columns:
            return DimensionChoice(tuple(search.tried), whole, search.why, tuple(search.notes))
        report = _within(report, 0.3, 0.7)
    search = _Search(sets, settings, seed, probabilities, everybody)
    if everybody is not None and settings.dimensions is None:
        dimensions = search.left_to_try(dimensions, report)
    chosen = search.smallest_enough(dimensions, _within(report, 0.0, 0.8))
    if chosen is not None and settings.dimensions is None:
        below = [c.dimension for c in search.tried if c.dimension < chosen.dimension]
        gap = tuple(range(max(below, default=0) + 1, chosen.dimension))
        if gap and len(chosen.inputs) == columns:
            chosen = search.smallest_enough(gap, _within(report, 0.8, 0.1)) or chosen
    if chosen is not None and settings.iterate and len(chosen.inputs) == columns:
        chosen = search.sparser(chosen, _within(report, 0.9, 0.1))
    tried = tuple(sorted(search.tried, key=lambda candidate: candidate.dimension))
    why = "largest" if chosen is None else search.why
    return DimensionChoice(tried, chosen or tried[-1], why, tuple(search.notes))


def fitted_again(
    found: Candidate,
    sets: TrainingSets,
    settings: FeatureMapSettings,
    *,
    seed: np.random.SeedSequence,
    report: Callable[[float], None],
) -> Candidate:
    """The candidate with its map fitted to these sets, of the variables that it was found with.

    What was said of it stays as it was said.
    """
    size = Architecture(found.dimension, found.tuned.width, found.tuned.depth, found.inputs)
    decay = found.refitted.weight_decay
    fitted_to = UtilitySets(sets.rows) if settings.test == "closed" else sets
    known = replace(settings, refit_weight_decays=(decay,))
    fitted, _ = refit(
        fitted_to, [size], known, seed=_spawn(seed, 1), report=lambda share: report(0.4 * share)
    )
    every = [*fitted[size].folds, fitted[size].network]
    part = partial(_report_part, report, 0.4, 0.6)
    targets: TrainingSets
    if settings.test == "closed":
        closed = closed_features(
            fitted_to, every, size, decay, settings, seed=_spawn(seed, 4), report=part
        )
        targets, networks = closed.sets, closed.networks
    else:
        targets, networks = sets, polished(sets, every, decay, report=part)
    *folds, network = networks
    residuals = out_of_fold_residuals(targets, folds)
    return replace(found, refitted=Refitted(network, tuple(folds), residuals, decay))


class _Search:
    """Fits and tests dimensions, one after the other, and remembers what it did."""

    def __init__(
        self,
        sets: TrainingSets,
        settings: FeatureMapSettings,
        seed: np.random.SeedSequence,
        probabilities: NDArray[np.float64] | None,
        everybody: Transitions | None,
        *,
        whole: bool = False,
    ) -> None:
        """`whole`: there is no bottleneck, and what counts is which variables are used."""
        self._sets, self._settings, self._seed = sets, settings, seed
        self._losses: dict[Key, NDArray[np.float64]] = {}
        if settings.two_questions:
            assert probabilities is not None
            self._judge: _Judge = _TwoQuestions(
                sets, settings, seed, probabilities, everybody, whole=whole
            )
        else:
            self._judge = _FirstNotRejected(sets, settings, seed)
        self.tried: list[Candidate] = []
        self.notes: list[str] = []
        self.why: Why = "largest"
        self._none_exact = False

    def smallest_enough(self, dimensions: tuple[int, ...], report: Report) -> Candidate | None:
        """Tried upwards until one is not rejected; then the smallest that is enough."""
        mine: list[Candidate] = []
        for found in self._judged(dimensions, report):
            mine.append(found)
            if (self._none_exact or not found.rejected) and self._judge.choose(mine):
                break
        choice = self._judge.choose(mine)
        if choice is None:
            return None
        smallest, self.why = choice
        return smallest

    def left_to_try(self, dimensions: tuple[int, ...], report: Report) -> tuple[int, ...]:
        """What remains once the largest dimension below that of the state is tried.

        What has some dimension has every larger one, too: where that is rejected, a smaller one
        could pass for lack of power only, and what is open is which is enough in practice.
        """
        *fewer, whole = dimensions
        if len(fewer) < 2:
            return dimensions
        (found,) = self._judged((fewer[-1],), _within(report, 0.0, 0.0))
        self._none_exact = found.rejected
        exactly = self._none_exact and self._settings.choose_by == "exact"
        return (whole,) if exactly else dimensions

    def _judged(self, dimensions: tuple[int, ...], report: Report) -> Iterator[Candidate]:
        """One after the other."""
        for place, dimension in enumerate(dimensions):
            known = [each for each in self.tried if each.dimension == dimension]
            if known:
                yield known[0]
                continue
            within = _within(report, place / len(dimensions), 1 / len(dimensions))
            fitted = self._fit(dimension, self._settings, within)
            assert fitted is not None
            self.notes += self._judge.prepare(within)
            within(REFITTED, f"Testing dimension {dimension}")
            found = self._judge.judge(*fitted)
            self.tried.append(found)
            within(REFITTED, found.news())
            yield found

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
        alone = replace(self._settings, penalties=(penalty,))
        try:
            fitted = self._fit(chosen.dimension, alone, report, fewer_than=len(chosen.inputs))
        except DataError:  # it could not be trained: nothing is lost
            return None
        if fitted is None:
            return None
        tuned, architecture = fitted
        report(REFITTED, f"Testing {len(architecture.inputs)} of {len(chosen.inputs)} variables")
        found = self._judge.judge(tuned, architecture)
        worse = clearly_worse(found.losses, chosen.losses)
        by_practice = self.why in ("practical", "least rejected")
        enough = found.practical if by_practice else not found.rejected
        return found if enough and not worse else None

    def _fit(
        self,
        dimension: int,
        settings: FeatureMapSettings,
        report: Report,
        *,
        fewer_than: int | None = None,
    ) -> tuple[Tuned, Architecture] | None:
        """Tune and refit this dimension, except for what is known from before.

        `fewer_than`: None unless it uses some variables, and fewer than these.
        """
        (tuned,), notes = tune(
            self._sets,
            (dimension,),
            settings,
            seed=_spawn(self._seed, 0),
            known=self._losses,
            report=lambda share: report(TUNED * share, f"Tuning dimension {dimension}"),
        )
        wanted = Architecture(dimension, tuned.width, tuned.depth, tuned.network.selected)
        if fewer_than is not None and not 0 < len(wanted.inputs) < fewer_than:
            return None
        left_out = self._judge.refit(
            [wanted],
            lambda share: report(
                TUNED + (REFITTED - TUNED) * share, f"Refitting dimension {dimension}"
            ),
        )
        if fewer_than is None:
            self.notes += notes + left_out
        return tuned, self._judge.used(wanted)


class _Judge(ABC):
    """Refits maps without penalty, and says of each whether it is enough."""

    def __init__(
        self, sets: TrainingSets, settings: FeatureMapSettings, seed: np.random.SeedSequence
    ) -> None:
        self._sets, self._settings, self._seed = sets, settings, seed
        self._refitted: dict[Architecture, Refitted] = {}

    @abstractmethod
    def refit(
        self, architectures: Sequence[Architecture], report: Callable[[float], None]
    ) -> list[str]:
        """Refit those that are not known from before; notes on starts that were left out."""

    def used(self, asked: Architecture) -> Architecture:
        """What was refitted where this was asked for."""
        return asked

    @abstractmethod
    def prepare(self, report: Report) -> list[str]:
        """Whatever all maps are compared with; notes on it."""

    @abstractmethod
    def judge(self, tuned: Tuned, architecture: Architecture) -> Candidate: ...

    @abstractmethod
    def choose(self, tried: Sequence[Candidate]) -> tuple[Candidate, Why] | None:
        """Of those tried, the one to take and why; None if none is enough."""

    def _reference(
        self, sets: TrainingSets, report: Report
    ) -> tuple[Architecture, dict[Architecture, Refitted], list[str]]:
        """The full state: a map with a hidden layer even where others may have none.

        It is what the full state can predict, whereas one layer without a bottleneck may itself
        predict badly.
        """
        reference = _reference(self._sets, self._settings)
        found, notes = refit(
            sets,
            [reference],
            replace(self._settings, interpretable=False),
            seed=_spawn(self._seed, 1),
            report=lambda share: report(REFITTED, "Fitting the full state"),
        )
        return reference, found, notes


class _FirstNotRejected(_Judge):
    """By the paper's absolute test, or by the comparison with the full state."""

    _relative: RelativeTest | None = None

    def refit(
        self, architectures: Sequence[Architecture], report: Callable[[float], None]
    ) -> list[str]:
        unknown = [each for each in architectures if each not in self._refitted]
        seed = _spawn(self._seed, 1)
        more, notes = refit(self._sets, unknown, self._settings, seed=seed, report=report)
        self._refitted |= more
        return notes

    def prepare(self, report: Report) -> list[str]:
        if self._relative is not None:
            return []
        reference, found, notes = self._reference(self._sets, report)
        if not self._settings.interpretable:
            self._refitted |= found
        self._relative = RelativeTest(
            self._sets.rows,
            found[reference].residuals,
            residuals_without_state(self._sets),
            self._settings.margin,
        )
        return notes

    def judge(self, tuned: Tuned, architecture: Architecture) -> Candidate:
        assert self._relative is not None
        sets, settings, refitted = self._sets, self._settings, self._refitted[architecture]
        network = refitted.network
        features = apply(network.features, network.activation, sets.states(sets.everything))
        seed = _spawn(self._seed, 2, tuned.dimension)
        absolute = absolute_p_value(sets.rows, refitted.residuals, features, settings, seed=seed)
        compared = self._relative.compare(refitted.residuals)
        p_value = compared.p_value if settings.test == "relative" else absolute
        losses = _refit_losses(sets, refitted)
        return Candidate(
            tuned=tuned,
            inputs=architecture.inputs,
            refitted=refitted,
            losses=losses,
            refit_loss=float(losses.mean()),
            p_value=p_value,
            figures={
                "p_absolute": absolute,
                "p_relative": compared.p_value,
                "p_dependence": compared.dependence,
                "p_loss": compared.loss,
            },
            rejected=at_most(p_value, settings.level),
        )

    def choose(self, tried: Sequence[Candidate]) -> tuple[Candidate, Why] | None:
        why: Why = "relative" if self._settings.test == "relative" else "absolute"
        return next(((each, why) for each in tried if not each.rejected), None)


class _TwoQuestions(_Judge):
    """Is it exactly enough, and is it practically?"""

    def __init__(
        self,
        sets: TrainingSets,
        settings: FeatureMapSettings,
        seed: np.random.SeedSequence,
        probabilities: NDArray[np.float64],
        everybody: Transitions | None,
        *,
        whole: bool,
    ) -> None:
        super().__init__(sets, settings, seed)
        self._probabilities, self._everybody = probabilities, everybody
        self._closed = settings.test == "closed"
        self._whole = whole
        self._targets: dict[Architecture, TrainingSets] = {}  # what each map predicts
        self._instead: dict[Architecture, Architecture] = {}  # of maps that dropped too much
        self._exact: dict[Architecture, float] = {}  # p-values of maps that were chosen by them
        self._of_full_state: NDArray[np.float64] | None = None
        self._policy: FullStatePolicy | None = None

    @property
    def _fitted_to(self) -> TrainingSets:
        return UtilitySets(self._sets.rows) if self._closed else self._sets

    def refit(
        self, architectures: Sequence[Architecture], report: Callable[[float], None]
    ) -> list[str]:
        unknown = [a for a in architectures if self.used(a) not in self._refitted]
        share = 1.0 if self._whole else 0.6  # of the time that a map takes
        fitted, notes = refit(
            self._fitted_to,
            [*unknown, *(self._with_all(each) for each in unknown if self._may_lack(each))],
            self._settings,
            seed=_spawn(self._seed, 1),
            report=lambda done: report(share * done),
        )
        for each in filter(self._may_lack, unknown):
            narrow, wide = (fitted[size].residuals for size in (each, self._with_all(each)))
            if clearly_worse(self._losses(narrow), self._losses(wide)):
                self._instead[each] = self._with_all(each)
        unknown = [a for a in dict.fromkeys(map(self.used, unknown)) if a not in self._refitted]
        fitted = {each: fitted[each] for each in unknown}
        for k, each in enumerate(unknown):
            self._targets[each] = self._fitted_to
            if not self._whole:
                part = (1 - share) / len(unknown)
                own = partial(_report_part, report, share + k * part, part)
                fitted[each] = self._finish(each, fitted[each], own)
        self._refitted |= fitted
        return notes

    def used(self, asked: Architecture) -> Architecture:
        """With all variables, where those that were kept say clearly less of the utility.

        The penalised fit predicts every variable's next value. With fewer features than variables
        it may spend them on what is easy to predict and drop what the utility needs: in HeartSteps,
        with two features, time of day and sitting still, not the steps walked before. So closed
        features, which have no use for the rest, do not take its word for it.
        """
        return self._instead.get(asked, asked)

    def _may_lack(self, size: Architecture) -> bool:
        dropped = len(size.inputs) < self._sets.rows.columns
        return self._closed and not self._whole and dropped

    def _with_all(self, size: Architecture) -> Architecture:
        return replace(size, inputs=tuple(range(self._sets.rows.columns)))

    def _losses(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each fold's people, the utility's mean square."""
        fold = self._sets.rows.fold
        return np.bincount(fold, np.square(residuals[:, 0])) / np.bincount(fold)

    def _finish(
        self, size: Architecture, fitted: Refitted, report: Callable[[float], None]
    ) -> Refitted:
        """Closed if that is asked for, and polished."""
        every, decay = [*fitted.folds, fitted.network], fitted.weight_decay
        if self._closed:
            start = (self._fitted_to, every, size, decay, self._settings)
            seed = _spawn(self._seed, 4)
            if self._testable(size):
                closed, tested = closed_and_tested(
                    *start,
                    self._probabilities,
                    level=self._settings.level,
                    seed=seed,
                    test_seed=self._test_seed(size),
                    report=report,
                )
                self._exact[size] = tested.p_value
            else:
                closed = closed_features(*start, seed=seed, report=report)
            self._targets[size], networks = closed.sets, closed.networks
        else:
            networks = polished(self._sets, every, decay, report=report)
        *folds, network = networks
        residuals = out_of_fold_residuals(self._targets[size], folds)
        return Refitted(network, tuple(folds), residuals, decay)

    def prepare(self, report: Report) -> list[str]:
        if self._of_full_state is not None or self._whole:
            return []
        reference, found, notes = self._reference(self._fitted_to, report)
        full = found[reference]
        folds = polished(self._fitted_to, full.folds, full.weight_decay)
        self._of_full_state = self._of_utility(self._fitted_to, folds)
        return notes

    def judge(self, tuned: Tuned, architecture: Architecture) -> Candidate:
        refitted = self._refitted[architecture]
        exact, form = self._tested(architecture, refitted)
        kept, value = self._share_kept(architecture), self._value_lost(refitted)
        practical = kept.at_least > 1 - self._settings.negligible
        if self._closed:  # targets differ between maps, but for the utility
            losses = self._losses(refitted.residuals)
        else:
            losses = _refit_losses(self._sets, refitted)
        return Candidate(
            tuned=tuned,
            inputs=architecture.inputs,
            refitted=refitted,
            losses=losses,
            refit_loss=float("nan") if self._closed else float(losses.mean()),
            p_value=exact,
            figures={
                "p_exact": exact,
                "p_form": form,
                "share_kept": kept.share,
                "share_at_least": kept.at_least,
                "share_low": kept.low,
                "share_high": kept.high,
                "explained": kept.explained,
                "explained_by_state": kept.explained_by_state,
                "practical": practical,
                "value_lost": value.lost,
                "value_lost_low": value.low,
                "value_lost_high": value.high,
                "same_choice": value.same_choice,
            },
            rejected=bool(at_most(exact, self._settings.level)),
            practical=practical,
        )

    def choose(self, tried: Sequence[Candidate]) -> tuple[Candidate, Why] | None:
        columns, by = self._sets.rows.columns, self._settings.choose_by
        exact = [each for each in tried if not each.rejected]
        # As many features as variables are exact by definition, and spare nobody anything.
        fewer = [each for each in exact if each.dimension < columns or self._whole]
        practical = [each for each in tried if each.practical]
        # One true number in twenty is rejected, mostly by little. What is then enough in practice,
        # for the next outcome, may be far too few for those after it.
        least = BARELY * self._settings.level
        barely = [e for e in practical if e.dimension < columns and e.p_value > least]
        orders: dict[str, list[tuple[list[Candidate], Why]]] = {
            "exact_first": [
                (fewer, "exact"),
                (barely, "least rejected"),
                (practical, "practical"),
                (exact, "exact"),
            ],
            "exact": [(exact, "exact")],
            "practical": [(practical, "practical")],
        }
        for enough, why in orders[by]:
            if enough:
                return min(enough, key=lambda each: each.dimension), why
        return None

    def _tested(self, size: Architecture, refitted: Refitted) -> tuple[float, float]:
        """The p-values of the dimension and, of maps of one layer, of their form."""
        if size.dimension >= self._sets.rows.columns:
            return 1.0, float("nan")
        if not self._testable(size):
            return float("nan"), float("nan")
        sets, folds, seed = self._targets[size], refitted.folds, self._test_seed(size)
        exact = self._exact.get(size)
        if exact is None:
            exact = dimension_test(sets, folds, self._probabilities, seed=seed).p_value
        if len(refitted.network.features) != 1:
            return exact, float("nan")
        return exact, form_test(sets, folds, self._probabilities, seed=seed).p_value

    def _testable(self, size: Architecture) -> bool:
        """As many features as variables are enough by definition; few people need a hand."""
        rows, by_hand = self._sets.rows, self._settings.dimensions is not None
        enough_people = rows.subjects >= FEWEST_PEOPLE or not by_hand
        return size.dimension < rows.columns and enough_people

    def _test_seed(self, size: Architecture) -> np.random.SeedSequence:
        return _spawn(self._seed, 3, size.dimension)

    def _share_kept(self, size: Architecture) -> ShareKept:
        own = self._of_utility(self._targets[size], self._refitted[size].folds)
        full = own if self._of_full_state is None else self._of_full_state
        every = self._sets if self._everybody is None else TrainingSets(self._everybody)
        nothing = residuals_without_state(every)[:, 0]
        return share_kept(every.rows.subject, own, full, nothing)

    def _of_utility(self, sets: TrainingSets, folds: Sequence[Network]) -> NDArray[np.float64]:
        """(R,): what is left over of the utility, out of fold, of everybody."""
        if self._everybody is None:
            return out_of_fold_residuals(sets, folds)[:, 0]
        return utility_residuals(sets, folds, self._everybody)

    def _value_lost(self, refitted: Refitted) -> ValueLost:
        if self._policy is None:
            self._policy = FullStatePolicy(
                self._sets.rows,
                self._probabilities,
                self._settings.discount,
                seed=_spawn(self._seed, 5),
            )
        return self._policy.value_lost(
            [self._features(k, network) for k, network in enumerate(refitted.folds)]
        )

    def _features(self, fold: int, network: Network) -> Described:
        """Of all rows and of what follows them, by the map that was fitted without a fold."""
        rows, scale = self._sets.rows, self._sets.scales[fold][0]
        now, following = (
            apply(network.features, network.activation, scale.standardise(states))
            for states in (rows.states, rows.outcomes[:, 1:])
        )
        return now, following


def _refit_losses(sets: TrainingSets, refitted: Refitted) -> NDArray[np.float64]:
    return np.array([held_out_loss(sets, f, each) for f, each in enumerate(refitted.folds)])


def _within(report: Report, first: float, length: float) -> Report:
    """Progress through a part of the whole."""
    return lambda share, what: report(first + length * share, what)


def _report_part(
    report: Callable[[float], None], first: float, length: float, share: float
) -> None:
    report(first + length * share)


def _reference(sets: TrainingSets, settings: FeatureMapSettings) -> Architecture:
    """No bottleneck: as many features as variables, all of which may be used."""
    columns = sets.rows.columns
    widths = settings.widths or default_widths(columns)
    return Architecture(columns, max(widths), min(settings.depths), tuple(range(columns)))


def _spawn(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, *key))
