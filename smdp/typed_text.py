"""Frozen dataclasses as nested tables of text files (TOML, JSON) and back, checked by their types.

What comes from a file is held against the type hints of the dataclass that it is to become; the
first thing that does not fit is one error that names the key, the value and the remedy. A field
called `settings` has its keys beside those of the dataclass that holds it. Where its class depends
on another key, the dataclass has a classmethod `flat_type` that tells it from the table. Where a
list may hold several kinds of dataclasses, these have a base with `kinds`, by name, and `kind_key`,
the key under which a table has that name.
"""

from __future__ import annotations

import difflib
import sys
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from smdp.errors import SettingError
from smdp.text import listing, shorten

NONE = "none"  # where leaving a key out would mean its default, and TOML has no null
FLAT = "settings"
LARGEST = sys.float_info.max  # whole numbers in a text may be larger than any other number


class PlanError(SettingError):
    """A setting that cannot be so, with the place in the plan where it stands."""


def to_table(value: Any, *, nulls: bool) -> dict[str, Any]:
    """A dataclass as a table. Without nulls (TOML), None is left out, or "none" if it must be."""
    table: dict[str, Any] = {}
    kind: Any = type(value)
    hints = _hints(kind)
    if _is_of_a_kind(kind):
        table[kind.kind_key] = next(name for name, own in kind.kinds.items() if own is kind)
    for each in fields(value):
        own = getattr(value, each.name)
        if each.name == FLAT:
            table |= to_table(own, nulls=nulls)
        elif own is not None or nulls:
            table[each.name] = _written(own, nulls, hints[each.name])
        elif _default(each) is not None:
            table[each.name] = NONE
    return table


def _written(value: Any, nulls: bool, hint: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    options = _options(hint)
    if is_dataclass(value) and not isinstance(value, type):
        return to_table(value, nulls=nulls)
    if isinstance(value, Mapping):
        item = next(get_args(option)[1] for option in options if get_origin(option) is Mapping)
        return {str(key): _written(own, nulls, item) for key, own in value.items()}
    if isinstance(value, list | tuple):
        lists = (option for option in options if get_origin(option) in (tuple, Sequence))
        item = get_args(next(lists))[0]
        return [_written(own, nulls, item) for own in value]
    if type(value) is int and float in options and int not in options:
        return float(value)  # as it will be read
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} cannot be written into a plan")


def from_table(kind: type, table: object, where: str = "") -> Any:
    """The dataclass that the table describes; keys that are left out have their defaults."""
    if not isinstance(table, dict):
        raise _misfit(where, "a table of keys and values", table)
    if _is_of_a_kind(kind):
        kind, table = _kind_in(kind, table, where)
    with _located(where):
        known = _keys(kind, table)
    for key in table:
        if key not in known:
            raise _unknown(where, key, list(known))
    given = {}
    hints = _hints(kind)
    for each in fields(kind):
        if each.name == FLAT:
            flat = _flat_type(kind, table)
            own = {key: value for key, value in table.items() if key in _keys(flat, table)}
            given[FLAT] = from_table(flat, own, where)
        elif each.name in table:
            place = f"{where}.{each.name}" if where else each.name
            given[each.name] = _read(table[each.name], hints[each.name], place, each)
        elif _default(each) is MISSING:
            missing = f"{where}.{each.name}" if where else each.name
            raise PlanError(f"The plan lacks '{missing}'.", f"Add the key '{missing}'.")
    try:
        with _located(where):
            return kind(**given)
    except (TypeError, ValueError, OverflowError) as error:
        raise _misfit(where, "a table that fits together", shorten(error)) from None


def _is_of_a_kind(option: Any) -> bool:
    return isinstance(option, type) and hasattr(option, "kind_key")


