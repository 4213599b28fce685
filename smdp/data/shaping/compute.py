"""New columns worked out from others: by a formula, or by rules that give levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from smdp.data.shaping.cells import CellValues
from smdp.data.shaping.evaluate import evaluate, holds
from smdp.data.shaping.operation import (
    REQUIRED,
    UNITS,
    Operation,
    Shaped,
    check_formula,
    check_name,
    name_setting,
    replace_setting,
    require_free,
    used_by,
    with_column,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.errors import SettingError
from smdp.settings import Settings, setting
from smdp.text import listing, plural, shorten

CONDITION_HELP = "Such as  avail = 1 and day_number(date) > 1"
NO_RULE = "no rule holds"


@dataclass(frozen=True, eq=False)
class ComputeColumn(Operation, do="compute", title="Compute a column"):
    """A new column `name`, worked out by a `formula` such as "log(steps + 0.5)".

    `unit`: what its numbers count, such as "hours". `replace`: whether a column of that name may be
    replaced.
    """

    name: str = name_setting()
    formula: str = setting(
        REQUIRED,
        "Formula",
        help="Such as  log(steps + 0.5)",
        control="text",
        stands_for="formula",
    )
    unit: str = setting("", "Unit", help="What its numbers count, such as hours.", control="text")
    replace: bool = replace_setting()

    def check(self) -> None:
        check_name(self.name)
        check_formula(self.formula)

    def describe(self) -> str:
        unit = f", in {shorten(self.unit)}" if self.unit else ""
        return f"'{shorten(self.name)}' is {shorten(self.formula, 200)}{unit}."

    def uses(self) -> tuple[str, ...]:
        return used_by(self.formula)

    def makes(self) -> tuple[str, ...]:
        return (self.name,)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_free(frame, self.name, self.replace)
        done = evaluate(self.formula, frame, known)
        made, changed = with_column(frame, self.name, done.cells)
        units = {UNITS: {self.name: self.unit}} if self.unit else {}
        return Shaped(made, (self.name,), changed, done.found, labels=units)


@dataclass(frozen=True)
class Rule(Settings):
    """A `level` for the rows where a `condition` is true."""

    condition: str = setting(
        REQUIRED, "Where", help=CONDITION_HELP, control="text", stands_for="formula"
    )
    level: str = setting(REQUIRED, "Level", control="text")

    def check(self) -> None:
        check_formula(self.condition)


@dataclass(frozen=True, eq=False)
class CombineColumns(Operation, do="combine", title="Combine columns into levels"):
    """A column of levels by `rules`: in each row, the first rule whose condition is true.

    `otherwise`: the level where none is; "" for missing. `rules`: `Rule`s, or pairs of a condition
    and a level.
    """

    name: str = name_setting()
    rules: tuple[Rule, ...] = setting(REQUIRED, "Rules", what="rules")
    otherwise: str = setting("", "Otherwise", empty="missing", control="text")
    replace: bool = replace_setting()

    def __post_init__(self) -> None:
        rules = tuple(
            Rule(*rule) if isinstance(rule, tuple | list) else rule for rule in self.rules
        )
        object.__setattr__(self, "rules", rules)
        super().__post_init__()

    def check(self) -> None:
        check_name(self.name)
        if not self.rules:
            raise SettingError(f"'{shorten(self.name)}' has no rules.", "Give at least one.")

    def describe(self) -> str:
        levels = [f"{rule.level or 'missing'} where {rule.condition}" for rule in self.rules]
        otherwise = shorten(self.otherwise) or "missing"
        return f"'{shorten(self.name)}' is {listing(levels, 12)}, otherwise {otherwise}."

    def uses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for rule in self.rules for name in used_by(rule.condition)))

    def makes(self) -> tuple[str, ...]:
        return (self.name,)

    def _work(self, frame: pd.DataFrame, known: Surroundings) -> Shaped:
        require_free(frame, self.name, self.replace)
        named = [*(rule.level for rule in self.rules), self.otherwise]
        levels = list(dict.fromkeys(level for level in named if level))
        places = {level: place for place, level in enumerate(levels)}
        chosen = np.full(len(frame), places.get(self.otherwise, -1))
        settled = np.zeros(len(frame), bool)
        found: dict[str, int] = {}
        for rule in self.rules:
            done = holds(rule.condition, frame, known)
            new = (done.cells.values == 1) & ~settled
            chosen[new] = places.get(rule.level, -1)
            settled |= new
            for what, rows in done.found.items():
                found[what] = max(rows, found.get(what, 0))
        made, changed = with_column(
            frame, self.name, CellValues("text", chosen, np.array(levels, object))
        )
        counts = np.bincount(chosen[chosen >= 0], minlength=len(levels))
        by_level = dict(zip(levels, counts.tolist(), strict=True))
        notes = [
            f"No row has the level '{shorten(level)}'." for level in levels if not by_level[level]
        ]
        if not settled.all():
            end = f"'{shorten(self.otherwise)}'" if self.otherwise else "missing"
            notes.append(f"{plural(int((~settled).sum()), 'row')} where {NO_RULE}: {end}.")
        return Shaped(made, (self.name,), changed, found, by_level, tuple(notes))
