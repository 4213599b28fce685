"""A rule that somebody wrote herself: conditions as formulas, and the action where one holds.

    stress < 4 and weekend = 'yes' -> message; pain > 6 -> call; else none

The first condition that holds decides. Formulas are those of shaping the table
(`smdp.data.shaping`), about the present decision in the variables' own units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.data.shaping.evaluate import Evaluation, read_formula
from smdp.data.shaping.formula import (
    Call,
    Chain,
    ColumnName,
    Constant,
    Formula,
    Node,
    Unary,
    columns_in,
    nearest,
    written,
)
from smdp.data.shaping.person_rows import Surroundings
from smdp.data.variables import Variable, wholes
from smdp.errors import SettingError
from smdp.policy.as_measured import AsMeasured
from smdp.policy.decision_rule import NO_ACTION, allowed_actions
from smdp.policy.rule_card import first_allowed
from smdp.result import Content
from smdp.text import listing, shorten

Floats = NDArray[np.float64]

#: Functions that look at other rows than the present one.
OTHER_ROWS = ("lag", "difference", "time_since_last", "row_number", "day_number")
#: Significant digits of a value turned back to its own units, so that 4 is 4.
DIGITS = 10
ELSE = "else"
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")

_QUOTED = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]"
_PARTS = re.compile(rf"({_QUOTED})|(;)")
_ARROW = re.compile(rf"({_QUOTED})|(->|→)")
_ELSE = re.compile(r"[,;]?\s*\belse\b\s*(?:->|→|:)?\s*", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class OwnRule(Content):
    """It can be evaluated like any policy that was not learned from the data.

    Where its action cannot be chosen, the first that can.
    """

    text: str
    conditions: tuple[str, ...]
    actions: tuple[int, ...]  # of each condition
    otherwise: int
    action_labels: tuple[str, ...]
    about: tuple[Variable, ...]  # the columns that its conditions need
    first_levels: tuple[tuple[str, str], ...] = ()  # of nominal variables

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.about)

    @property
    def asked(self) -> tuple[str, ...]:
        """The variables that it asks for, each once."""
        return tuple(wholes(self.about))

    def recommend(
        self, states: ArrayLike, available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """(...,): what the first condition that holds says; -1 where nothing may be chosen."""
        values = np.asarray(states, dtype=float)
        allowed = allowed_actions(available, (*values.shape[:-1], len(self.action_labels)))
        decided = self.decided(values.reshape(-1, values.shape[-1])).reshape(values.shape[:-1])
        actions = np.array([*self.actions, self.otherwise])
        wanted = np.where(np.isfinite(values).all(axis=-1), actions[decided], NO_ACTION)
        return first_allowed(wanted, allowed)

    def decided(self, states: Floats) -> NDArray[np.int64]:
        """(R,): the place of the condition that decides, the number of them where none holds."""
        frame = self._frame(states)
        found = np.full(len(states), len(self.conditions))
        for place, condition in reversed(list(enumerate(self.conditions))):
            found[_holds(condition, frame, self.about, self.first_levels)] = place
        return found

    def _frame(self, states: Floats) -> pd.DataFrame:
        first = dict(self.first_levels)
        columns: dict[str, object] = {}
        for name, places in wholes(self.about).items():
            own = [self.about[j] for j in places]
            values = states[:, list(places)]
            if own[0].whole_kind == "nominal":
                levels = np.array([first.get(name, ""), *(each.part for each in own)], object)
                place = np.where(values.max(axis=1) >= 0.5, values.argmax(axis=1) + 1, 0)
                columns[name] = levels[place]
                continue
            for variable, column in zip(own, values.T, strict=True):
                columns[variable.name] = significant(np.asarray(variable.own(column)))
        return pd.DataFrame(columns, index=range(len(states)))


def read_own_rule(text: str, measured: AsMeasured) -> OwnRule:
    """The rule in a text; an error at its place if it cannot be read or knows no such variable."""
    labels = measured.trajectories.action_labels
    conditions, actions, otherwise = _cases(text, labels)
    askable = tuple(v for v in measured.trajectories.about if v.whole_kind != "text")
    names = _names(askable)
    needed: list[str] = []
    for condition in conditions:
        formula = read_formula(condition)
        for node in _nodes(formula.root):
            _check(node, formula, names)
        needed += [names[name] for name in columns_in(formula)]
    whole = wholes(askable)
    places = sorted({j for name in needed for j in whole[name]})
    about = tuple(askable[j] for j in places)
    first = tuple((k, v) for k, v in sorted(measured.first_levels.items()) if k in needed)
    rule = OwnRule(text, conditions, actions, otherwise, labels, about, first)
    rule.decided(np.zeros((1, len(about))))  # what cannot be worked out is said now
    return rule


def own_rule_text(condition: str, action: str, otherwise: str) -> str:
    """As it is written."""
    return f"{condition} -> {action}; {ELSE} {otherwise}"


def clicked_condition(variable: Variable, comparison: str, value: float | str) -> str:
    """'stress < 4', of a variable, a comparison and a value that were chosen."""
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"{written(variable.belongs_to)} {comparison} '{quoted}'"
    return f"{written(variable.name)} {comparison} {value:.12g}"


def significant(values: Floats) -> Floats:
    """Without the last digits, which moving to levels and back leaves behind."""
    size = np.where(values == 0, 1.0, np.abs(values))
    unit = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.round(values * unit) / unit)


def _cases(text: str, labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...], int]:
    conditions, actions = [], []
    otherwise: str | None = None
    for part in _divided(text, _PARTS):
        if not part.strip():
            continue
        if otherwise is not None:
            raise SettingError(
                f"In the rule '{shorten(text)}' something follows after '{ELSE} ..'.",
                "Write what is done otherwise at the end.",
            )
        sides = _divided(part, _ARROW)
        start = _ELSE.match(part.strip())
        if start and start.end():
            otherwise = part.strip()[start.end() :]
            continue
        if len(sides) != 2:
            raise SettingError(
                f"The part '{shorten(part.strip())}' of the rule has no action.",
                f"Write it as: condition -> {labels[-1]}; {ELSE} {labels[0]}.",
            )
        conditions.append(sides[0].strip())
        action, *rest = _ELSE.split(sides[1].strip(), maxsplit=1)
        actions.append(_action(action, text, labels))
        otherwise = rest[0] if rest else None
    if not conditions:
        raise SettingError(
            "The rule has no condition.",
            f"Write it as: stress < 4 -> {labels[-1]}; {ELSE} {labels[0]}.",
        )
    if otherwise is None:
        raise SettingError(
            f"The rule '{shorten(text)}' does not say what is done where no condition holds.",
            f"Add it at the end, such as: ; {ELSE} {labels[0]}.",
        )
    return tuple(conditions), tuple(actions), _action(otherwise, text, labels)


def _divided(text: str, at: re.Pattern[str]) -> list[str]:
    """The text between the signs that do not stand in quotes or brackets."""
    found, begun = [], 0
    for match in at.finditer(text):
        if match.group(2):
            found.append(text[begun : match.start()])
            begun = match.end()
    return [*found, text[begun:]]


def _action(written_as: str, rule: str, labels: Sequence[str]) -> int:
    name = written_as.strip().rstrip(".,;").strip()
    if len(name) > 1 and name[0] in "'\"" and name[-1] == name[0]:
        name = name[1:-1]
    for place, label in enumerate(labels):
        if label == name:
            return place
    for place, label in enumerate(labels):
        if label.lower() == name.lower():
            return place
    close = nearest(name, labels)
    raise SettingError(
        f"The rule '{shorten(rule)}' names the action '{shorten(name)}', which the study does not "
        "have.",
        f"Did you mean {close}?" if close else f"Its actions are: {listing(labels, 20)}.",
    )


def _names(about: Sequence[Variable]) -> dict[str, str]:
    """What a condition may name, each with the variable that it is or is one of."""
    found = {}
    for variable in about:
        nominal = variable.whole_kind == "nominal"
        found[variable.belongs_to if nominal else variable.name] = variable.belongs_to
    return found


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Call):
            waiting += node.arguments
        elif isinstance(node, Unary):
            waiting.append(node.operand)
        elif isinstance(node, Chain):
            waiting += [node.first, *(part for _, part in node.rest)]


def _check(node: Node, formula: Formula, names: dict[str, str]) -> None:
    if isinstance(node, Call) and node.function in OTHER_ROWS:
        formula.refuse(
            node,
            f"{node.function} looks at other decisions, and a rule looks at the present one only.",
            "Add earlier values to the state by a look-back (Data), and name these.",
        )
    if isinstance(node, ColumnName) and node.name not in names:
        close = nearest(node.name, names)
        remedy = f"Did you mean {written(close)}?" if close else ""
        remedy = remedy or f"The variables are: {listing(names, 20)}."
        formula.refuse(node, f"there is no variable '{shorten(node.name)}'.", remedy)


def _holds(
    condition: str,
    frame: pd.DataFrame,
    about: tuple[Variable, ...],
    first_levels: tuple[tuple[str, str], ...],
) -> NDArray[np.bool_]:
    """(R,): where the condition is true; what cannot be worked out is not."""
    formula = _with_values(condition, about, first_levels)
    work = Evaluation(formula, frame, Surroundings())
    return np.asarray(work.truth(formula.root).spread(len(frame)).values == 1)


@lru_cache(maxsize=64)
def _with_values(
    condition: str, about: tuple[Variable, ...], first_levels: tuple[tuple[str, str], ...]
) -> Formula:
    """The formula with what the data hold for each named value that a variable is compared with."""
    formula = read_formula(condition)
    known: dict[str, dict[str, float | str]] = {
        name: {level: level} for name, level in first_levels if level
    }
    for variable in about:
        if variable.whole_kind == "nominal":
            if variable.whole in known:  # else one of its levels has no name here
                known[variable.whole][variable.part] = variable.part
        elif variable.levels:
            known[variable.name] = {name: value for value, name in variable.levels}
    return replace(formula, root=_known(formula.root, formula, known))


def _known(node: Node, formula: Formula, known: dict[str, dict[str, float | str]]) -> Node:
    if isinstance(node, Unary):
        return replace(node, operand=_known(node.operand, formula, known))
    if isinstance(node, Call):
        return replace(node, arguments=tuple(_known(n, formula, known) for n in node.arguments))
    if not isinstance(node, Chain):
        return node
    signs = [sign for sign, _ in node.rest]
    parts = [_known(part, formula, known) for part in (node.first, *(n for _, n in node.rest))]
    if signs[0] in COMPARISONS:
        first, second = parts
        parts = [_value(first, second, formula, known), _value(second, first, formula, known)]
    return replace(node, first=parts[0], rest=tuple(zip(signs, parts[1:], strict=True)))


def _value(
    node: Node, beside: Node, formula: Formula, known: dict[str, dict[str, float | str]]
) -> Node:
    """A text that stands beside a variable in a comparison, as the data have it."""
    if not (isinstance(node, Constant) and isinstance(node.value, str)):
        return node
    if not (isinstance(beside, ColumnName) and beside.name in known):
        return node
    values = known[beside.name]
    found = [value for level, value in values.items() if level.lower() == node.value.lower()]
    if not found:
        formula.refuse(
            node,
            f"'{beside.name}' has no value '{shorten(node.value)}'.",
            f"It has: {listing(values, 20)}.",
        )
    return replace(node, value=found[0])
