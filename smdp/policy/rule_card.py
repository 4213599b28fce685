"""A rule that fits on a card: at most three questions in a row, and an action at each end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smdp.policy.decision_rule import NO_ACTION, allowed_actions
from smdp.result import Content
from smdp.text import action_name


@dataclass(frozen=True)
class Question:
    """Yes where the largest of the columns reaches the cut; the other way round if `turned`.

    A number is asked for by its cut, and `said` is that cut in the variable's own units, which is
    what people read: on the rescaled levels of the data it divides them where `cut` does. Of named
    values one is asked for, `level`; of several columns together only a nominal variable's first
    level, which is there where none of the others is.
    """

    variable: str  # as it enters and leaves: of a nominal one, the whole
    columns: tuple[str, ...]
    cut: float
    turned: bool = False
    said: float | None = None  # None where a level is asked for
    level: str = ""
    other: str = ""  # the other value of a variable that has two
    unit: str = ""

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(..,) from (.., columns)."""
        return np.asarray((values.max(axis=-1) >= self.cut) != self.turned)

    def words(self, holds: bool = True) -> str:
        """'stress ≥ 4', 'weekend is yes'; or what is the case where it does not hold."""
        if self.said is None:
            if self.other and not holds:
                return f"{self.variable} is {self.other}"
            return f"{self.variable} is {'' if holds else 'not '}{self.level}"
        number = f"{self.said:.12g} {self.unit}".rstrip()
        return f"{self.variable} {'≥' if holds else '<'} {number}"


@dataclass(frozen=True)
class End:
    """Where the card says what to do."""

    action: int
    decisions: int = 0  # of those that it was made from


@dataclass(frozen=True)
class Branch:
    question: Question
    yes: Branch | End
    no: Branch | End


Tree: TypeAlias = Branch | End


@dataclass(frozen=True, eq=False, repr=False)
class RuleCard(Content):
    """A tree of questions about variables that were measured; it can be evaluated like any policy.

    Where its action cannot be chosen, the first that can.
    """

    tree: Tree
    action_labels: tuple[str, ...]  # K

    @property
    def depth(self) -> int:
        """The most questions in a row."""
        return _depth(self.tree)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Each that is asked, the first one first; those after a yes before those after a no."""
        return tuple(dict.fromkeys(branch.question for branch in _branches(self.tree)))

    @property
    def asked(self) -> tuple[str, ...]:
        """The variables that are asked for, each once."""
        return tuple(dict.fromkeys(each.variable for each in self.questions))

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns, in the order in which arrays of states have them."""
        return tuple(dict.fromkeys(name for each in self.questions for name in each.columns))

    def recommend(
        self, states: ArrayLike, available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """(...,): the action at the end; -1 where none may be chosen or an answer is missing."""
        values = np.asarray(states, dtype=float)
        allowed = allowed_actions(available, (*values.shape[:-1], len(self.action_labels)))
        wanted = np.full(values.shape[:-1], NO_ACTION, dtype=np.int64)
        for conditions, end in self.paths():
            here = np.ones(wanted.shape, dtype=bool)
            for question, holds in conditions:
                own = values[..., [self.variables.index(name) for name in question.columns]]
                here &= np.isfinite(own).all(axis=-1) & (question.holds(own) == holds)
            wanted[here] = end.action
        return first_allowed(wanted, allowed)

    def paths(self) -> Iterator[tuple[tuple[tuple[Question, bool], ...], End]]:
        """What has to hold for each end, and the end."""
        yield from _paths(self.tree, ())

    def in_words(self) -> str:
        """'if stress ≥ 4 and weekend is yes: message; else none', or 'none for everybody'."""
        ends = list(self.paths())
        labels = [action_name(label) for label in self.action_labels]
        if len(ends) == 1:
            return f"{labels[ends[0][1].action]} for everybody"
        counts = np.bincount([end.action for _, end in ends], minlength=len(self.action_labels))
        usual = int(counts.argmax())
        told = [
            f"if {' and '.join(question.words(holds) for question, holds in conditions)}: "
            f"{labels[end.action]}"
            for conditions, end in ends
            if end.action != usual
        ]
        return f"{'; '.join(told)}; else {labels[usual]}"


def first_allowed(wanted: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(..,): the action wanted, where it may not be chosen the first that may, or -1."""
    fits = np.take_along_axis(allowed, np.maximum(wanted, 0)[..., None], axis=-1)[..., 0]
    found = np.where(fits, wanted, allowed.argmax(axis=-1))
    return np.where((wanted >= 0) & allowed.any(axis=-1), found, NO_ACTION)


def _depth(tree: Tree) -> int:
    return 0 if isinstance(tree, End) else 1 + max(_depth(tree.yes), _depth(tree.no))


def _branches(tree: Tree) -> Iterator[Branch]:
    if isinstance(tree, Branch):
        yield tree
        yield from _branches(tree.yes)
        yield from _branches(tree.no)


def _paths(
    tree: Tree, before: tuple[tuple[Question, bool], ...]
) -> Iterator[tuple[tuple[tuple[Question, bool], ...], End]]:
    if isinstance(tree, End):
        yield before, tree
        return
    yield from _paths(tree.yes, (*before, (tree.question, True)))
    yield from _paths(tree.no, (*before, (tree.question, False)))
