"""Controls that remember what was chosen: widgets forget it when their page is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from dashboard.session import control_key, keep, kept
from smdp.errors import SettingError

T = TypeVar("T")


def _within(name: str, default: T, low: Any, high: Any) -> T:
    """What was last chosen, as far as the control can show it: a plan may go beyond."""
    last = kept(name, default)
    if type(last) is not type(default):
        return default
    within: T = min(max(last, low), high)
    return within


def checkbox(label: str, name: str, default: bool, help_text: str) -> bool:
    return keep(
        name, st.checkbox(label, bool(kept(name, default)), key=control_key(name), help=help_text)
    )


def whole_number(label: str, name: str, default: int, low: int, high: int, help_text: str) -> int:
    last = _within(name, default, low, high)
    chosen = st.number_input(label, low, high, last, key=control_key(name), help=help_text)
    return keep(name, int(chosen))


def real_number(
    label: str, name: str, default: float, low: float, high: float, step: float, help_text: str
) -> float:
    last = _within(name, default, low, high)
    chosen = st.number_input(
        label, low, high, last, step, format="%.3f", key=control_key(name), help=help_text
    )
    return keep(name, float(chosen))


def slider(label: str, name: str, default: T, low: T, high: T, step: T, help_text: str) -> T:
    last = _within(name, default, low, high)
    chosen: T = st.slider(label, low, high, last, step, key=control_key(name), help=help_text)  # type: ignore[call-overload]
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
    chosen = st.radio(
        label, options, index=place, format_func=shown, key=control_key(name), help=help_text
    )
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
    chosen = st.selectbox(
        label, options, index=place, format_func=shown, key=control_key(name), help=help_text
    )
    return keep(name, chosen)


def several(
    label: str, name: str, options: Sequence[str], help_text: str, default: Sequence[str] = ()
) -> list[str]:
    last = [option for option in kept(name, list(default)) if option in options]
    return keep(name, st.multiselect(label, options, last, key=control_key(name), help=help_text))


def pills(
    label: str, name: str, options: Mapping[T, str], default: Sequence[T], help_text: str
) -> list[T]:
    """Some of the options, in their order."""
    chosen = st.pills(
        label,
        list(options),
        selection_mode="multi",
        default=[each for each in kept(name, list(default)) if each in options],
        format_func=lambda each: options[each],
        key=control_key(name),
        help=help_text,
        wrap=True,  # else those that have no room are hidden
    )
    return keep(name, [each for each in options if each in chosen])


def whole_numbers(label: str, name: str, default: Sequence[int], help_text: str) -> tuple[int, ...]:
    """Typed in, separated by commas or blanks."""
    example = ", ".join(map(str, default))
    typed = text(label, name, help_text, example)
    words = typed.replace(",", " ").replace(";", " ").split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and int(word) > 0)]
    if wrong or not words:
        raise SettingError(
            f"'{label}' must be whole numbers, not '{wrong[0] if wrong else typed}'.",
            f"Separate them by commas, as in: {example}",
        )
    return tuple(map(int, words))


def text(label: str, name: str, help_text: str, default: str = "") -> str:
    return keep(
        name, st.text_input(label, kept(name, default), key=control_key(name), help=help_text)
    )


def lines(label: str, name: str, help_text: str, default: Sequence[str] = ()) -> tuple[str, ...]:
    """Several texts, each on a line of its own."""
    typed = st.text_area(
        label,
        kept(name, "\n".join(default)),
        key=control_key(name),
        help=help_text,
        height="content",
    )
    return tuple(line.strip() for line in keep(name, typed).splitlines() if line.strip())
