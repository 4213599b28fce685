"""Controls drawn from what a settings class declares: label, symbol, bounds, choices, help.

A form starts from what the plan says and gives back the settings as chosen. A setting without a
control stays as the plan has it. What was chosen is kept beyond the page, under the step's name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

import streamlit as st

from dashboard import controls
from smdp.settings import Setting, hints_of, options_of

S = TypeVar("S")
LARGE = 1_000_000_000


class Form(Generic[S]):
    """The controls of one section of the plan; those of nested settings stand beside its own."""

    def __init__(self, name: str, start: S) -> None:
        self._name, self._start = name, start
        self._chosen: dict[str, Any] = {}
        self._known = dict(_declared(start))

    @property
    def names(self) -> list[str]:
        """Those that have a control, in order."""
        return [name for name, (known, _, _) in self._known.items() if known.label and known.page]

    def draw(
        self,
        *names: str,
        skip: Collection[str] = (),
        options: Mapping[str, Sequence[Any]] | None = None,
        shown: Mapping[str, Callable[[Any], str]] | None = None,
        default: Mapping[str, Any] | None = None,
    ) -> None:
        """Draw these controls, or all that are left of those that matter first, but for `skip`.

        `options`: what can be chosen, where that depends on the study. `shown`: how an option is
        called. `default`: of this study, where nothing was asked for yet.
        """
        for name in names or [each for each in self._left(more=False) if each not in skip]:
            options_of_it = (options or {}).get(name)
            called = (shown or {}).get(name)
            start = (default or {}).get(name, self._known[name][2])
            self._chosen[name] = self._control(name, start, options_of_it, called)

    def more(
        self,
        skip: Collection[str] = (),
        options: Mapping[str, Sequence[Any]] | None = None,
        also: Callable[[], None] | None = None,
    ) -> None:
        """The rest, under "More"; `also` draws what is particular to the page."""
        left = [name for name in self._left(more=True) if name not in skip]
        if left or also:
            with st.expander("More"):
                if also:
                    also()
                if left:
                    self.draw(*left, options=options)

    def _left(self, *, more: bool) -> list[str]:
        left = [name for name in self.names if name not in self._chosen]
        return [name for name in left if self._known[name][0].more == more]

    def is_more(self, name: str) -> bool:
        """Whether it is of those that stand under "More"."""
        return self._known[name][0].more

    def set(self, **values: Any) -> None:
        """Values that the page itself works out."""
        self._chosen |= values

    def __getitem__(self, name: str) -> Any:
        return self._chosen[name]

    def value(self) -> S:
        """The settings as chosen; a clear error where they do not fit together."""
        return _with(self._start, self._chosen)

    def _control(
        self,
        name: str,
        start: Any,
        options: Sequence[Any] | None,
        called: Callable[[Any], str] | None,
    ) -> Any:
        known, hint, _ = self._known[name]
        return control(f"{self._name}.{name}", known, hint, start, options, called)


def control(
    key: str,
    known: Setting,
    hint: Any,
    start: Any,
    options: Sequence[Any] | None = None,
    called: Callable[[Any], str] | None = None,
) -> Any:
    """One control for one setting, which shows `start` until something else is chosen."""
    kinds = [option for option in options_of(hint) if option is not type(None)]
    kind, optional = kinds[0], type(None) in options_of(hint)
    label = f"{known.title} (%)" if known.percent else known.title
    if optional and known.empty:
        label = f"{known.title}, {known.empty}"
    if get_origin(kind) is tuple:
        return tuple(_several(label, key, known, start or (), options))
    if known.control == "checkbox" and optional:
        (ticked,) = known.choices or {}
        return ticked if controls.checkbox(label, key, start is not None, known.help) else None
    if known.control == "checkbox" and get_origin(kind) is Literal:
        off, on = get_args(kind)
        return on if controls.checkbox(label, key, start == on, known.help) else off
    if options is None and get_origin(kind) is Literal:
        options = get_args(kind)
    elif options is None and known.control == "select":
        options = list(known.choices or ())
    if options is not None:
        values = list(options)
        words = called or (lambda value: (known.choices or {}).get(value, str(value)))
        draw = controls.select if known.control == "select" else controls.radio
        return draw(label, key, values, start if start in values else values[0], known.help, words)
    if kind is bool:
        return controls.checkbox(label, key, bool(start), known.help)
    if kind is str:
        return controls.text(label, key, known.help, start or "").strip()
    if kind is int:
        low, high = _range(known, 0 if optional else 1, LARGE, start or 0)
        chosen = controls.whole_number(label, key, int(start or 0), int(low), int(high), known.help)
        return None if optional and chosen == 0 else chosen
    number = _real_number(label, key, known, float(start or 0))
    return None if optional and number == 0 else number


def _several(
    label: str, key: str, known: Setting, start: Sequence[Any], options: Sequence[Any] | None
) -> Sequence[Any]:
    if known.control == "text":
        return controls.whole_numbers(label, key, start, known.help)
    if known.control == "pills":
        return controls.pills(label, key, known.choices or {}, start, known.help)
    return controls.several(label, key, list(options or ()), known.help, list(start))


def _real_number(label: str, key: str, known: Setting, start: float) -> float:
    if known.percent:
        shown = round(100 * start)
        percent = controls.slider(label, key, shown, 0, 100, 1, known.help)
        return start if percent == shown else percent / 100
    low, high = _range(known, 0.0, 1.0, start)
    step = known.step or 0.01
    if known.control == "slider":
        chosen = controls.slider(label, key, start, low, high, step, known.help)
    else:
        chosen = controls.real_number(label, key, start, low, high, step, known.help)
    return start if abs(chosen - start) < 1e-12 else chosen


def _range(known: Setting, low: float, high: float, start: float) -> tuple[float, float]:
    """What the control can show: a plan may go beyond what a page offers."""
    if known.given is not None:
        low, high = known.given
    else:
        low = known.least if known.least is not None else low
        high = known.most if known.most is not None else high
    return min(low, start), max(high, start)


def _declared(section: Any) -> list[tuple[str, tuple[Setting, Any, Any]]]:
    """Of each setting, nested ones too: what it declares, its type, and its value."""
    found: list[tuple[str, tuple[Setting, Any, Any]]] = []
    kind: Any = type(section)
    hints = hints_of(kind)
    for each in fields(section):
        own, known = getattr(section, each.name), each.metadata.get("setting")
        if _has_controls(own, known):
            found += _declared(own)
        elif known is not None:
            found.append((each.name, (known, hints[each.name], own)))
    return found


def _with(section: Any, values: Mapping[str, Any]) -> Any:
    changes = {}
    for each in fields(section):
        own = getattr(section, each.name)
        if each.name in values:
            changes[each.name] = values[each.name]
        elif _has_controls(own, each.metadata.get("setting")):
            changes[each.name] = _with(own, values)
    return replace(section, **changes)


def _has_controls(own: Any, known: Setting | None) -> bool:
    """Whether it is a group of settings that stand on the page."""
    return is_dataclass(own) and not isinstance(own, type) and (known is None or known.page)
