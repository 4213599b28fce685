"""A methods section from the settings that the results were made with, to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smdp.steps import steps

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis


def methods_text(analysis: Analysis) -> list[str]:
    """A paragraph for each step that was done, in the past tense, with references."""
    found = [
        step.methods(analysis, analysis.records[step.name].asked)
        for step in steps()
        if step.name in analysis.records
    ]
    return [*filter(None, found), _software(analysis)] if found else []


def _software(analysis: Analysis) -> str:
    """With which programs, in words; the appendix has all versions."""
    made_by = [record.versions for record in analysis.records.values() if record.versions]
    programs = made_by[-1] if made_by else {}
    named = [f"{name} {programs[name]}" for name in _MAIN_PROGRAMS if name in programs]
    main, rest = (named[0], named[1:]) if named else ("smdp", [])
    with_rest = f" ({', '.join(rest)})" if rest else ""
    return (
        f"Analyses were done with {main}{with_rest}. All settings, seeds and versions are in the "
        "appendix; the same plan on the same data gives the same numbers."
    )


_MAIN_PROGRAMS: Sequence[str] = ("smdp", "python", "numpy", "scipy", "torch", "statsmodels")
