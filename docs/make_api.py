"""Writes docs/api.md: the public names of smdp, from their signatures and docstrings.

python docs/make_api.py
"""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import smdp

HERE = Path(__file__).resolve().parent
HEAD = """\
# Public names of smdp

Made from the docstrings by `python docs/make_api.py`; a test holds that it is up to date. All are
reached as `smdp.NAME`.
"""


def api_text() -> str:
    """The reference, classes first, each in the order of its names."""
    every = {name: getattr(smdp, name) for name in smdp.__all__}
    kinds: dict[str, dict[str, Any]] = {"Classes": {}, "Functions": {}, "Modules": {}}
    for name, thing in every.items():
        kind = (
            "Classes" if isinstance(thing, type)
            else "Modules" if inspect.ismodule(thing)
            else "Functions"
        )  # fmt: skip
        kinds[kind][name] = thing
    parts = [HEAD]
    for title, found in kinds.items():
        if found:
            parts.append(f"## {title}\n")
            parts += [_entry(name, thing) for name, thing in found.items()]
    return "\n".join(parts)


def _entry(name: str, thing: Any) -> str:
    lines = [f"### {name}\n"]
    if callable(thing) and not _is_error(thing):
        lines.append(f"```python\n{_signature(name, thing)}\n```\n")
    text = inspect.getdoc(thing) or ""
    if text and not text.startswith(f"{name}("):  # a dataclass without words of its own
        lines.append(f"{text}\n")
    if isinstance(thing, type) and not _is_error(thing):
        methods = _methods(thing)
        if methods:
            lines.append("\n".join(f"- {each}" for each in methods) + "\n")
    return "\n".join(lines)


def _is_error(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def _signature(name: str, thing: Any) -> str:
    if is_dataclass(thing):
        shown = [f"    {each.name}: {each.type}" for each in fields(thing) if each.init]
        return f"{name}(\n" + ",\n".join(shown) + "\n)" if shown else f"{name}()"
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return f"{name}(...)"
    shown = []
    star = False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not star:
            shown.append("    *")
            star = True
        star = star or each.kind is each.VAR_POSITIONAL
        kind = "" if each.annotation is each.empty else f": {each.annotation}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        mark = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        shown.append(f"    {mark}{each.name}{kind}{default}")
    returns = inspect.signature(thing).return_annotation if not isinstance(thing, type) else None
    arrow = f" -> {returns}" if isinstance(returns, str) else ""
    return f"{name}(\n" + ",\n".join(shown) + f"\n){arrow}" if shown else f"{name}(){arrow}"


def _default(value: Any) -> str:
    return f"{type(value).__name__}()" if is_dataclass(value) else repr(value)


def _methods(kind: type) -> list[str]:
    found = []
    for name, member in inspect.getmembers(kind):
        public = not name.startswith("_") and name in {k for c in kind.__mro__ for k in vars(c)}
        own = getattr(member, "__module__", "") or ""
        if not public or isinstance(member, type):
            continue
        if isinstance(member, property):
            text, call = inspect.getdoc(member), name
        elif callable(member) and own.startswith("smdp"):
            text, call = inspect.getdoc(member), f"{name}()"
        else:
            continue
        first = (text or "").split("\n")[0]
        found.append(f"`.{call}`" + (f": {first}" if first else ""))
    return found


if __name__ == "__main__":
    (HERE / "api.md").write_text(api_text(), encoding="utf-8")
