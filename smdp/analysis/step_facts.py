"""What each step takes, hands on, and says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.steps import Step
from smdp.data.describe import plural
from smdp.data.problem import Problem
from smdp.plain_data import fingerprint

if TYPE_CHECKING:
    from smdp.analysis.result import AnalysisResult
    from smdp.policy.learned_policy import LearnedPolicy

ALL_VARIABLES = "all"


def needed_by(step: Step, plan: AnalysisPlan) -> tuple[Step, ...]:
    """The steps whose results this one works on."""
    if step == Step.FEATURES:
        chosen = plan.features is not None and plan.features.use_all
        return (Step.RESCALING,) if chosen else (Step.RESCALING, Step.SCREENING)
    before = {
        Step.MISSING: Step.DATA,
        Step.RESCALING: Step.MISSING,
        Step.SCREENING: Step.RESCALING,
        Step.STABILITY: Step.FEATURES,
        Step.POLICY: Step.FEATURES,
        Step.EVALUATION: Step.POLICY,
        Step.PLACEBO: Step.POLICY,
        Step.TRIAL: Step.RESCALING,
    }
    return (before[step],) if step in before else ()


def inputs_of(step: Step, analysis: AnalysisResult) -> dict[str, str]:
    """The fingerprint of each thing that the step would now work on; "" for what is not there."""

    def of(earlier: Step) -> str:
        record = analysis.records.get(earlier)
        return record.output if record is not None else ""

    if step == Step.DATA:
        return {"table": analysis.source.fingerprint}
    if step == Step.MISSING:
        return {"study": of(Step.DATA)}
    if step == Step.RESCALING:
        return {"completed study": of(Step.MISSING)}
    found = {"trajectories": of(Step.RESCALING)}
    if step == Step.FEATURES:
        names = variables_for_features(analysis)
        found["variables"] = ALL_VARIABLES if names is None else fingerprint(names)
    elif step in (Step.STABILITY, Step.POLICY):
        found["feature map"] = of(Step.FEATURES)
    elif step in (Step.EVALUATION, Step.PLACEBO):
        found["policies"] = of(Step.POLICY)
    return found


def variables_for_features(analysis: AnalysisResult) -> tuple[str, ...] | None:
    """Those that screening kept; None: all."""
    if analysis.plan.features is not None and analysis.plan.features.use_all:
        return None
    screening = analysis.screening
    return () if screening is None else tuple(screening.selected)


def handed_on(step: Step, result: Any) -> Any:
    """The part of a result that later steps work on."""
    return result.trajectories if step == Step.RESCALING else result


def is_complete(step: Step, result: Any) -> bool:
    """Whether the work was done to its end; a fit that was stopped is still a result."""
    return bool(getattr(result, "complete", True))


def summary_of(step: Step, result: Any, policies: Sequence[LearnedPolicy] = ()) -> str:
    """The step's result in one line; `policies`: those that an evaluation is of."""
    if step == Step.DATA:
        people = plural(len(result.subjects), "subject")
        return f"{people}, {plural(len(result.variables), 'state variable')}"
    if step == Step.MISSING:
        kept, all_of_them = len(result.imputed.study.subjects), len(result.arranged.subjects)
        return f"{kept} of {all_of_them} subjects kept"
    if step == Step.RESCALING:
        levels = f"{len(result.rescaled.levels)} levels" if result.rescaled else "own units"
        return f"{plural(int(result.trajectories.valid.sum()), 'transition')}, {levels}"
    if step == Step.SCREENING:
        from smdp.words.screening import screening_summary

        return screening_summary(result)
    if step == Step.FEATURES:
        from smdp.words.feature_map import feature_map_summary

        return feature_map_summary(result)
    if step == Step.STABILITY:
        return plural(result.bootstraps, "resample")
    if step == Step.POLICY:
        from smdp.words.policy import policy_summary

        return policy_summary(result)
    if step == Step.EVALUATION:
        from smdp.words.policy_value import evaluation_summary

        kind = policies[0].kind if len(policies) > 1 else "value"
        return evaluation_summary(result, kind)
    if step == Step.PLACEBO:
        from smdp.words.trial_effect import placebo_summary

        return placebo_summary(result)
    return f"{plural(result.decisions, 'decision')} of {plural(result.subjects, 'subject')}"


def warnings_of(step: Step, result: Any) -> Sequence[Problem]:
    """What a reader of the step's result has to know."""
    if step == Step.SCREENING:
        from smdp.words.screening import check_screening

        return check_screening(result)
    if step == Step.FEATURES:
        from smdp.words.feature_map import check_feature_map

        return check_feature_map(result)
    if step == Step.POLICY:
        from smdp.words.policy import check_policies

        return check_policies(result)
    if step == Step.EVALUATION:
        from smdp.words.policy_value import check_value, without_interval

        found = [p for value in result for p in check_value(value)]
        for value in result:
            found += [Problem("warning", "", text) for text in without_interval(value, "learned")]
        return list(dict.fromkeys(found))
    if step == Step.PLACEBO:
        from smdp.words.trial_effect import check_placebo

        return check_placebo(result)
    if step == Step.TRIAL:
        return [Problem("note", "", note) for note in result.notes]
    return ()


def result_type(step: Step) -> type:
    """The class of the step's result; only that one is imported, for some bring torch along."""
    home, name = {
        Step.DATA: ("smdp.data.study", "Study"),
        Step.MISSING: ("smdp.data.prepare", "CompletedStudy"),
        Step.RESCALING: ("smdp.data.prepare", "PreparedData"),
        Step.SCREENING: ("smdp.screening", "ScreeningResult"),
        Step.FEATURES: ("smdp.feature_map.result", "FittedFeatureMap"),
        Step.STABILITY: ("smdp.feature_map.stability", "FeatureMapStability"),
        Step.POLICY: ("builtins", "tuple"),
        Step.EVALUATION: ("builtins", "tuple"),
        Step.PLACEBO: ("smdp.policy.placebo", "PlaceboCheck"),
        Step.TRIAL: ("smdp.policy.trial_summary", "TrialSummary"),
    }[step]
    kind: type = getattr(import_module(home), name)
    return kind