def _kind_in(base: Any, table: dict[str, Any], where: str) -> tuple[type, dict[str, Any]]:
    """The kind that a table names, and the rest of the table."""
    rest = dict(table)
    key = f"{where}.{base.kind_key}" if where else base.kind_key
    if base.kind_key not in rest:
        raise PlanError(f"The plan lacks '{key}'.", f"Add the key '{key}'.")
    name = rest.pop(base.kind_key)
    found = base.kinds.get(name) if isinstance(name, str) else None
    if found is None or not issubclass(found, base):
        shown = shorten(repr(name))
        raise PlanError(
            f"'{key}' of the plan is of no known kind: {shown}.",
            f"There are: {listing(base.kinds, 30)}.",
        )
    return found, rest


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Errors of settings say in which section of the plan they stand."""
    try:
        yield
    except PlanError:
        raise
    except SettingError as error:
        section = f"In section [{where}] of the plan: " if where else "In the plan: "
        raise PlanError(section + error.problem, error.remedy, error.concerns) from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _keys(kind: type, table: Mapping[str, object]) -> list[str]:
    names = []
    for each in fields(kind):
        names += _keys(_flat_type(kind, table), table) if each.name == FLAT else [each.name]
    return names


def kinds_in_table(kind: type, table: Mapping[str, object]) -> list[type]:
    """The classes whose fields are keys of a table that becomes a `kind`."""
    flat = any(each.name == FLAT for each in fields(kind))
    return [kind, *(kinds_in_table(_flat_type(kind, table), table) if flat else [])]


def _flat_type(kind: type, table: Mapping[str, object]) -> type:
    """The class of the field `settings`."""
    chosen = getattr(kind, "flat_type", None)
    found: type = _hints(kind)[FLAT] if chosen is None else chosen(table)
    return found


def _default(each: Field) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return each.default


def _read(value: object, hint: Any, where: str, each: Field | None = None) -> Any:
    options = _options(hint)
    if type(None) in options:
        if value is None:
            return None
        if value == NONE and each is not None and _default(each) is not None:
            return None
    for option in options:
        if _fits(value, option):
            return _as(value, option, where)
    raise _misfit(where, _in_words(options), value)


def _options(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _fits(value: object, option: Any) -> bool:
    origin = get_origin(option)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in get_args(option))
    if origin in (tuple, Sequence):
        return isinstance(value, list)
    if origin is Mapping or is_dataclass(option) or _is_of_a_kind(option):
        return isinstance(value, dict)
    if option is float:
        return type(value) in (int, float) and abs(typing.cast(float, value)) <= LARGEST
    return option in (bool, int, str) and type(value) is option


def _as(value: Any, option: Any, where: str) -> Any:
    origin = get_origin(option)
    if origin in (tuple, Sequence):
        item = get_args(option)[0]
        return tuple(_read(own, item, f"{where}, place {i + 1}") for i, own in enumerate(value))
    if origin is Mapping:
        item = get_args(option)[1]
        return {key: _read(own, item, f"{where}.{key}") for key, own in value.items()}
    if is_dataclass(option) or _is_of_a_kind(option):
        return from_table(typing.cast(type, option), value, where)
    return float(value) if option is float else value


def _in_words(options: Sequence[Any]) -> str:
    words = [_word(option) for option in options if option is not type(None)]
    return " or ".join(dict.fromkeys(words))


def _word(option: Any) -> str:
    origin = get_origin(option)
    if origin is Literal:
        return " or ".join(map(repr, get_args(option)))
    if origin in (tuple, Sequence):
        return f"a list, each {_in_words(_options(get_args(option)[0]))}"
    if origin is Mapping or is_dataclass(option) or _is_of_a_kind(option):
        return "a table of keys and values"
    simple = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    return simple[option]


def _misfit(where: str, must: str, value: object) -> PlanError:
    key = f"'{where}' of the plan" if where else "The plan"
    shown = shorten(repr(value))
    return PlanError(f"{key} must be {must}. Got {shown} instead.", "Correct this key.")


def _unknown(where: str, key: str, known: list[str]) -> PlanError:
    section = f" in section [{where}]" if where else ""
    close = difflib.get_close_matches(key, known, 1)
    hint = f"Did you mean '{close[0]}'?" if close else f"Known keys are: {listing(known, 30)}."
    if not where:
        hint += " A step that another package adds is known once that package is loaded."
    return PlanError(f"The plan has an unknown key '{shorten(key)}'{section}.", hint)
