"""Names of people replaced by numbers that do not lead back to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.shaping.cells import CellValues, as_text, column_cells
from smdp.data.shaping.operation import REQUIRED, Operation, Shaped, require_columns, with_column
from smdp.data.shaping.person_rows import Surroundings
from smdp.settings import setting
from smdp.text import listing, shorten

_FIRST_LOOK = 1_000  # rows, which tell most columns from one that holds the names as well


@dataclass(frozen=True, eq=False)
class Pseudonymise(Operation, do="pseudonymise", title="Replace names by pseudonyms"):
    """Numbers in place of the values of a `column`: P001, P002, ..

    They are given in the order of first appearance or, with a `seed`, in a random order. Nothing of
    the old values is kept, and no key to them.
    """

    column: str = setting(REQUIRED, "Column", stands_for="column")
    prefix: str = setting("P", "Begins with", control="text")
    seed: int | None = setting(
        None,
        "Seed of a random order",
        help="Without one, people are numbered as they first appear.",
        least=0,
        control="number",
        empty="in order of appearance",
    )

    def describe(self) -> str:
        order = "in the order of appearance" if self.seed is None else "in a random order"
        first = f"{shorten(self.prefix)}1"
        return f"'{shorten(self.column)}' is replaced by pseudonyms ({first}, ..) {order}."

    def uses(self) -> tuple[str, ...]:
        return (self.column,)

    def makes(self) -> tuple[str, ...]:
        return (self.column,)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_columns(frame, [self.column])
        names = as_text(column_cells(frame[self.column]))
        places, distinct = pd.factorize(np.where(names.missing, np.nan, names.values))
        people = len(distinct)
        number = np.arange(people)
        if self.seed is not None:
            number = np.random.default_rng(self.seed).permutation(people)
        width = max(3, len(str(people)))
        called = np.array([f"{self.prefix}{k + 1:0{width}d}" for k in range(people)], object)
        cells = CellValues("text", np.append(number, -1)[places], called)
        made, changed = with_column(frame, self.column, cells)
        # An index may hold the names as well.
        made = made.reset_index(drop=True)
        old = set(names.levels[distinct.astype(int)])
        twins = [name for name in map(str, made.columns) if _holds(made, name, self.column, old)]
        notes = (
            (f"The same values stand in {listing(twins)}, which are not replaced.",)
            if twins
            else ()
        )
        return Shaped(made, (self.column,), changed, notes=notes)


def _holds(frame: pd.DataFrame, name: str, replaced: str, old: set[str]) -> bool:
    """Whether another column has just the values that were replaced."""
    if name == replaced or not old:
        return False
    column = frame[name]
    first = column.iloc[: 2 * len(old) + _FIRST_LOOK]
    if first.nunique() > len(old) or column.nunique() != len(old):
        return False
    distinct = column.dropna().unique()
    return set(as_text(column_cells(pd.Series(distinct))).levels) == old
