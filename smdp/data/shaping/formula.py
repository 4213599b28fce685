"""The text of a formula, read into a tree: what is written, and what is wrong with it, and where.

A formula is text that a person typed. It is read sign by sign by the code below and by nothing
else, so that whatever stands in it, it is only ever text.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from smdp.errors import SettingError
from smdp.text import plural, shorten, visible

LONGEST = 2_000  # characters
DEEPEST = 50  # brackets within brackets
_DEEPEST_TREE = 3 * DEEPEST  # with what is joined by signs within them
_SHOWN = 30  # characters of a formula on either side of a mistake

Arity = tuple[int, int | None]

_BLANK = re.compile(r"\s+")
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_SIGN = re.compile(r"==|!=|<>|<=|>=|[-+*/^=<>(),≤≥≠]")
_QUOTES = "'\""
_COMPARISONS = ("=", "==", "!=", "<>", "<", "<=", ">", ">=")
_SAME = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_COMPARES, _NOT, _SIGNED = 4, 3, 7
_RANKS = {
    "or": 1, "and": 2, **dict.fromkeys(_COMPARISONS, _COMPARES),
    "+": 5, "-": 5, "*": 6, "/": 6, "^": 8,
}  # fmt: skip
_WORDS = ("and", "or", "not", "missing")
_INSTEAD = {
    "&": "Write 'and'.",
    "|": "Write 'or'.",
    "!": "Write 'not', or '!=' for 'is not equal to'.",
    "%": "Write shares as numbers, such as 0.05.",
    "‘": "Put text in straight quotes, such as 'home'.",
    "’": "Put text in straight quotes, such as 'home'.",
    "“": "Put text in straight quotes, such as 'home'.",
    "”": "Put text in straight quotes, such as 'home'.",
    "]": "A column's name begins with '['.",
    "×": "Write '*'.",
    "÷": "Write '/'.",
    "−": "Write '-', the sign on the keyboard.",
}


class FormulaError(SettingError):
    """A formula that cannot be read or worked out: what is wrong, and at which character.

    `place`: of the character, counted from 1.
    """

    def __init__(
        self, formula: str, place: int, what: str, remedy: str = "", concerns: str = ""
    ) -> None:
        self.formula, self.place, self.what = formula, place, what
        around = _around(formula, place)
        super().__init__(f"At character {place} of “{around}”: {what}", remedy, concerns)

    def __reduce__(self) -> tuple[type, tuple]:
        return type(self), (self.formula, self.place, self.what, self.remedy, self.concerns)

    def pointer(self) -> str:
        """The formula around the mistake, and below it a caret at the mistake."""
        shown = _around(self.formula, self.place)
        before = min(self.place - 1, _SHOWN) + (self.place - 1 > _SHOWN)
        return f"{shown}\n{' ' * before}^"


def written(name: str) -> str:
    """A column's name as it is written in a formula."""
    plain = _NAME.fullmatch(name) and name.lower() not in _WORDS
    return name if plain else "[" + name.replace("]", "]]") + "]"


def _around(formula: str, place: int) -> str:
    """The formula in one line, or what stands around a place of it."""
    line = re.sub(r"\s", " ", visible(formula))
    start, end = max(place - 1 - _SHOWN, 0), place - 1 + _SHOWN
    return "…" * (start > 0) + line[start:end] + "…" * (end < len(line))


@dataclass(frozen=True)
class Node:
    """A part of a formula, from character `start` up to character `end`, counted from 0."""

    start: int
    end: int


@dataclass(frozen=True)
class Constant(Node):
    """A number, a text, or None for `missing`."""

    value: float | str | None


@dataclass(frozen=True)
class ColumnName(Node):
    name: str


@dataclass(frozen=True)
class Call(Node):
    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Unary(Node):
    """`sign`: "-", "+" or "not"."""

    sign: str
    operand: Node


@dataclass(frozen=True)
class Chain(Node):
    """Parts joined by signs of one rank, worked out from the left: a - b + c.

    A list and no nested pairs, so that a long sum is not a deep tree.
    """

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Formula:
    """A formula that has been read."""

    text: str
    root: Node

    def source(self, node: Node) -> str:
        """The part as it is written."""
        return shorten(visible(self.text[node.start : node.end]))

    def refuse(self, node: Node, what: str, remedy: str = "", concerns: str = "") -> NoReturn:
        raise FormulaError(self.text, node.start + 1, what, remedy, concerns)


