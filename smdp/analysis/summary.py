"""An analysis in words: what was done, what it says, what to check, and where it comes from."""

from __future__ import annotations

from smdp.analysis.currency import out_of_date
from smdp.analysis.result import AnalysisResult
from smdp.analysis.steps import Step
from smdp.data.describe import describe_completed, describe_prepared, describe_study
from smdp.data.problem import Problem

TITLES = {
    Step.DATA: "Data",
    Step.MISSING: "Missing values",
    Step.RESCALING: "Rescaling",
    Step.SCREENING: "Screening",
    Step.FEATURES: "Feature dimension",
    Step.STABILITY: "Stability of the weights",
    Step.POLICY: "Policy",
    Step.EVALUATION: "Value of the policy",
    Step.PLACEBO: "Placebo check",
    Step.TRIAL: "The trial itself",
}


def summary_text(analysis: AnalysisResult) -> str:
    """A text of a page or two, for people."""
    source = analysis.source
    parts = [f"Analysis of {source.name}: {source.rows:,} rows, {source.columns} columns"]
    if source.synthetic:
        parts.append("SYNTHETIC DATA: made by a program, about nobody.")
    parts += [_problem(p) for p in analysis.warnings if p.severity != "note"]
    stale = out_of_date(analysis)
    for step in Step:
        record = analysis.records.get(step)
        if record is None:
            continue
        late = "  [OUT OF DATE]" if step in stale else ""
        lines = [f"== {TITLES[step]}: {record.summary}{late}"]
        if step in analysis.results:
            lines += [f"- {sentence}" for sentence in _sentences(step, analysis)]
        lines += [_problem(p) for p in record.warnings if p.severity == "note"]
        note = analysis.plan.notes.get(str(step), "").strip()
        lines += [f"  Author's note: {note}"] if note else []
        parts.append("\n".join(lines))
    parts.append(_origin(analysis))
    return "\n\n".join(parts) + "\n"


def _problem(problem: Problem) -> str:
    about = f" ({problem.about})" if problem.about else ""
    return f"{problem.severity.upper()}{about}: {problem}"


def _sentences(step: Step, analysis: AnalysisResult) -> list[str]:
    """What the pages say of the step's result; words are imported where they are needed."""
    result = analysis.results[step]
    if step == Step.DATA:
        return describe_study(result)
    if step == Step.MISSING:
        return describe_completed(result)
    if step == Step.RESCALING:
        return describe_prepared(result)
    if step == Step.SCREENING:
        from smdp.words.screening import describe_screening

        return describe_screening(result)
    if step == Step.FEATURES:
        from smdp.words.feature_map import describe_feature_map
        from smdp.words.weights import describe_weights

        return [*describe_feature_map(result), *describe_weights(result)]
    if step == Step.STABILITY:
        from smdp.words.weights import describe_stability

        return describe_stability(result)
    return _policy_sentences(step, analysis)


def _policy_sentences(step: Step, analysis: AnalysisResult) -> list[str]:
    from smdp.words.policy import describe_convergence
    from smdp.words.policy_value import describe_value
    from smdp.words.trial_effect import describe_placebo, describe_trial

    kinds = [policy.kind for policy in analysis.policies]
    if step == Step.POLICY:
        return [describe_convergence(policy) for policy in analysis.policies]
    if step == Step.EVALUATION:
        pairs = zip(analysis.values, kinds, strict=False)
        return [sentence for value, kind in pairs for sentence in describe_value(value, kind)]
    asked = analysis.records[step].asked
    if step == Step.PLACEBO:
        return describe_placebo(analysis.results[step], kinds[asked.policy - 1])
    return describe_trial(analysis.results[step], logarithm=asked.logarithm)


def _origin(analysis: AnalysisResult) -> str:
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
