"""Settings and calls as Python code, for the exported script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

WIDTH = 88
INDENT = "    "


def call(name: str, function: str, given: str, settings: Any, seed: int) -> str:
    return (
        f"{name} = {function}(\n{INDENT}{given},\n"
        f"{INDENT}{code(settings, 1)},\n{INDENT}seed={seed},\n)"
    )


def code(value: Any, depth: int) -> str:
    """The value as Python code: on one line if it is short, else one item a line."""
    if is_dataclass(value) and not isinstance(value, type):
        told = [f for f in fields(value) if (getattr(value, f.name), f.default) != (None, None)]
        items = [f"{f.name}={code(getattr(value, f.name), depth + 1)}" for f in told]
        return _bracketed(f"{home(type(value))}.{type(value).__name__}(", items, ")", depth)
    if isinstance(value, Mapping):
        items = [f"{code(k, depth)}: {code(v, depth + 1)}" for k, v in value.items()]
        return _bracketed("{", items, "}", depth)
    if isinstance(value, tuple | list):
        items = [code(v, depth + 1) for v in value]
        if len(items) == 1:
            items[0] += ","
        return _bracketed("(", items, ")", depth)
    shown = repr(value)
    if isinstance(value, str) and shown.startswith("'") and '"' not in shown:
        return f'"{shown[1:-1]}"'
    return shown


def _bracketed(start: str, items: list[str], end: str, depth: int) -> str:
    short = start + ", ".join(items) + end
    if len(short) + len(INDENT) * depth <= WIDTH and "\n" not in short:
        return short
    inner = INDENT * (depth + 1)
    lines = "".join(f"{inner}{item.rstrip(',')},\n" for item in items)
    return f"{start}\n{lines}{INDENT * depth}{end}"


def home(thing: Any) -> str:
    """The module in which a script finds a function or class: smdp has its own as public names."""
    module = str(thing.__module__)
    return "smdp" if module.startswith("smdp.") else module