@dataclass(frozen=True)
class _Token:
    kind: Literal["number", "text", "name", "column", "sign", "word", "end"]
    value: str
    start: int
    end: int


def parse(text: str, functions: Mapping[str, Arity]) -> Formula:
    """The formula in a text.

    `functions`: by name, the fewest and the most arguments of each; None for any number.
    """
    if len(text) > LONGEST:
        raise SettingError(
            f"A formula of {len(text):,} characters is too long; the limit is {LONGEST:,}.",
            "Divide it: compute parts of it as columns of their own.",
        )
    if not text.strip():
        raise SettingError("The formula is empty.", "Write one, such as log(steps + 0.5).")
    return Formula(text, _Parser(text, functions).whole())


def columns_in(formula: Formula) -> tuple[str, ...]:
    """The columns that a formula names, each once."""
    found: list[str] = []
    waiting = [formula.root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ColumnName):
            found.append(node.name)
        elif isinstance(node, Call):
            waiting += node.arguments
        elif isinstance(node, Unary):
            waiting.append(node.operand)
        elif isinstance(node, Chain):
            waiting += [node.first, *(part for _, part in node.rest)]
    return tuple(dict.fromkeys(found))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    names = list(known)
    for other in names:
        if other.lower() == name.lower():
            return other
    return next(iter(difflib.get_close_matches(name[:100], names, 1)), None)


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(text):
        if blank := _BLANK.match(text, at):
            at = blank.end()
            continue
        token = _token(text, at)
        found.append(token)
        at = token.end
    return [*found, _Token("end", "", len(text.rstrip()), len(text))]


def _token(text: str, at: int) -> _Token:
    sign = text[at]
    if sign in _QUOTES:
        return _enclosed(text, at, sign, "text")
    if sign == "[":
        return _enclosed(text, at, "]", "column")
    if match := _NUMBER.match(text, at):
        return _Token("number", match[0], at, match.end())
    if match := _NAME.match(text, at):
        word = match[0].lower() in _WORDS
        return _Token(
            "word" if word else "name", match[0].lower() if word else match[0], at, match.end()
        )
    if match := _SIGN.match(text, at):
        return _Token("sign", _SAME.get(match[0], match[0]), at, match.end())
    remedy = _INSTEAD.get(sign, "")
    if not remedy and sign.isalpha():
        remedy = "Put a column's name in [square brackets] if it has other signs than a-z, 0-9, _."
    raise FormulaError(text, at + 1, f"'{visible(sign)}' has no meaning here.", remedy)


def _enclosed(text: str, at: int, close: str, kind: Literal["text", "column"]) -> _Token:
    """What stands in quotes or brackets; the closing sign, doubled, is itself."""
    inside: list[str] = []
    place = at + 1
    while (end := text.find(close, place)) >= 0:
        inside.append(text[place:end])
        if text[end + 1 : end + 2] != close:
            return _Token(kind, close.join(inside), at, end + 1)
        place = end + 2
    what = "text" if kind == "text" else "a column's name"
    raise FormulaError(text, at + 1, f"{what} begins here and does not end.", f"Add a {close} .")


