"""What a card may ask: of each measured variable a few questions that a person could say aloud."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows, require_complete
from smdp.data.variables import Variable
from smdp.errors import SettingError
from smdp.policy.as_measured import AsMeasured
from smdp.policy.rule_card import Question
from smdp.text import listing

Floats = NDArray[np.float64]

#: Cut points of a variable; with more different values they lie at quantiles.
MOST_CUTS = 24
#: How far a cut may be moved to a rounder number, in steps between two quantiles.
MOVED = 0.4


@dataclass(frozen=True)
class Askable:
    """One variable as the search sees it: each decision's answer to all its questions as one code.

    Of numbers, the k-th question (from 0) holds where the code is above k; of levels, where it is
    k.
    """

    variable: str
    ordered: bool
    questions: tuple[Question, ...]
    codes: NDArray[np.uint8]  # (R,)

    @property
    def bins(self) -> int:
        return len(self.questions) + int(self.ordered)

    def holds(self, question: int) -> NDArray[np.bool_]:
        """(R,)"""
        return np.asarray(self.codes > question if self.ordered else self.codes == question)


@dataclass(frozen=True)
class Askables:
    """`left_out`: variables of several numbers and texts, of which no card can ask."""

    each: tuple[Askable, ...]
    left_out: tuple[str, ...]


def askables(measured: AsMeasured, rows: Rows, variables: Sequence[str] | None = None) -> Askables:
    """The questions about these variables (None: all) with the answers at these decisions.

    A variable that is the same at all of them has none.
    """
    trajectories = measured.trajectories
    known = trajectories.wholes
    unknown = [name for name in variables or () if name not in known]
    if unknown:
        raise SettingError(
            f"The setting 'variables' names {listing(unknown)}, which the data do not have.",
            f"The variables are: {listing(known, 20)}.",
        )
    found, left_out = [], []
    for name, places in known.items():
        if variables is not None and name not in variables:
            continue
        about = [trajectories.about[j] for j in places]
        if about[0].whole_kind in ("vector", "text"):
            left_out.append(name)
            continue
        values = rows.at(trajectories.states)[:, list(places)]
        require_complete(values)
        nominal = about[0].whole_kind == "nominal"
        first = measured.first_levels.get(name, "")
        own = _levels(first, about, values) if nominal else _numbers(about[0], values[:, 0])
        if own.questions:
            found.append(own)
    return Askables(tuple(found), tuple(left_out))


def _levels(first: str, about: Sequence[Variable], values: Floats) -> Askable:
    """Whether a nominal variable has a level, for each level that somebody has."""
    name, columns = about[0].whole, tuple(each.name for each in about)
    names = [first or f"none of {listing((each.part for each in about), 20)}"]
    names += [each.part for each in about]
    place = np.where(values.max(axis=1) >= 0.5, values.argmax(axis=1) + 1, 0)
    there = np.unique(place)
    asked = list(there) if len(there) > 2 else list(there[1:])
    other = names[there[0]] if len(there) == 2 else ""
    questions = tuple(
        Question(name, columns, 0.5, turned=True, level=names[k], other=other)
        if k == 0
        else Question(name, (columns[k - 1],), 0.5, level=names[k], other=other)
        for k in asked
    )
    code = np.full(len(names), len(asked))
    code[asked] = np.arange(len(asked))
    return Askable(name, False, questions, code[place].astype(np.uint8))


def _numbers(variable: Variable, values: Floats) -> Askable:
    """Whether a number reaches a cut; of two values, whether it is the larger one."""
    different = np.unique(values)
    own = np.asarray(variable.own(different))
    named = dict(variable.levels)
    if len(different) < 2 or own[0] == own[-1]:
        return Askable(variable.name, True, (), np.zeros(len(values), np.uint8))
    if len(different) == 2 and (named or variable.kind == "binary"):
        low, high = (named.get(round(v, 10)) or f"{v:.4g}" for v in own.tolist())
        middle = float(different.mean())
        asked = [Question(variable.name, (variable.name,), middle, level=high, other=low)]
    else:
        asked = [
            Question(variable.name, (variable.name,), cut, said=said, unit=variable.unit)
            for cut, said in _cuts(variable, different, values)
        ]
    cuts = np.array([each.cut for each in asked])
    return Askable(
        variable.name,
        True,
        tuple(asked),
        np.searchsorted(cuts, values, side="right").astype(np.uint8),
    )


def _cuts(variable: Variable, different: Floats, values: Floats) -> list[tuple[float, float]]:
    """Cuts of the data's numbers in increasing order, each with what is said in own units."""
    own = np.asarray(variable.own(different))
    if len(different) - 1 <= MOST_CUTS:
        said = [_between(variable, low, high) for low, high in pairwise(own.tolist())]
        at = range(1, len(different))
    else:
        steps = np.arange(1, MOST_CUTS + 1)[:, None] + np.array([-MOVED, 0, MOVED])
        places = np.quantile(np.asarray(variable.own(values)), steps / (MOST_CUTS + 1))
        ends = [(low, middle, high) for low, middle, high in places.tolist() if low < high]
        said = sorted({roundest(low, high, middle) for low, middle, high in ends})
        slack = 1e-9 * (own[-1] - own[0])
        at = np.searchsorted(own, np.array(said) - slack).tolist()
    found: dict[int, tuple[float, float]] = {}
    for place, cut in zip(at, said, strict=True):
        if not 0 < place < len(different) or place in found:
            continue
        middle = float(different[place - 1] + different[place]) / 2
        found[place] = (cut if variable.rescaled_from is None else middle, cut)
    return list(found.values())


def _between(variable: Variable, low: float, high: float) -> float:
    """What is said of the cut between two neighbouring values.

    Whole numbers that were moved to levels lie nearer to the one or the other: the first whole
    number above the middle is the least that went up.
    """
    middle = (low + high) / 2
    whole = low == round(low) and high == round(high)
    if variable.kind == "ordinal" and variable.rescaled_from is not None and not whole:
        return float(math.floor(middle) + 1)
    return roundest(low, high, middle)


def roundest(low: float, high: float, near: float) -> float:
    """The number above `low` and up to `high` with the fewest digits; of several, that nearest."""
    for power in range(math.ceil(math.log10(max(high - low, abs(high), abs(low)))) + 1, -16, -1):
        for step in (1.0, 0.5, 0.2):
            tick = step * 10.0**power
            for count in (round(near / tick), math.floor(high / tick), math.floor(low / tick) + 1):
                found = round(count * tick, max(0, 1 - power))
                if low < found <= high:
                    return found
    return high
