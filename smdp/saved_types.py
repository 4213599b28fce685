"""The kinds of things that a saved file may hold, each under a tag that never changes.

A class may be renamed or moved: its line here is then changed, its tag is not, and every file that
was ever written still opens. A tag that is no longer needed stays in the migrations of the file
(`smdp.analysis.formats`). Nothing that is not listed is ever made from a file.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module

from smdp.errors import DataError
from smdp.text import shorten

#: By tag: where the class lives now. Imported when a file needs it, for some bring torch along.
HOMES: dict[str, str] = {
    # what was asked
    "variable": "smdp.data.column_roles:StateVariable",
    "next value": "smdp.data.column_roles:NextValue",
    "column roles": "smdp.data.column_roles:ColumnRoles",
    "about outcome": "smdp.data.outcome:AboutOutcome",
    "reading settings": "smdp.steps.step_plans:ReadingSettings",
    "table file": "smdp.steps.step_plans:TableFile",
    "shape: compute": "smdp.data.shaping.compute:ComputeColumn",
    "shape: combine": "smdp.data.shaping.compute:CombineColumns",
    "shape: rule": "smdp.data.shaping.compute:Rule",
    "shape: recode": "smdp.data.shaping.levels:RecodeColumn",
    "shape: group rare": "smdp.data.shaping.levels:GroupRare",
    "shape: keep rows": "smdp.data.shaping.rows_and_names:KeepRows",
    "shape: drop columns": "smdp.data.shaping.rows_and_names:DropColumns",
    "shape: rename": "smdp.data.shaping.rows_and_names:RenameColumn",
    "shape: join": "smdp.data.shaping.join:JoinTable",
    "shape: date and time": "smdp.data.shaping.moments:DateAndTime",
    "shape: split date": "smdp.data.shaping.moments:SplitDate",
    "shape: pseudonymise": "smdp.data.shaping.pseudonyms:Pseudonymise",
    "imputation settings": "smdp.data.preparation_settings:ImputationSettings",
    "rescaling settings": "smdp.data.preparation_settings:RescalingSettings",
    "completion settings": "smdp.data.preparation_settings:CompletionSettings",
    "preparation settings": "smdp.data.preparation_settings:PreparationSettings",
    "screening settings": "smdp.screening_settings:ScreeningSettings",
    "feature map settings": "smdp.feature_map.adnn.map_settings:FeatureMapSettings",
    "tnn settings": "smdp.feature_map.tnn:TnnSettings",
    "pca settings": "smdp.feature_map.pca:PcaSettings",
    "identity settings": "smdp.feature_map.identity:IdentitySettings",
    "markov settings": "smdp.markov.markov_settings:MarkovSettings",
    "policy settings": "smdp.policy.policy_settings:PolicySettings",
    "evaluation settings": "smdp.evaluation.evaluation_settings:EvaluationSettings",
    "screening plan": "smdp.steps.step_plans:ScreeningPlan",
    "feature map plan": "smdp.steps.step_plans:FeatureMapPlan",
    "stability plan": "smdp.steps.step_plans:StabilityPlan",
    "markov plan": "smdp.steps.step_plans:MarkovPlan",
    "policy plan": "smdp.steps.step_plans:PolicyPlan",
    "evaluation plan": "smdp.steps.step_plans:EvaluationPlan",
    "folds plan": "smdp.steps.step_plans:FoldsPlan",
    "placebo plan": "smdp.steps.step_plans:PlaceboPlan",
    "rule settings": "smdp.evaluation.rule_settings:RuleSettings",
    "rule plan": "smdp.steps.step_plans:RulePlan",
    "trade-off settings": "smdp.evaluation.trade_off_settings:TradeOffSettings",
    "trade-off plan": "smdp.steps.step_plans:TradeOffPlan",
    "trial plan": "smdp.steps.step_plans:TrialPlan",
    "new data settings": "smdp.validation.new_data_settings:NewDataSettings",
    "new data plan": "smdp.steps.step_plans:NewDataPlan",
    "passport settings": "smdp.validation.passport_settings:PassportSettings",
    "passport plan": "smdp.steps.step_plans:PassportPlan",
    # what was found
    "data variable": "smdp.data.variables:Variable",
    "text embedding": "smdp.data.text_embedding:TextEmbedding",
    "study": "smdp.data.study:Study",
    "exclusion": "smdp.data.exclude:Exclusion",
    "cell": "smdp.data.study:Cell",
    "completed study": "smdp.data.prepare:CompletedStudy",
    "prepared data": "smdp.data.prepare:PreparedData",
    "trajectories": "smdp.data.trajectories:Trajectories",
    "screening round": "smdp.screening:ScreeningRound",
    "screening": "smdp.screening:ScreeningResult",
    "layer": "smdp.feature_map.layers:Layer",
    "network": "smdp.feature_map.layers:Network",
    "network size": "smdp.feature_map.fitted_map:NetworkSize",
    "feature map": "smdp.feature_map.fitted_map:FittedFeatureMap",
    "stability": "smdp.feature_map.stability:FeatureMapStability",
    "markov check": "smdp.markov.markov_check:MarkovCheck",
    "q-function": "smdp.policy.q_function:QFunction",
    "support": "smdp.policy.support:Support",
    "policy": "smdp.policy.learned_policy:LearnedPolicy",
    "whole analysis": "smdp.evaluation.whole_analysis:WholeAnalysis",
    "fold analysis": "smdp.evaluation.whole_analysis:FoldAnalysis",
    "fold analyses": "smdp.evaluation.whole_analysis:FoldAnalyses",
    "policy value": "smdp.evaluation.value:PolicyValue",
    "judged decisions": "smdp.evaluation.judged_decisions:JudgedDecisions",
    "estimate": "smdp.evaluation.estimators:Estimate",
    "trade-off": "smdp.evaluation.trade_off:TradeOff",
    "placebo check": "smdp.evaluation.placebo:PlaceboCheck",
    "rule question": "smdp.policy.rule_card:Question",
    "rule end": "smdp.policy.rule_card:End",
    "rule branch": "smdp.policy.rule_card:Branch",
    "rule card": "smdp.policy.rule_card:RuleCard",
    "own rule": "smdp.policy.own_rule:OwnRule",
    "rule report": "smdp.evaluation.rule_value:RuleReport",
    "likeness": "smdp.validation.likeness:Likeness",
    "share kept": "smdp.feature_map.share_kept:ShareKept",
    "map holds": "smdp.validation.sufficiency:MapHolds",
    "calibration": "smdp.validation.calibration:Calibration",
    "ground": "smdp.validation.verdict:Ground",
    "verdict": "smdp.validation.verdict:Verdict",
    "on new data": "smdp.validation.new_data:OnNewData",
    "new data check": "smdp.validation.new_data:NewDataCheck",
    "randomisation check": "smdp.validation.randomisation:RandomisationCheck",
    "missing related": "smdp.validation.missing_related:MissingRelated",
    "passport row": "smdp.validation.passport_rows:PassportRow",
    "passport": "smdp.validation.passport:Passport",
    "version": "smdp.validation.versions:Version",
    "twin settings": "smdp.validation.twin_settings:TwinSettings",
    "twin plan": "smdp.steps.step_plans:TwinPlan",
    "imputation draws settings": "smdp.validation.imputation_settings:ImputationDrawsSettings",
    "imputations plan": "smdp.steps.step_plans:ImputationsPlan",
    "missing patterns": "smdp.validation.missingness:MissingPatterns",
    "imputation draw": "smdp.validation.imputation_draws:ImputationDraw",
    "imputation draws": "smdp.validation.imputation_draws:ImputationDraws",
    "distilling": "smdp.validation.twin_study:Distilling",
    "twin repetition": "smdp.validation.twin_study:Repetition",
    "twin study": "smdp.validation.twin_study:TwinStudy",
    "trial summary": "smdp.evaluation.trial_effects:TrialSummary",
    "explanation": "smdp.explanation.policy_explanation:Explanation",
    "patient explanation": "smdp.explanation.patient_explanation:PatientExplanation",
    # how it came to be
    "problem": "smdp.data.problem:Problem",
    "table source": "smdp.analysis.provenance:TableSource",
    "step record": "smdp.analysis.provenance:StepRecord",
    # simulations
    "simulation setting": "smdp.simulation.study_settings:SimulationSetting",
    "study settings": "smdp.simulation.study_settings:StudySettings",
    "missing data": "smdp.simulation.missing_data:MissingData",
    "generative model": "smdp.simulation.generative_model:GenerativeModel",
    "study rows": "smdp.simulation.study_store:StudyRows",
    "study plan": "smdp.simulation.planning:StudyPlan",
    # between processes only
    "step request": "smdp.analysis.step_request:StepRequest",
    "paper comparison": "smdp.simulation.study_settings:PaperComparison",
    "planning settings": "smdp.simulation.study_settings:PlanningSettings",
    "simulation request": "smdp.simulation.requests:SimulationRequest",
    "study plan request": "smdp.simulation.requests:StudyPlanRequest",
}
_TAGS = {home: tag for tag, home in HOMES.items()}
_registered: dict[str, type] = {}


def register(tag: str, kind: type) -> type:
    """Let files hold a class of another package (a step's result, say) under this tag."""
    if tag in HOMES or _registered.get(tag, kind) is not kind:
        raise ValueError(f"the tag '{tag}' is taken")
    _registered[tag] = kind
    return kind


def tag_of(kind: type) -> str:
    """The tag that things of this class are written under."""
    tag = _TAGS.get(f"{kind.__module__}:{kind.__qualname__}")
    if tag is not None:
        return tag
    for tag, known in _registered.items():
        if known is kind:
            return tag
    raise TypeError(f"{kind.__name__} is not plain data: it has no tag in smdp.saved_types")


def type_of(tag: object) -> type:
    """The class that is written under a tag."""
    name = str(tag)
    if name in _registered:
        return _registered[name]
    if name not in HOMES:
        raise DataError(
            f"The file holds a '{shorten(tag)}', which this version of smdp does not know.",
            "It was written by a later version of smdp, or with a package that is not loaded here: "
            "install that version, or import that package first. Else the file is damaged.",
        )
    module, _, qualified = HOMES[name].partition(":")
    kind: type = getattr(import_module(module), qualified)
    assert is_dataclass(kind) or issubclass(kind, Enum), name
    return kind
