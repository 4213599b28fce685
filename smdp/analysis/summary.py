"""An analysis in words: what was done, what it says, what to check, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.data.problem import Problem
from smdp.steps import steps

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis


def summary_text(analysis: Analysis) -> str:
    """A text of a page or two, for people."""
    source = analysis.source
    parts = [f"Analysis of {source.name}: {source.rows:,} rows, {source.columns} columns"]
    if source.synthetic:
        parts.append("SYNTHETIC DATA: made by a program, about nobody.")
    parts += [_problem(p) for p in analysis.warnings if p.severity != "note"]
    stale = analysis.out_of_date
    for step in steps():
        record = analysis.records.get(step.name)
        if record is None:
            continue
        late = "  [OUT OF DATE]" if step.name in stale else ""
        lines = [f"== {step.title}: {record.summary}{late}"]
        if step.name in analysis.results:
            lines += [f"- {sentence}" for sentence in step.says(analysis)]
        lines += [_problem(p) for p in record.warnings if p.severity == "note"]
        note = analysis.plan.notes.get(step.name, "").strip()
        lines += [f"  Author's note: {note}"] if note else []
        parts.append("\n".join(lines))
    parts.append(_origin(analysis))
    return "\n\n".join(parts) + "\n"


def _problem(problem: Problem) -> str:
    about = f" ({problem.about})" if problem.about else ""
    return f"{problem.severity.upper()}{about}: {problem}"


def _origin(analysis: Analysis) -> str:
    source = analysis.source
    lines = ["== Where it comes from", f"- Table, SHA-256 of its content: {source.fingerprint}"]
    if source.file_fingerprint:
        lines.append(f"- File, SHA-256 of its bytes: {source.file_fingerprint}")
    for record in analysis.records.values():
        took = "" if record.seconds is None else f" in {record.seconds:.1f} s"
        lines.append(f"- {record.step}: finished {record.finished}{took}")
    made_by = dict.fromkeys(
        ", ".join(f"{name} {number}" for name, number in record.versions.items())
        for record in analysis.records.values()
    )
    lines += [f"- Versions: {text}" for text in made_by]
    return "\n".join(lines)
