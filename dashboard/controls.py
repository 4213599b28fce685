"""Controls that remember what was chosen: widgets forget it when their page is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from dashboard.session import keep, kept

T = TypeVar("T")


def _within(name: str, default: T, low: Any, high: Any) -> T:
    """What was last chosen, as far as the control can show it: a plan may go beyond."""
    last = kept(name, default)
    if type(last) is not type(default):
        return default
    within: T = min(max(last, low), high)
    return within


def checkbox(label: str, name: str, default: bool, help_text: str) -> bool:
    return keep(name, st.checkbox(label, bool(kept(name, default)), key=name, help=help_text))


def whole_number(label: str, name: str, default: int, low: int, high: int, help_text: str) -> int:
    last = _within(name, default, low, high)
    chosen = st.number_input(label, low, high, last, key=name, help=help_text)
    return keep(name, int(chosen))


def real_number(
    label: str, name: str, default: float, low: float, high: float, step: float, help_text: str
) -> float:
    last = _within(name, default, low, high)
    chosen = st.number_input(label, low, high, last, step, format="%.3f", key=name, help=help_text)
    return keep(name, float(chosen))


def seed(name: str) -> int:
    text = "The same data, settings and seed give the same result."
    return whole_number("Seed", name, 0, 0, 2**31 - 1, text)


def slider(label: str, name: str, default: T, low: T, high: T, step: T, help_text: str) -> T:
    last = _within(name, default, low, high)
    chosen: T = st.slider(label, low, high, last, step, key=name, help=help_text)  # type: ignore[call-overload]
    return keep(name, chosen)


def radio(
    label: str,
    name: str,
    options: Sequence[T],
    default: T,
    help_text: str,
    shown: Callable[[T], str] = str,
) -> T:
    last = kept(name, default)
    place = list(options).index(last if last in options else default)
    chosen = st.radio(label, options, index=place, format_func=shown, key=name, help=help_text)
    return keep(name, chosen)


def select(
    label: str,
    name: str,
    options: Sequence[T],
    default: T,
    help_text: str,
    shown: Callable[[T], str] = str,
) -> T:
    last = kept(name, default)
    place = list(options).index(last if last in options else default)
    chosen = st.selectbox(label, options, index=place, format_func=shown, key=name, help=help_text)
    return keep(name, chosen)


def several(
    label: str, name: str, options: Sequence[str], help_text: str, default: Sequence[str] = ()
) -> list[str]:
    last = [option for option in kept(name, list(default)) if option in options]
    return keep(name, st.multiselect(label, options, last, key=name, help=help_text))


def text(label: str, name: str, help_text: str, default: str = "") -> str:
    return keep(name, st.text_input(label, kept(name, default), key=name, help=help_text))
