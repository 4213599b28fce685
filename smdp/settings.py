"""Settings, declared once: one frozen dataclass for each step, one line for each setting.

A field made by `setting` carries its default, its bounds, its label in the clinic's words, the
paper's symbol and its help. Values are checked against all that when the dataclass is made; the
dashboard's forms, the plan's keys and the report's appendix are drawn from it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from smdp.errors import SettingError

INFINITY = float("inf")
#: Of a count whose setting names no limit of its own: what is more would never end.
MOST_OF_A_COUNT = 10_000_000

S = TypeVar("S", bound="Settings")

#: Of a setting whose default is what the paper has, or which the paper does not speak of.
AS_BY_DEFAULT: Any = object()


def require(condition: bool, name: str, must: str, value: object) -> None:
    """Raise the error for a setting that has a value it cannot have."""
    if not condition:
        raise SettingError(f"The setting '{name}' must be {must}. Got {value!r} instead.")


def require_whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least that."""
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
    require(whole, name, f"a whole number of at least {least}", value)


@dataclass(frozen=True)
class Setting:
    """What is known of one setting besides its name, its type and its default.

    `choices`: the values of a choice, with what people read for each; of a number, those that a
    page offers; of one that may be left out, what it is where its box is ticked. `what`: a noun for
    messages ("a share"). `given`: the bounds of a control on a page, where they are narrower than
    what the setting may have. `more`: shown under "More". `page`: False where no control is drawn
    for it, or for any of its own settings.
    `percent`: shown as one. `empty`: what people read for None. `ordered`: of a list, each value
    once and in increasing order. `stands_for`: what its text names or is: a column of the table, a
    column of a table that is joined, such a table, or a formula. `paper`: its value in an analysis
    as in the paper, where that is not the default.
    """

    label: str = ""
    symbol: str = ""
    help: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    what: str = ""
    choices: Mapping[Any, str] | None = None
    given: tuple[float, float] | None = None
    step: float | None = None
    stands_for: Literal["", "column", "their column", "table", "formula"] = ""
    control: Literal[
        "", "slider", "number", "radio", "select", "checkbox", "text", "several", "pills"
    ] = ""
    more: bool = False
    page: bool = True
    percent: bool = False
    empty: str = ""
    ordered: bool = False
    paper: Any = AS_BY_DEFAULT

    @property
    def title(self) -> str:
        """The label with the paper's symbol: "False-alarm level (tau)"."""
        return f"{self.label} ({self.symbol})" if self.symbol else self.label

    def holds(self, number: float) -> bool:
        """Whether a number is within the bounds."""
        return (
            (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and abs(number) < INFINITY
        )

    def bounds(self) -> str:
        """The bounds in words, such as "of at least 0, below 1"."""
        words = []
        if self.least is not None:
            words.append(f"of at least {self.least:g}")
        if self.above is not None:
            words.append(f"above {self.above:g}")
        if self.most is not None:
            words.append(f"at most {self.most:g}")
        if self.below is not None:
            words.append(f"below {self.below:g}")
        between = " and " if self.above is not None and self.below is not None else ", "
        return between.join(words)


def setting(default: Any, label: str = "", *, factory: bool = False, **facts: Any) -> Any:
    """A field of a settings class; `facts` are those of `Setting`."""
    metadata = {"setting": Setting(label, **facts)}
    if factory:
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


class Settings:
    """Base of a step's settings: values are held against what their fields declare.

    A subclass with rules that bind several settings writes them into `check`.
    """

    def __post_init__(self) -> None:
        own: Any = type(self)
        hints = hints_of(own)
        for each in fields(own):
            known = each.metadata.get("setting")
            if known is not None:
                value = getattr(self, each.name)
                object.__setattr__(
                    self, each.name, _checked(each.name, value, hints[each.name], known)
                )
        self.check()

    def check(self) -> None:
        """Rules that bind several settings."""


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def options_of(hint: Any) -> tuple[Any, ...]:
    """The types that a field may have: those of a union, or the one."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def settings_of(kind: type) -> dict[str, Setting]:
    """What each field of a settings class declares, by its name, in order."""
    found = {each.name: each.metadata.get("setting") for each in fields(kind)}
    return {name: known for name, known in found.items() if known is not None}


def in_the_paper(kind: type) -> dict[str, Any]:
    """The settings that an analysis as in the paper has otherwise than by default."""
    return {
        name: known.paper
        for name, known in settings_of(kind).items()
        if known.paper is not AS_BY_DEFAULT
    }


def as_in_the_paper(section: S, asked: bool = True) -> S:
    """The same settings, but those that the paper has otherwise as it has them.

    Not `asked`: those by default. Settings within settings too.
    """
    own: Any = section
    defaults = {each.name: each.default for each in fields(own)}
    changed = {
        name: paper if asked else defaults[name] for name, paper in in_the_paper(type(own)).items()
    }
    for each in fields(own):
        nested = getattr(own, each.name)
        if isinstance(nested, Settings):
            changed[each.name] = as_in_the_paper(nested, asked)
    return replace(own, **changed)


def _checked(name: str, value: Any, hint: Any, known: Setting) -> Any:
    """The value as the setting keeps it; an error if it cannot have it."""
    options = options_of(hint)
    if value is None and type(None) in options:
        return None
    own = next(option for option in options if option is not type(None))
    must = _must(own, known)
    if own is int and known.least is not None and known.most is None and name != "seed":
        endless = isinstance(value, int) and value > MOST_OF_A_COUNT
        require(not endless, name, f"at most {MOST_OF_A_COUNT:,}", value)
    if get_origin(own) is tuple:
        item = get_args(own)[0]
        good = isinstance(value, list | tuple) and (len(value) > 0 or not known.ordered)
        require(good and all(_fits(v, item, known) for v in value), name, must, value)
        return tuple(sorted(set(value))) if known.ordered else tuple(value)
    require(_fits(value, own, known), name, must, value)
    return value


def _fits(value: Any, own: Any, known: Setting) -> bool:
    if get_origin(own) is Literal:
        return any(value == each and type(value) is type(each) for each in get_args(own))
    if get_origin(own) is Mapping:
        inner = get_args(own)[1]
        return isinstance(value, Mapping) and all(
            isinstance(key, str) and _fits(each, inner, known) for key, each in value.items()
        )
    if own is bool:
        return isinstance(value, bool)
    if own is int:
        return isinstance(value, int) and not isinstance(value, bool) and known.holds(value)
    if own is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and known.holds(value)
    return isinstance(value, own)


def _must(own: Any, known: Setting) -> str:
    if get_origin(own) is Literal:
        *first, last = map(repr, get_args(own))
        return f"{', '.join(first)} or {last}" if first else last
    if get_origin(own) is tuple:
        item = get_args(own)[0]
        if get_origin(item) is Literal:
            return f"a list of some of {', '.join(map(repr, get_args(item)))}"
        if item is str:
            return f"a list of {known.what or 'texts'}"
        noun = "whole numbers" if item is int else "numbers"
        least = ", with at least one" if known.ordered else ""
        return " ".join(filter(None, [f"a list of {noun}", known.bounds()])) + least
    nouns = {bool: "True or False", int: "a whole number", float: "a number", str: "text"}
    noun = known.what or nouns.get(own, f"of the kind {getattr(own, '__name__', own)}")
    return " ".join(filter(None, [noun, known.bounds()]))


#: Of every random step.
SEED_HELP = "The same data, settings and seed give the same result."


def seed_setting() -> Any:
    """The field `seed` of a step's plan."""
    return setting(
        0, "Seed", help=SEED_HELP, least=0, given=(0, 2**31 - 1), control="number", more=True
    )
