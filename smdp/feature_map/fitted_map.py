"""A fitted feature map: plain data, computed with numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.data.variables import Variable, described
from smdp.errors import DataError
from smdp.feature_map.layers import Layer, apply
from smdp.result import Result
from smdp.text import listing


@dataclass(frozen=True)
class NetworkSize:
    """What is held fixed of one network when it is fitted to other people."""

    variables: tuple[str, ...]  # those that it uses
    dimension: int  # its features
    width: int
    depth: int
    weight_decay: float


@dataclass(frozen=True, eq=False, repr=False)
class FittedFeatureMap(Result):
    """phi(s), from the state variables to `dimension` features, and how it was found.

    `weights`: feature x variable, in units of standardised variables. For a map of one layer they
    are that layer's weights; for a deeper one each feature's derivative by each variable, averaged
    over the transitions (`weights_are` says which). Signs and order of features are not identified:
    each feature's largest weight is positive, and features come in the order of how much the
    effect of the action on the utility changes with them.
    """

    kind: str  # a name of `smdp.feature_map.kinds`
    variables: tuple[str, ...]  # the p inputs that `transform` expects
    layers: tuple[Layer, ...]  # on standardised inputs
    activation: str  # after each layer
    centre: NDArray[np.float64]  # (p,)
    scale: NDArray[np.float64]  # (p,)
    weights: pd.DataFrame  # feature x variable
    column_norms: pd.Series  # by variable: the Euclidean norm of its first-layer weights
    steps: pd.DataFrame  # one row for each pass: variables, dimension, penalty, .., p-values
    candidates: pd.DataFrame  # one row for each pass and dimension tried
    settings: Any  # those of its kind
    seed: int
    notes: tuple[str, ...] = ()  # what a reader should know: candidates left out, say
    complete: bool = True  # False: stopped between two passes, the last of which this is
    networks: tuple[NetworkSize, ...] = ()  # of a map that is put together, each of its networks
    about: tuple[Variable, ...] = ()  # p: what each of `variables` is

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", described(self.variables, self.about))

    def variable(self, name: str) -> Variable:
        """What the input of this name is."""
        return self.about[self.variables.index(name)]

    @property
    def dimension(self) -> int:
        return len(self.layers[-1].bias)

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(self.weights.index)

    @property
    def variables_used(self) -> tuple[str, ...]:
        """The variables whose column of the first layer is not exactly zero."""
        return tuple(self.variables[j] for j in self._used)

    @property
    def wholes_used(self) -> tuple[str, ...]:
        """The same by the variables that enter and leave as one, of several columns or one."""
        return tuple(dict.fromkeys(self.about[j].belongs_to for j in self._used))

    @property
    def _used(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.layers[0].weights.any(axis=0))

    @property
    def weights_are(self) -> Literal["first layer", "average gradient"]:
        return "first layer" if len(self.layers) == 1 else "average gradient"

    def require_variables(self, variables: Sequence[str]) -> None:
        """Refuse data whose state variables are not, in this order, those of this map."""
        if tuple(variables) == self.variables:
            return
        absent = [name for name in self.variables if name not in variables]
        other = [name for name in variables if name not in self.variables]
        parts = [f"the data have no {listing(absent)}"] if absent else []
        parts += [f"the map does not know {listing(other)}"] if other else []
        raise DataError(
            "The feature map was made for another set of variables: "
            f"{' and '.join(parts) or 'theirs have another order'}.",
            f"Select the variables that it was fitted to ({listing(self.variables, 20)}), or fit "
            "a map to these data.",
        )

    def transform(self, states: ArrayLike | pd.DataFrame) -> NDArray[np.float64]:
        """(..., dimension): the features of states (..., p), or of a table's columns by name.

        Variables that are not used may be missing, in a table even altogether.
        """
        used = self._used
        if isinstance(states, pd.DataFrame):
            absent = [self.variables[j] for j in used if self.variables[j] not in states.columns]
            if absent:
                raise DataError(
                    f"The feature map needs the variable {listing(absent)}, which the table does "
                    "not have.",
                    f"It was fitted to: {listing(self.variables, 20)}.",
                )
            values = states[[self.variables[j] for j in used]].to_numpy(dtype=np.float64)
        else:
            array = np.asarray(states, dtype=np.float64)
            if array.ndim == 0 or array.shape[-1] != len(self.variables):
                columns = array.shape[-1] if array.ndim else 0
                raise DataError(
                    f"The feature map expects {len(self.variables)} variables "
                    f"({listing(self.variables, 20)}), but the states have {columns}.",
                    "Give the states with these variables, in this order, or a table with names.",
                )
            values = array[..., used]
        first = self.layers[0]
        own = Layer(first.weights[:, used], first.bias)
        standardised = (values - self.centre[used]) / self.scale[used]
        return apply((own, *self.layers[1:]), self.activation, standardised)
