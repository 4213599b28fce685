"""An analysis plan as a Python script that uses public names only and gives the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp import __version__
from smdp.steps import Step
from smdp.steps.code import code

if TYPE_CHECKING:
    from smdp.analysis.plan import AnalysisPlan


def script(plan: AnalysisPlan, data: str | None = None) -> str:
    """The text of the script; `data` is the path of the file that it reads."""
    path = data or plan.data_name or "study.csv"
    imports = sorted({"smdp"}.union(*(step.script_imports(plan) for step in plan.steps)))
    parts = [
        _head(plan),
        "".join(f"import {module}\n" for module in imports),
        f"DATA = {code(path, 0)}\n",
    ]
    for step in plan.steps:
        lines = step.script(plan)
        if lines:
            parts.append(_note(plan, step) + lines + "\n")
    last = plan.steps[1:] or plan.steps
    parts.append("\n".join(step.script_end for step in last if step.script_end) + "\n")
    return "\n".join(parts)


def _head(plan: AnalysisPlan) -> str:
    lines = ["# The analysis of a plan, as a script. Every setting is spelled out."]
    if plan.data_fingerprint:
        lines.append(_comment(f"Made with {plan.data_name}, SHA-256 {plan.data_fingerprint}."))
    lines.append(f"# Written by smdp {__version__}; other versions may give other numbers.")
    return "\n".join(lines) + "\n"


def _note(plan: AnalysisPlan, step: Step) -> str:
    note = plan.notes.get(step.name, "")
    return f"{_comment(note)}\n" if note.strip() else ""


def _comment(text: str) -> str:
    """Free text as comments: no character of it can end a comment and become code."""
    lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
    return "\n".join(f"# {line}".rstrip() for line in lines)
