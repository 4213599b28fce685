"""Corollary 3.3: a feature map on all variables, then again on the variables it kept.

The first pass works on the process (U, S) of all given variables. Each further pass works on
(U, S_J), J being the variables with weights that are not exactly zero, and stops when no variable
is dropped. The map of the last pass is the result.

Of a large study, whole people drawn at random are enough to find out which variables and how many
features are needed: about `ENOUGH` decisions. Tests, and what a decision costs, are of these
people; how much features keep is of everybody, since those who were not drawn are new to all
networks. The map of the last pass is then fitted anew to everybody. (Networks are trained by the
same number of steps however many rows there are; it is the passes over all rows, for tests,
comparisons and the last stretch of training, that take the time.)

Reference: Wang, Laber & Witkiewitz, Corollary 3.3 and the end of section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.base import check_asked
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.from_layers import assembled, widened
from smdp.feature_map.network_settings import NetworkSettings
from smdp.feature_map.normal_space import head_probabilities
from smdp.feature_map.transitions import TrainingSets, Transitions, some_people, transitions
from smdp.progress import Cancelled, Progress, between, reworded, silent

if TYPE_CHECKING:
    from smdp.feature_map.adnn.dimension import Candidate, DimensionChoice  # numba comes along


#: Decisions among which variables and dimension are sought, where that is not all of them.
ENOUGH = 12_000
#: The share of the time that this takes.
SEEKING = 0.8


class FitCancelled(Cancelled):
    """The work was stopped; `finished` is the map of the last pass that was finished, if any."""

    finished: FittedFeatureMap | None

    def __init__(self, finished: FittedFeatureMap | None) -> None:
        super().__init__("The fit of the feature map was stopped.")
        self.finished = finished


@dataclass(frozen=True)
class Pass:
    """One pass: its variables (as columns of all variables) and what was chosen for them."""

    columns: tuple[int, ...]
    choice: DimensionChoice
    among: Mapping[str, int]  # of a large study: whom it was sought among

    @property
    def kept(self) -> tuple[int, ...]:
        return tuple(self.columns[j] for j in self.choice.chosen.inputs)


def fit_feature_map(
    trajectories: Trajectories,
    settings: FeatureMapSettings = FeatureMapSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> FittedFeatureMap:
    """The map of the smallest dimension that is enough, on as few variables as possible.

    Works on the variables that the trajectories have: screen first, then `select`. The result
    depends on the data, the settings and the seed only. "Not rejected at the level" is all that
    is established about the dimension. Stopped by `progress`, it raises `FitCancelled`.
    """
    from smdp.feature_map.adnn import dimension  # noqa: F401 - what it loads is limited, too
    from smdp.pools import one_thread

    check_asked(trajectories, settings, FeatureMapSettings, seed)
    check_dimensions(trajectories, settings)
    progress = progress or silent
    folds, training, drawn = np.random.SeedSequence(seed).spawn(3)
    rows = transitions(trajectories, settings.folds, np.random.default_rng(folds))
    passes: list[Pass] = []
    complete = False
    part, everybody, chances = rows, None, None
    if settings.two_questions:
        chances = head_probabilities(trajectories, rows)
        if len(rows.head) > ENOUGH:
            some = some_people(rows, ENOUGH, np.random.default_rng(drawn))
            if not some.all():
                part, everybody, chances = rows.take(some), rows, chances[some]
    seeking = progress if everybody is None else between(progress, 0.0, SEEKING)
    try:
        with one_thread():
            for each in _passes(part, everybody, settings, training, seeking, chances):
                passes.append(each)
            if everybody is not None and passes[-1].kept:
                fitting = between(progress, SEEKING, 1.0)
                passes[-1] = _for_everybody(passes[-1], rows, settings, training, fitting)
        complete = True
        progress(1.0, "The feature map is fitted")
    except Cancelled as stop:
        finished = _result(trajectories, rows, passes, settings, seed, complete) if passes else None
        raise FitCancelled(finished) from stop
    return _result(trajectories, rows, passes, settings, seed, complete)


def _passes(
    rows: Transitions,
    everybody: Transitions | None,  # if the rows are of some people only
    settings: FeatureMapSettings,
    seed: np.random.SeedSequence,
    progress: Progress,
    probabilities: NDArray[np.float64] | None,
) -> Iterator[Pass]:
    """Pass after pass, until no variable is dropped."""
    from smdp.feature_map.adnn.dimension import choose_dimension

    columns = tuple(range(rows.columns))
    among: dict[str, int] = {}
    if everybody is not None:
        among = {
            "people_drawn": rows.subjects,
            "decisions_drawn": len(rows.head),
            "people": everybody.subjects,
        }
    for number in count(1):

        def report(share: float, what: str, number: int = number) -> None:
            # Nobody knows how many passes there will be: each gets half of what is left.
            done = 1 - 0.5 ** (number - 1) * (1 - share / 2)
            text = f"Pass {number}: {what[0].lower()}{what[1:]}"
            progress(done, reworded(what, text, pass_number=number))

        key = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
        sets = TrainingSets(rows.select(columns))
        choice = choose_dimension(
            sets,
            settings,
            seed=key,
            report=report,
            probabilities=probabilities,
            everybody=None if everybody is None else everybody.select(columns),
        )
        found = Pass(columns, choice, among)
        yield found
        if not settings.iterate or not found.kept or found.kept == columns:
            return
        columns = found.kept


def _for_everybody(
    last: Pass,
    rows: Transitions,
    settings: FeatureMapSettings,
    seed: np.random.SeedSequence,
    progress: Progress,
) -> Pass:
    """The last pass with its map fitted to all rows, its variables and size as they were found."""
    from smdp.feature_map.adnn.dimension import fitted_again

    choice = last.choice
    found = fitted_again(
        choice.chosen,
        TrainingSets(rows.select(last.columns)),
        settings,
        seed=np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 0)),
        report=lambda share: progress(share, "Fitting the map to everybody"),
    )
    tried = tuple(found if each is choice.chosen else each for each in choice.candidates)
    drawn, decisions, people = last.among.values()
    note = (
        f"Variables and dimension were sought among {drawn:,} of {people:,} people drawn at "
        f"random, with {decisions:,} decisions; how much features keep is said of everybody. The "
        "map was then fitted to everybody."
    )
    return replace(
        last, choice=replace(choice, candidates=tried, chosen=found, notes=(*choice.notes, note))
    )


def check_dimensions(trajectories: Trajectories, settings: NetworkSettings) -> None:
    """Refuse more features than there are variables."""
    available = len(trajectories.variables)
    if settings.dimensions is not None and max(settings.dimensions) > available:
        raise SettingError(
            f"The setting 'dimensions' asks for {max(settings.dimensions)} features, but there "
            f"are only {available} variables.",
            f"Use dimensions of at most {available}.",
        )


def _result(
    trajectories: Trajectories,
    rows: Transitions,
    passes: list[Pass],
    settings: FeatureMapSettings,
    seed: int,
    complete: bool,
) -> FittedFeatureMap:
    last = passes[-1]
    network = last.choice.chosen.refitted.network
    names = trajectories.variables
    notes = list(dict.fromkeys(note for each in passes for note in each.choice.notes))
    if not last.kept:
        notes.append("No variable was selected: nothing in the state was found to predict.")
    found = assembled(
        "adnn",
        trajectories.about,
        widened(network.features, last.columns, len(names)),
        network.activation,
        rows.states,
        settings,
        seed,
        identify_by=rows,
        steps=_steps(names, passes, settings),
        candidates=_candidates(passes, settings),
        notes=notes,
    )
    return replace(found, complete=complete)


def _steps(
    names: tuple[str, ...], passes: list[Pass], settings: FeatureMapSettings
) -> pd.DataFrame:
    """One row for each pass; of a large study, with the people whom it was sought among."""
    return pd.DataFrame(
        {
            "pass": number,
            "variables": ", ".join(names[j] for j in each.columns),
            "variables_count": len(each.columns),
            "kept": ", ".join(names[j] for j in each.kept),
            "kept_count": len(each.kept),
            **_figures(each.choice.chosen),
            **_chosen_by(each.choice.chosen, each.choice, settings),
            **each.among,
        }
        for number, each in enumerate(passes, 1)
    )


def _candidates(passes: list[Pass], settings: FeatureMapSettings) -> pd.DataFrame:
    """One row for each pass and dimension that was tried."""
    return pd.DataFrame(
        {
            "pass": number,
            "kept_count": len(candidate.inputs),
            **_figures(candidate),
            "chosen": candidate is each.choice.chosen,
            **_chosen_by(candidate, each.choice, settings),
        }
        for number, each in enumerate(passes, 1)
        for candidate in each.choice.candidates
    )


def _chosen_by(
    candidate: Candidate, choice: DimensionChoice, settings: FeatureMapSettings
) -> dict[str, str]:
    """Why a candidate was chosen; tables of the earlier tests have no such column."""
    if not settings.two_questions:
        return {}
    by_hand = settings.dimensions is not None and len(settings.dimensions) == 1
    why = "by hand" if by_hand else choice.why
    return {"chosen_by": why if candidate is choice.chosen else ""}


def _figures(candidate: Candidate) -> dict[str, object]:
    tuned = candidate.tuned
    return {
        "dimension": tuned.dimension,
        "width": tuned.width,
        "depth": tuned.depth,
        "penalty": tuned.penalty,
        "cv_loss": tuned.loss,
        "refit_loss": candidate.refit_loss,
        "refit_weight_decay": candidate.refitted.weight_decay,
        **candidate.figures,
        "rejected": candidate.rejected,
    }
