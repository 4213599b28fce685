"""Complete trajectories: what every later step of an analysis works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.memory_layout import in_c_order
from smdp.data.rows import Rows, numbered
from smdp.data.variables import Variable, changing, described, wholes
from smdp.errors import DataError
from smdp.result import Result
from smdp.text import listing


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(Result):
    """n subjects, T decisions (the longest subject's), p state variables, K actions.

    The transition at t is (states[i, t], actions[i, t], utilities[i, t], states[i, t + 1]); only
    those with `valid[i, t]` are real. After a subject's end, states and utilities are NaN.
    `about` says what each variable is; one that nothing is said about is continuous. A variable of
    several columns (nominal, a vector, a text) has a place for each of them; `wholes` has them by
    the variable.
    """

    states: NDArray[np.float64]  # (n, T + 1, p)
    actions: NDArray[np.int64]  # (n, T), 0 .. K-1; -1 where unknown or none could be taken
    utilities: NDArray[np.float64]  # (n, T)
    valid: NDArray[np.bool_]  # (n, T)
    available: NDArray[np.bool_]  # (n, T), whether an action could be chosen
    probabilities: NDArray[np.float64]  # (n, T, K), randomisation probabilities, NaN where unknown
    variables: tuple[str, ...]  # p
    subjects: tuple[str, ...]  # n
    action_labels: tuple[str, ...]  # K
    about: tuple[Variable, ...] = ()  # p, in the order of `variables`

    def __post_init__(self) -> None:
        n, times = self.actions.shape
        expected = {
            "states": (n, times + 1, len(self.variables)),
            "utilities": (n, times),
            "valid": (n, times),
            "available": (n, times),
            "probabilities": (n, times, len(self.action_labels)),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise DataError(
                    f"Trajectories need '{name}' of shape {shape}, got {getattr(self, name).shape}."
                )
        if len(self.subjects) != n:
            raise DataError(f"Trajectories have {n} rows but {len(self.subjects)} subject names.")
        in_c_order(self)
        if tuple(each.name for each in self.about) != self.variables:
            about = described(self.variables, self.about, changing(self.states).tolist())
            object.__setattr__(self, "about", about)

    def variable(self, name: str) -> Variable:
        """What the state variable (of several columns: the column) of this name is."""
        if name not in self.variables:
            self._refuse_unknown([name])
            raise DataError(
                f"'{name}' has several columns.",
                f"They are: {listing([self.variables[j] for j in self.wholes[name]], 20)}.",
            )
        return self.about[self.variables.index(name)]

    @property
    def wholes(self) -> dict[str, tuple[int, ...]]:
        """The places of each variable's columns, by the name with which it enters and leaves."""
        return wholes(self.about)

    def select(self, variables: Sequence[str]) -> Trajectories:
        """The same trajectories with these state variables only, in this order.

        A variable of several columns brings all of them; a single one of them can be named too.
        """
        self._refuse_unknown(variables)
        places = {name: (j,) for j, name in enumerate(self.variables)}
        columns = [j for name in variables for j in (self.wholes | places)[name]]
        return replace(
            self,
            states=self.states[:, :, columns],
            variables=tuple(self.variables[j] for j in columns),
            about=tuple(self.about[j] for j in columns),
        )

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Trajectories:
        """Only these trajectories: a mask (n,), or places, in that order and as often."""
        return replace(
            self,
            states=self.states[chosen],
            actions=self.actions[chosen],
            utilities=self.utilities[chosen],
            valid=self.valid[chosen],
            available=self.available[chosen],
            probabilities=self.probabilities[chosen],
            subjects=tuple(np.array(self.subjects, dtype=object)[chosen]),
        )

    def rows(self) -> Rows:
        """The valid decisions, one below the other."""
        row, time = np.nonzero(self.strata >= 0)
        subject = numbered(numbered(np.array(self.subjects))[row])
        return Rows(row, time, subject, self.actions.shape)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """(n, T, K): the actions that could be chosen; a known probability of 0 rules one out."""
        return np.asarray(self.available[:, :, None] & (self.probabilities != 0))

    @property
    def strata(self) -> NDArray[np.int64]:
        """(n, T): the action taken, K where none could be taken, -1 where not valid."""
        unavailable = len(self.action_labels)
        level = np.where(self.available, self.actions, unavailable)
        return np.where(self.valid, level, -1)

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        known = {*self.variables, *self.wholes}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise DataError(
                f"There is no state variable {listing(unknown)}.",
                f"The variables are: {listing(self.wholes, 20)}.",
            )
