"""What a kind of feature map is: one object that knows all that the program asks of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.progress import Progress
from smdp.settings import Settings, require
from smdp.text import plural

#: Behind a statement of a methods section.
PAPER = "(Wang et al., 2017)"


class Fit(Protocol):
    """Fits a map to trajectories; the result depends on these, the settings and the seed only."""

    @property
    def __name__(self) -> str: ...

    def __call__(
        self,
        trajectories: Trajectories,
        settings: Any = ...,
        *,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> FittedFeatureMap: ...


class Refit(Protocol):
    """Fits a map anew without each fold of people: its variables and its size stay as they are.

    `fold`: of each trajectory, 0, 1, ..; -1 for those that belong to none. One map for each fold.
    """

    def __call__(
        self,
        trajectories: Trajectories,
        fitted: FittedFeatureMap,
        fold: NDArray[np.int64],
        *,
        progress: Progress,
    ) -> list[FittedFeatureMap]: ...


def features_of_variables(fitted: FittedFeatureMap) -> str:
    """A map in a few words: "2 features of 7 variables"."""
    used = plural(len(fitted.wholes_used), "variable")
    return f"{plural(fitted.dimension, 'feature')} of {used}"


@dataclass(frozen=True)
class MapKind:
    """One kind of feature map.

    `title`: its name for people. `methods`: its paragraph of a methods section, in the past tense,
    from its settings and a word for the variables that went in. `refit`: None for a map that is not
    made of outcomes and so stays as it is when people are left out. `in_words`: a fitted map in a
    few words. `tests_dimension`: a test chooses its dimension, among candidates. `stability`: it is
    worth fitting again to resampled people. `keeps_finished`: a fit that is stopped may have a
    result all the same.
    """

    name: str
    title: str
    settings: type[Settings]
    fit: Fit
    methods: Callable[[Any, str], str]
    refit: Refit | None = None
    in_words: Callable[[FittedFeatureMap], str] = features_of_variables
    tests_dimension: bool = False
    stability: bool = False
    keeps_finished: bool = False

    def without_each(
        self,
        trajectories: Trajectories,
        fitted: FittedFeatureMap,
        fold: NDArray[np.int64],
        *,
        progress: Progress,
    ) -> list[FittedFeatureMap]:
        """For each fold, the map as the people of the others make it."""
        if self.refit is None or not fitted.variables_used:
            return [fitted] * (int(fold.max()) + 1)
        return self.refit(trajectories, fitted, fold, progress=progress)


def tuned_words(what: str, values: Sequence[float], folds: int) -> str:
    """A sentence of a methods section on a setting that cross-validation chose, if it could."""
    named = ", ".join(f"{value:g}" for value in values)
    if len(values) == 1:
        return f"{what} was {named}."
    return f"{what} was chosen among {named} by {folds}-fold cross-validation over subjects."


def check_asked(
    trajectories: Trajectories, settings: object, kind: type[Settings], seed: int
) -> None:
    """Refuse what no map of a kind can be fitted to or with."""
    check_seed(seed)
    given = f"{type(settings).__name__}()"
    require(isinstance(settings, kind), "settings", f"{kind.__name__} for this map", given)
    if not trajectories.variables:
        raise DataError(
            "There is no state variable to build features of: none was selected by screening.",
            "Raise the level of screening, force variables in, or use all variables.",
        )
    if not trajectories.valid.any():
        raise DataError(
            "No transition is valid, so no feature map can be fitted.",
            "Check the roles of the columns and the exclusions.",
        )
