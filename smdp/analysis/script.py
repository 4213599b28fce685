"""An analysis plan as a Python script that uses public names only and gives the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from smdp import __version__
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.steps import Step

WIDTH = 88
INDENT = "    "
FITS = {
    "adnn": "fit_feature_map",
    "tnn": "tnn_feature_map",
    "pca": "pca_feature_map",
    "identity": "identity_feature_map",
}
LAST_LINES = {
    Step.DATA: 'print(len(study.subjects), "subjects")',
    Step.MISSING: 'print(len(prepared.trajectories.subjects), "subjects kept")',
    Step.RESCALING: 'print(int(prepared.trajectories.valid.sum()), "transitions")',
    Step.SCREENING: 'print("Kept by screening:", ", ".join(screening.selected))',
    Step.FEATURES: 'print("Dimension:", feature_map.dimension)\nprint(feature_map.weights)',
    Step.STABILITY: "print(stability.selection)",
    Step.POLICY: "for policy in policies:\n    print(policy.kind, policy.converged)",
    Step.TRIAL: "print(trial.effects)",
    Step.PLACEBO: 'print("Gain:", placebo.gain, "with shuffled actions:", placebo.mean)',
    Step.EVALUATION: "for value in values:\n    print(value.estimate, value.lower, value.upper)",
}


def script(plan: AnalysisPlan, data: str | None = None) -> str:
    """The text of the script; `data` is the path of the file that it reads."""
    path = data or plan.data_name or "study.csv"
    parts = [_head(plan), "import smdp\n", f"DATA = {_code(path, 0)}\n"]
    for step in plan.steps:
        lines = _LINES[step](plan)
        if lines:
            parts.append(_note(plan, step) + lines + "\n")
    last = [step for step in plan.steps if step != Step.DATA or len(plan.steps) == 1]
    parts.append("\n".join(LAST_LINES[step] for step in last if step in LAST_LINES) + "\n")
    return "\n".join(parts)


def _head(plan: AnalysisPlan) -> str:
    lines = ["# The analysis of a plan, as a script. Every setting is spelled out."]
    if plan.data_fingerprint:
        lines.append(_comment(f"Made with {plan.data_name}, SHA-256 {plan.data_fingerprint}."))
    lines.append(f"# Written by smdp {__version__}; other versions may give other numbers.")
    return "\n".join(lines) + "\n"


def _note(plan: AnalysisPlan, step: Step) -> str:
    note = plan.notes.get(str(step), "")
    return f"{_comment(note)}\n" if note.strip() else ""


def _comment(text: str) -> str:
    """Free text as comments: no character of it can end a comment and become code."""
    lines = ["".join(c if c.isprintable() else " " for c in line) for line in text.splitlines()]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _data(plan: AnalysisPlan) -> str:
    reading = plan.reading
    sheet = "" if reading.sheet is None else f", sheet={_code(reading.sheet, 0)}"
    lines = [f"frame = smdp.read_table(DATA{sheet})"]
    if reading.layout != "long":
        lines.append(f"frame = smdp.to_long(frame, {_code(reading.layout, 0)})")
    if reading.missing_codes:
        codes = _code(dict(reading.missing_codes), 0)
        lines.append(f"frame = smdp.mark_missing(frame, {codes})")
    lines.append(f"roles = {_code(plan.roles, 0)}")
    if Step.MISSING not in plan.steps:
        lines.append("study = smdp.arrange(frame, roles)")
    return "\n".join(lines)


def _missing(plan: AnalysisPlan) -> str:
    if Step.RESCALING in plan.steps:
        return ""  # `prepare` does both steps
    settings = replace(plan.preparation, rescaling=None)
    prepared = f"prepared = smdp.prepare(frame, roles, {_code(settings, 0)})"
    return f"{prepared}\ncompleted = prepared.completed  # people left out, values imputed"


def _rescaling(plan: AnalysisPlan) -> str:
    return f"prepared = smdp.prepare(frame, roles, {_code(plan.preparation, 0)})"


def _screening(plan: AnalysisPlan) -> str:
    assert plan.screening is not None
    own = plan.screening
    return _call("screening", "screen", "prepared.trajectories", own.settings, own.seed)


def _features(plan: AnalysisPlan) -> str:
    assert plan.features is not None
    own = plan.features
    names = "prepared.trajectories.variables" if own.use_all else "screening.selected"
    kept = f"kept = prepared.trajectories.select({names})\n"
    return kept + _call("feature_map", FITS[own.kind], "kept", own.settings, own.seed)


def _stability(plan: AnalysisPlan) -> str:
    assert plan.stability is not None
    return (
        "stability = smdp.feature_map_stability(\n"
        "    kept,\n"
        "    feature_map.settings,\n"
        f"    bootstraps={plan.stability.bootstraps},\n"
        f"    seed={plan.stability.seed},\n"
        "    fitted=feature_map,\n"
        ")"
    )


def _policy(plan: AnalysisPlan) -> str:
    lines = ["policies = []"]
    for each in plan.policies:
        given = "prepared.trajectories, feature_map"
        learned = _call("policy", "learn_policy", given, each.settings, each.seed)
        lines += [learned, "policies.append(policy)"]
    return "\n".join(lines)


def _evaluation(plan: AnalysisPlan) -> str:
    assert plan.evaluation is not None
    own = plan.evaluation
    how = f"how = {_code(own.settings, 0)}"
    loop = f"smdp.evaluate_policy(prepared.trajectories, policy, how, seed={own.seed})"
    return f"{how}\nvalues = [\n    {loop}\n    for policy in policies\n]"


def _placebo(plan: AnalysisPlan) -> str:
    assert plan.placebo is not None
    own = plan.placebo
    return (
        "placebo = smdp.placebo_check(\n"
        "    prepared.trajectories,\n"
        f"    policies[{own.policy - 1}],\n"
        f"    {_code(own.settings, 1)},\n"
        f"    repeats={own.repeats},\n"
        f"    seed={own.seed},\n"
        ")"
    )


def _trial(plan: AnalysisPlan) -> str:
    assert plan.trial is not None
    own = plan.trial
    return (
        "trial = smdp.trial_summary(\n"
        "    prepared.trajectories,\n"
        f"    moderators={_code(own.moderators, 1)},\n"
        f"    controls={_code(own.controls, 1)},\n"
        f"    coverage={own.coverage},\n"
        ")"
    )


_LINES = {
    Step.DATA: _data,
    Step.MISSING: _missing,
    Step.RESCALING: _rescaling,
    Step.SCREENING: _screening,
    Step.FEATURES: _features,
    Step.STABILITY: _stability,
    Step.POLICY: _policy,
    Step.EVALUATION: _evaluation,
    Step.PLACEBO: _placebo,
    Step.TRIAL: _trial,
}


def _call(name: str, function: str, given: str, settings: Any, seed: int) -> str:
    return (
        f"{name} = smdp.{function}(\n{INDENT}{given},\n"
        f"{INDENT}{_code(settings, 1)},\n{INDENT}seed={seed},\n)"
    )


def _code(value: Any, depth: int) -> str:
    """The value as Python code: on one line if it is short, else one item a line."""
    if is_dataclass(value) and not isinstance(value, type):
        told = [f for f in fields(value) if (getattr(value, f.name), f.default) != (None, None)]
        items = [f"{f.name}={_code(getattr(value, f.name), depth + 1)}" for f in told]
        return _bracketed(f"smdp.{type(value).__name__}(", items, ")", depth)
    if isinstance(value, Mapping):
        items = [f"{_code(k, depth)}: {_code(v, depth + 1)}" for k, v in value.items()]
        return _bracketed("{", items, "}", depth)
    if isinstance(value, tuple | list):
        items = [_code(v, depth + 1) for v in value]
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