class _Parser:
    """One method for what binds by rank, so that a formula 50 deep needs few calls for each."""

    def __init__(self, text: str, functions: Mapping[str, Arity]) -> None:
        self.text = text
        self.functions = functions
        self.tokens = _tokens(text)
        self.place = 0
        self.depth = self.brackets = 0

    def whole(self) -> Node:
        root = self._expression(0)
        if self._next.kind != "end":
            self._unexpected("an operator, such as + or =,")
        return root

    @property
    def _next(self) -> _Token:
        return self.tokens[self.place]

    def _take(self) -> _Token:
        token = self._next
        self.place += 1
        return token

    def _is(self, value: str) -> bool:
        return self._next.kind in ("sign", "word") and self._next.value == value

    def _rank(self) -> int:
        """How closely the next sign binds; -1 if it joins nothing."""
        return _RANKS.get(self._next.value, -1) if self._next.kind in ("sign", "word") else -1

    def _unexpected(self, wanted: str) -> NoReturn:
        token = self._next
        if token.kind == "end":
            self._refuse(token, f"the formula ends where {wanted} should follow.")
        shown = shorten(visible(self.text[token.start : token.end]), 30)
        remedy = ""
        if token.kind == "sign" and token.value == ",":
            remedy = "Numbers have a decimal point; commas stand between arguments of a function."
        elif token.kind in ("name", "column"):
            remedy = "A name with blanks stands in [square brackets]."
        self._refuse(token, f"{shown} stands where {wanted} should be.", remedy)

    def _refuse(self, token: _Token, what: str, remedy: str = "") -> NoReturn:
        raise FormulaError(self.text, token.start + 1, what, remedy)

    def _expression(self, least: int) -> Node:
        """As much as is joined by signs of at least this rank."""
        self.depth += 1
        self.brackets += least == 0
        if self.brackets > DEEPEST + 1 or self.depth > _DEEPEST_TREE:
            self._refuse(
                self._next,
                f"the formula is nested more than {DEEPEST} deep.",
                "Compute parts of it as columns of their own.",
            )
        found = self._prefixed(least)
        while (rank := self._rank()) >= least:
            found = self._joined(found, rank)
        self.depth -= 1
        self.brackets -= least == 0
        return found

    def _joined(self, first: Node, rank: int) -> Node:
        """What follows as long as the rank is the same; a power holds its exponent's own powers."""
        rest: list[tuple[str, Node]] = []
        while self._rank() == rank:
            if rank == _COMPARES and rest:
                self._refuse(
                    self._next,
                    "a second comparison cannot follow the first.",
                    "Join two of them by 'and': 1 < x and x < 5.",
                )
            token = self._take()
            rest.append((token.value, self._expression(rank + (rank != _RANKS["^"]))))
            if rank == _COMPARES and any(map(_is_missing, (first, rest[-1][1]))):
                self._refuse(
                    token,
                    "nothing can be compared with 'missing': the answer would be missing, too.",
                    "Use is_missing(x), or not is_missing(x).",
                )
        return Chain(first.start, rest[-1][1].end, first, tuple(rest))

    def _prefixed(self, least: int) -> Node:
        token = self._next
        if self._is("not") and least <= _NOT:
            rank = _NOT
        elif self._is("-") or self._is("+"):
            rank = _SIGNED
        else:
            return self._single()
        self._take()
        operand = self._expression(rank)
        return Unary(token.start, operand.end, token.value, operand)

    def _single(self) -> Node:
        token = self._next
        if self._is("("):
            self._take()
            inner = self._expression(0)
            return replace(inner, start=token.start, end=self._closing(token))
        if token.kind in ("sign", "end") or self._rank() >= 0 or self._is("not"):
            self._unexpected("a number, a text, a column or a function")
        self._take()
        if token.kind == "name" and self._is("("):
            return self._call(token)
        if token.kind in ("name", "column"):
            return ColumnName(token.start, token.end, token.value)
        value: float | str | None = None if token.kind == "word" else token.value
        if token.kind == "number":
            value = float(token.value)
            if value == float("inf"):
                self._refuse(token, "this number is too large.")
        return Constant(token.start, token.end, value)

    def _closing(self, opening: _Token) -> int:
        if self._is(")"):
            return self._take().end
        if self._next.kind == "end":
            self._refuse(opening, "the bracket that opens here is never closed.", "Add a ')'.")
        return self._unexpected("an operator or a closing bracket")

    def _call(self, name: _Token) -> Node:
        function = name.value.lower()
        if function not in self.functions:
            close = nearest(function, self.functions)
            listed = f"There are: {', '.join(self.functions)}."
            remedy = f"Did you mean {close}?" if close else listed
            self._refuse(name, f"there is no function '{shorten(name.value)}'.", remedy)
        opening = self._take()
        arguments: list[Node] = []
        while not self._is(")") or arguments:
            arguments.append(self._expression(0))
            if not self._is(","):
                break
            self._take()
        end = self._closing(opening)
        least, most = self.functions[function]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            taken = _taken(least, most)
            self._refuse(name, f"{function} takes {taken}, not {len(arguments)}.")
        return Call(name.start, end, function, tuple(arguments))


def _is_missing(node: Node) -> bool:
    return isinstance(node, Constant) and node.value is None


def _taken(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {plural(least, 'argument')}"
    if most == 0:
        return "no arguments"
    return plural(least, "argument") if most == least else f"{least} or {most} arguments"
