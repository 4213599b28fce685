"""What the outcome is: its kind, its unit, which way is better, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.settings import require
from smdp.text import shorten

OutcomeKind = Literal["continuous", "yes/no", "count"]
OUTCOME_KINDS: tuple[OutcomeKind, ...] = ("continuous", "yes/no", "count")

#: More different whole numbers than a scale from 0 to 100 has are counted.
MOST_OF_A_SCALE = 101
#: Counts lean towards zero; the skewness from which whole numbers from 0 on are taken for some.
LEANING = 0.5
LONGEST_UNIT = 40


@dataclass(frozen=True)
class AboutOutcome:
    """What is said of the outcome beside its column.

    `kind=None` is recognised from the values. `unit`: what its numbers count, such as "steps".
    `less_is_better`: of a column that was measured after the decision; a `NextValue` has its sign.
    """

    kind: OutcomeKind | None = None
    unit: str = ""
    less_is_better: bool = False

    def __post_init__(self) -> None:
        wanted = f"one of {OUTCOME_KINDS}"
        require(self.kind in (None, *OUTCOME_KINDS), "kind of the outcome", wanted, self.kind)
        short = len(self.unit) <= LONGEST_UNIT
        require(short, "unit of the outcome", f"at most {LONGEST_UNIT} letters", self.unit)


@dataclass(frozen=True)
class OutcomeName:
    """What sentences and axes call the outcome: more of it is always better.

    An outcome of which less is better is counted as minus itself.
    """

    name: str = "utility"  # 'steps', 'next mood', 'minus next cigs'
    unit: str = ""
    column: str = ""  # "" where nobody said what it is
    sign: int = 1

    @property
    def the(self) -> str:
        """In a sentence: 'steps', but 'the utility'."""
        return shorten(self.name, 40) if self.column else f"the {self.name}"

    @property
    def title(self) -> str:
        """On an axis or where numbers are announced: 'steps (per day)'."""
        return f"{shorten(self.name, 40)} ({self.unit})" if self.unit else shorten(self.name, 40)

    @property
    def the_title(self) -> str:
        return self.title if self.column else self.the

    @property
    def better(self) -> str:
        """Which way is good: 'less cigs is better'; nothing where nobody said what it is."""
        if not self.column:
            return ""
        return f"{'more' if self.sign > 0 else 'less'} {shorten(self.column, 40)} is better"

    def amount(self, text: str) -> str:
        """A number of it with its unit, if it has one."""
        return f"{text} {self.unit}" if self.unit else text


#: What it is called where nobody said what it is.
UTILITY_NAME = OutcomeName()


def recognise_outcome(values: NDArray[np.float64]) -> OutcomeKind:
    """The kind that these values seem to be of; a first guess, to be corrected.

    Two values are yes and no. Whole numbers from 0 on are counts if they lean towards zero, or are
    more than any scale has; a rating is taken as continuous.
    """
    seen = values[np.isfinite(values)]
    distinct = np.unique(seen)
    if len(distinct) <= 2:
        return "yes/no" if len(distinct) == 2 else "continuous"
    if distinct[0] < 0 or not np.all(distinct == np.round(distinct)):
        return "continuous"
    away = seen - seen.mean()
    leans = float((away**3).mean() / (away**2).mean() ** 1.5) >= LEANING
    counted = (distinct[0] == 0 and leans) or len(distinct) > MOST_OF_A_SCALE
    return "count" if counted else "continuous"
