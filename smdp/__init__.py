"""Sufficient Markov decision processes for mobile-health trials.

The public names are imported when they are first used, so `import smdp` is quick. Tools that read
types see them imported; a test holds the two lists together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.lazy import lazily

__version__ = "0.1.0"

_HOME = {
    "figures": "smdp.figures",
    "report": "smdp.report",
    "Analysis": "smdp.analysis.analysis",
    "AnalysisCancelled": "smdp.analysis.analysis",
    "run_analysis": "smdp.analysis.analysis",
    "AnalysisPlan": "smdp.analysis.plan",
    "load_analysis": "smdp.analysis.analysis",
    "save_analysis": "smdp.analysis.saved_file",
    "arrange": "smdp.data.arrange",
    "ColumnRoles": "smdp.data.column_roles",
    "NextValue": "smdp.data.column_roles",
    "StateVariable": "smdp.data.column_roles",
    "DataDictionary": "smdp.data.data_dictionary",
    "read_dictionary": "smdp.data.data_dictionary",
    "with_labels": "smdp.data.data_dictionary",
    "guess_roles": "smdp.data.guess_roles",
    "AboutOutcome": "smdp.data.outcome",
    "recognise_outcome": "smdp.data.outcome",
    "find_leaks": "smdp.data.leaks",
    "local_polynomial": "smdp.data.local_polynomial",
    "mark_missing": "smdp.data.missing_codes",
    "ImputationSettings": "smdp.data.preparation_settings",
    "PreparationSettings": "smdp.data.preparation_settings",
    "RescalingSettings": "smdp.data.preparation_settings",
    "CompletedStudy": "smdp.data.prepare",
    "PreparedData": "smdp.data.prepare",
    "prepare": "smdp.data.prepare",
    "read_table": "smdp.data.read_table",
    "to_long": "smdp.data.reshape",
    "CombineColumns": "smdp.data.shaping.compute",
    "ComputeColumn": "smdp.data.shaping.compute",
    "Rule": "smdp.data.shaping.compute",
    "JoinTable": "smdp.data.shaping.join",
    "GroupRare": "smdp.data.shaping.levels",
    "RecodeColumn": "smdp.data.shaping.levels",
    "DateAndTime": "smdp.data.shaping.moments",
    "SplitDate": "smdp.data.shaping.moments",
    "Operation": "smdp.data.shaping.operation",
    "Pseudonymise": "smdp.data.shaping.pseudonyms",
    "DropColumns": "smdp.data.shaping.rows_and_names",
    "KeepRows": "smdp.data.shaping.rows_and_names",
    "RenameColumn": "smdp.data.shaping.rows_and_names",
    "ShapedTable": "smdp.data.shaping.shape",
    "ShapingRecord": "smdp.data.shaping.shape",
    "shape": "smdp.data.shaping.shape",
    "Study": "smdp.data.study",
    "Trajectories": "smdp.data.trajectories",
    "Variable": "smdp.data.variables",
    "DataError": "smdp.errors",
    "ReadError": "smdp.errors",
    "CompletionSettings": "smdp.data.preparation_settings",
    "SettingError": "smdp.errors",
    "SmdpError": "smdp.errors",
    "EvaluationSettings": "smdp.evaluation.evaluation_settings",
    "CandidateComparison": "smdp.evaluation.candidates",
    "compare_candidates": "smdp.evaluation.candidates",
    "comparison_of": "smdp.evaluation.candidates",
    "OutcomeRisk": "smdp.evaluation.outcome_risk",
    "SubgroupGains": "smdp.evaluation.outcome_risk",
    "outcome_risk": "smdp.evaluation.outcome_risk",
    "subgroup_gains": "smdp.evaluation.outcome_risk",
    "TradeOff": "smdp.evaluation.trade_off",
    "trade_off": "smdp.evaluation.trade_off",
    "TradeOffSettings": "smdp.evaluation.trade_off_settings",
    "TradeOffPlan": "smdp.steps.step_plans",
    "PlaceboCheck": "smdp.evaluation.placebo",
    "placebo_check": "smdp.evaluation.placebo",
    "RuleSettings": "smdp.evaluation.rule_settings",
    "RuleReport": "smdp.evaluation.rule_value",
    "make_rule_card": "smdp.evaluation.rule_value",
    "TrialSummary": "smdp.evaluation.trial_effects",
    "trial_summary": "smdp.evaluation.trial_effects",
    "study_in_folds": "smdp.evaluation.evaluation_study",
    "JudgedPolicies": "smdp.evaluation.judged_in_folds",
    "judged_in_folds": "smdp.evaluation.judged_in_folds",
    "PolicyValue": "smdp.evaluation.value",
    "evaluate_policies": "smdp.evaluation.value",
    "evaluate_policy": "smdp.evaluation.value",
    "FoldAnalyses": "smdp.evaluation.whole_analysis",
    "WholeAnalysis": "smdp.evaluation.whole_analysis",
    "analyses_without_each": "smdp.evaluation.whole_analysis",
    "PatientExplanation": "smdp.explanation.patient_explanation",
    "explain_patient": "smdp.explanation.patient_explanation",
    "Explanation": "smdp.explanation.policy_explanation",
    "explain_policy": "smdp.explanation.policy_explanation",
    "export_onnx": "smdp.export.onnx_file",
    "export_policy": "smdp.export.policy_file",
    "fit_feature_map": "smdp.feature_map.adnn.iterate",
    "FeatureMapSettings": "smdp.feature_map.adnn.map_settings",
    "IdentitySettings": "smdp.feature_map.identity",
    "identity_feature_map": "smdp.feature_map.identity",
    "PcaSettings": "smdp.feature_map.pca",
    "pca_feature_map": "smdp.feature_map.pca",
    "FittedFeatureMap": "smdp.feature_map.fitted_map",
    "FeatureMapStability": "smdp.feature_map.stability",
    "feature_map_stability": "smdp.feature_map.stability",
    "TnnSettings": "smdp.feature_map.tnn",
    "tnn_feature_map": "smdp.feature_map.tnn",
    "distance_covariance_test": "smdp.independence.distance_covariance",
    "likelihood_ratio_test": "smdp.independence.likelihood_ratio",
    "pool_p_values": "smdp.independence.pooling",
    "TestResult": "smdp.independence.single_test",
    "MarkovCheck": "smdp.markov.markov_check",
    "check_markov": "smdp.markov.markov_check",
    "MarkovSettings": "smdp.markov.markov_settings",
    "Advice": "smdp.policy.decision_rule",
    "LearnedPolicy": "smdp.policy.learned_policy",
    "learn_policy": "smdp.policy.learned_policy",
    "PolicySettings": "smdp.policy.policy_settings",
    "as_measured": "smdp.policy.as_measured",
    "OwnRule": "smdp.policy.own_rule",
    "read_own_rule": "smdp.policy.own_rule",
    "RuleCard": "smdp.policy.rule_card",
    "ScreeningResult": "smdp.screening",
    "screen": "smdp.screening",
    "ScreeningSettings": "smdp.screening_settings",
    "Comparison": "smdp.simulation.compare",
    "compare_with_paper": "smdp.simulation.compare",
    "simulate": "smdp.simulation.generative_model",
    "MissingData": "smdp.simulation.missing_data",
    "simulated_outcome": "smdp.simulation.outcome",
    "StudyPlan": "smdp.simulation.planning",
    "plan_study": "smdp.simulation.planning",
    "run_study": "smdp.simulation.study_run",
    "SimulationSetting": "smdp.simulation.study_settings",
    "StudySettings": "smdp.simulation.study_settings",
    "StudyRows": "smdp.simulation.study_store",
    "read_study": "smdp.simulation.study_store",
    "TrialSize": "smdp.simulation.trial_size",
    "TrialSizeSettings": "smdp.simulation.trial_size",
    "trial_size": "smdp.simulation.trial_size",
    "EvaluationPlan": "smdp.steps.step_plans",
    "FeatureMapPlan": "smdp.steps.step_plans",
    "MarkovPlan": "smdp.steps.step_plans",
    "PlaceboPlan": "smdp.steps.step_plans",
    "PolicyPlan": "smdp.steps.step_plans",
    "ReadingSettings": "smdp.steps.step_plans",
    "RulePlan": "smdp.steps.step_plans",
    "ScreeningPlan": "smdp.steps.step_plans",
    "StabilityPlan": "smdp.steps.step_plans",
    "TableFile": "smdp.steps.step_plans",
    "TrialPlan": "smdp.steps.step_plans",
    "ImputationsPlan": "smdp.steps.step_plans",
    "TwinPlan": "smdp.steps.step_plans",
    "NewDataCheck": "smdp.validation.new_data",
    "check_new_data": "smdp.validation.new_data",
    "ImputationDraws": "smdp.validation.imputation_draws",
    "ImputationDrawsSettings": "smdp.validation.imputation_settings",
    "repeat_imputation": "smdp.validation.imputation_draws",
    "MissingPatterns": "smdp.validation.missingness",
    "missing_patterns": "smdp.validation.missingness",
    "Twin": "smdp.validation.twin",
    "fit_twin": "smdp.validation.twin",
    "Distilling": "smdp.validation.twin_study",
    "TwinSettings": "smdp.validation.twin_settings",
    "TwinStudy": "smdp.validation.twin_study",
    "repeat_on_twin": "smdp.validation.twin_study",
    "NewDataSettings": "smdp.validation.new_data_settings",
    "NewDataPlan": "smdp.steps.step_plans",
    "refit_on_both": "smdp.analysis.refit",
    "Passport": "smdp.validation.passport",
    "make_passport": "smdp.validation.passport",
    "PassportSettings": "smdp.validation.passport_settings",
    "PassportPlan": "smdp.steps.step_plans",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from smdp import figures as figures
    from smdp import report as report
    from smdp.analysis.analysis import Analysis as Analysis
    from smdp.analysis.analysis import AnalysisCancelled as AnalysisCancelled
    from smdp.analysis.analysis import load_analysis as load_analysis
    from smdp.analysis.analysis import run_analysis as run_analysis
    from smdp.analysis.plan import AnalysisPlan as AnalysisPlan
    from smdp.analysis.refit import refit_on_both as refit_on_both
    from smdp.analysis.saved_file import save_analysis as save_analysis
    from smdp.data.arrange import arrange as arrange
    from smdp.data.column_roles import ColumnRoles as ColumnRoles
    from smdp.data.column_roles import NextValue as NextValue
    from smdp.data.column_roles import StateVariable as StateVariable
    from smdp.data.data_dictionary import DataDictionary as DataDictionary
    from smdp.data.data_dictionary import read_dictionary as read_dictionary
    from smdp.data.data_dictionary import with_labels as with_labels
    from smdp.data.guess_roles import guess_roles as guess_roles
    from smdp.data.leaks import find_leaks as find_leaks
    from smdp.data.local_polynomial import local_polynomial as local_polynomial
    from smdp.data.missing_codes import mark_missing as mark_missing
    from smdp.data.outcome import AboutOutcome as AboutOutcome
    from smdp.data.outcome import recognise_outcome as recognise_outcome
    from smdp.data.preparation_settings import CompletionSettings as CompletionSettings
    from smdp.data.preparation_settings import ImputationSettings as ImputationSettings
    from smdp.data.preparation_settings import PreparationSettings as PreparationSettings
    from smdp.data.preparation_settings import RescalingSettings as RescalingSettings
    from smdp.data.prepare import CompletedStudy as CompletedStudy
    from smdp.data.prepare import PreparedData as PreparedData
    from smdp.data.prepare import prepare as prepare
    from smdp.data.read_table import read_table as read_table
    from smdp.data.reshape import to_long as to_long
    from smdp.data.shaping.compute import CombineColumns as CombineColumns
    from smdp.data.shaping.compute import ComputeColumn as ComputeColumn
    from smdp.data.shaping.compute import Rule as Rule
    from smdp.data.shaping.join import JoinTable as JoinTable
    from smdp.data.shaping.levels import GroupRare as GroupRare
    from smdp.data.shaping.levels import RecodeColumn as RecodeColumn
    from smdp.data.shaping.moments import DateAndTime as DateAndTime
    from smdp.data.shaping.moments import SplitDate as SplitDate
    from smdp.data.shaping.operation import Operation as Operation
    from smdp.data.shaping.pseudonyms import Pseudonymise as Pseudonymise
    from smdp.data.shaping.rows_and_names import DropColumns as DropColumns
    from smdp.data.shaping.rows_and_names import KeepRows as KeepRows
    from smdp.data.shaping.rows_and_names import RenameColumn as RenameColumn
    from smdp.data.shaping.shape import ShapedTable as ShapedTable
    from smdp.data.shaping.shape import ShapingRecord as ShapingRecord
    from smdp.data.shaping.shape import shape as shape
    from smdp.data.study import Study as Study
    from smdp.data.trajectories import Trajectories as Trajectories
    from smdp.data.variables import Variable as Variable
    from smdp.errors import DataError as DataError
    from smdp.errors import ReadError as ReadError
    from smdp.errors import SettingError as SettingError
    from smdp.errors import SmdpError as SmdpError
    from smdp.evaluation.candidates import CandidateComparison as CandidateComparison
    from smdp.evaluation.candidates import compare_candidates as compare_candidates
    from smdp.evaluation.candidates import comparison_of as comparison_of
    from smdp.evaluation.evaluation_settings import EvaluationSettings as EvaluationSettings
    from smdp.evaluation.evaluation_study import study_in_folds as study_in_folds
    from smdp.evaluation.judged_in_folds import JudgedPolicies as JudgedPolicies
    from smdp.evaluation.judged_in_folds import judged_in_folds as judged_in_folds
    from smdp.evaluation.outcome_risk import OutcomeRisk as OutcomeRisk
    from smdp.evaluation.outcome_risk import SubgroupGains as SubgroupGains
    from smdp.evaluation.outcome_risk import outcome_risk as outcome_risk
    from smdp.evaluation.outcome_risk import subgroup_gains as subgroup_gains
    from smdp.evaluation.placebo import PlaceboCheck as PlaceboCheck
    from smdp.evaluation.placebo import placebo_check as placebo_check
    from smdp.evaluation.rule_settings import RuleSettings as RuleSettings
    from smdp.evaluation.rule_value import RuleReport as RuleReport
    from smdp.evaluation.rule_value import make_rule_card as make_rule_card
    from smdp.evaluation.trade_off import TradeOff as TradeOff
    from smdp.evaluation.trade_off import trade_off as trade_off
    from smdp.evaluation.trade_off_settings import TradeOffSettings as TradeOffSettings
    from smdp.evaluation.trial_effects import TrialSummary as TrialSummary
    from smdp.evaluation.trial_effects import trial_summary as trial_summary
    from smdp.evaluation.value import PolicyValue as PolicyValue
    from smdp.evaluation.value import evaluate_policies as evaluate_policies
    from smdp.evaluation.value import evaluate_policy as evaluate_policy
    from smdp.evaluation.whole_analysis import FoldAnalyses as FoldAnalyses
    from smdp.evaluation.whole_analysis import WholeAnalysis as WholeAnalysis
    from smdp.evaluation.whole_analysis import analyses_without_each as analyses_without_each
    from smdp.explanation.patient_explanation import PatientExplanation as PatientExplanation
    from smdp.explanation.patient_explanation import explain_patient as explain_patient
    from smdp.explanation.policy_explanation import Explanation as Explanation
    from smdp.explanation.policy_explanation import explain_policy as explain_policy
    from smdp.export.onnx_file import export_onnx as export_onnx
    from smdp.export.policy_file import export_policy as export_policy
    from smdp.feature_map.adnn.iterate import fit_feature_map as fit_feature_map
    from smdp.feature_map.adnn.map_settings import FeatureMapSettings as FeatureMapSettings
    from smdp.feature_map.fitted_map import FittedFeatureMap as FittedFeatureMap
    from smdp.feature_map.identity import IdentitySettings as IdentitySettings
    from smdp.feature_map.identity import identity_feature_map as identity_feature_map
    from smdp.feature_map.pca import PcaSettings as PcaSettings
    from smdp.feature_map.pca import pca_feature_map as pca_feature_map
    from smdp.feature_map.stability import FeatureMapStability as FeatureMapStability
    from smdp.feature_map.stability import feature_map_stability as feature_map_stability
    from smdp.feature_map.tnn import TnnSettings as TnnSettings
    from smdp.feature_map.tnn import tnn_feature_map as tnn_feature_map
    from smdp.independence.distance_covariance import (
        distance_covariance_test as distance_covariance_test,
    )
    from smdp.independence.likelihood_ratio import likelihood_ratio_test as likelihood_ratio_test
    from smdp.independence.pooling import pool_p_values as pool_p_values
    from smdp.independence.single_test import TestResult as TestResult
    from smdp.markov.markov_check import MarkovCheck as MarkovCheck
    from smdp.markov.markov_check import check_markov as check_markov
    from smdp.markov.markov_settings import MarkovSettings as MarkovSettings
    from smdp.policy.as_measured import as_measured as as_measured
    from smdp.policy.decision_rule import Advice as Advice
    from smdp.policy.learned_policy import LearnedPolicy as LearnedPolicy
    from smdp.policy.learned_policy import learn_policy as learn_policy
    from smdp.policy.own_rule import OwnRule as OwnRule
    from smdp.policy.own_rule import read_own_rule as read_own_rule
    from smdp.policy.policy_settings import PolicySettings as PolicySettings
    from smdp.policy.rule_card import RuleCard as RuleCard
    from smdp.screening import ScreeningResult as ScreeningResult
    from smdp.screening import screen as screen
    from smdp.screening_settings import ScreeningSettings as ScreeningSettings
    from smdp.simulation.compare import Comparison as Comparison
    from smdp.simulation.compare import compare_with_paper as compare_with_paper
    from smdp.simulation.generative_model import simulate as simulate
    from smdp.simulation.missing_data import MissingData as MissingData
    from smdp.simulation.outcome import simulated_outcome as simulated_outcome
    from smdp.simulation.planning import StudyPlan as StudyPlan
    from smdp.simulation.planning import plan_study as plan_study
    from smdp.simulation.study_run import run_study as run_study
    from smdp.simulation.study_settings import SimulationSetting as SimulationSetting
    from smdp.simulation.study_settings import StudySettings as StudySettings
    from smdp.simulation.study_store import StudyRows as StudyRows
    from smdp.simulation.study_store import read_study as read_study
    from smdp.simulation.trial_size import TrialSize as TrialSize
    from smdp.simulation.trial_size import TrialSizeSettings as TrialSizeSettings
    from smdp.simulation.trial_size import trial_size as trial_size
    from smdp.steps.step_plans import EvaluationPlan as EvaluationPlan
    from smdp.steps.step_plans import FeatureMapPlan as FeatureMapPlan
    from smdp.steps.step_plans import ImputationsPlan as ImputationsPlan
    from smdp.steps.step_plans import MarkovPlan as MarkovPlan
    from smdp.steps.step_plans import NewDataPlan as NewDataPlan
    from smdp.steps.step_plans import PassportPlan as PassportPlan
    from smdp.steps.step_plans import PlaceboPlan as PlaceboPlan
    from smdp.steps.step_plans import PolicyPlan as PolicyPlan
    from smdp.steps.step_plans import ReadingSettings as ReadingSettings
    from smdp.steps.step_plans import RulePlan as RulePlan
    from smdp.steps.step_plans import ScreeningPlan as ScreeningPlan
    from smdp.steps.step_plans import StabilityPlan as StabilityPlan
    from smdp.steps.step_plans import TableFile as TableFile
    from smdp.steps.step_plans import TradeOffPlan as TradeOffPlan
    from smdp.steps.step_plans import TrialPlan as TrialPlan
    from smdp.steps.step_plans import TwinPlan as TwinPlan
    from smdp.validation.imputation_draws import ImputationDraws as ImputationDraws
    from smdp.validation.imputation_draws import repeat_imputation as repeat_imputation
    from smdp.validation.imputation_settings import (
        ImputationDrawsSettings as ImputationDrawsSettings,
    )
    from smdp.validation.missingness import MissingPatterns as MissingPatterns
    from smdp.validation.missingness import missing_patterns as missing_patterns
    from smdp.validation.new_data import NewDataCheck as NewDataCheck
    from smdp.validation.new_data import check_new_data as check_new_data
    from smdp.validation.new_data_settings import NewDataSettings as NewDataSettings
    from smdp.validation.passport import Passport as Passport
    from smdp.validation.passport import make_passport as make_passport
    from smdp.validation.passport_settings import PassportSettings as PassportSettings
    from smdp.validation.twin import Twin as Twin
    from smdp.validation.twin import fit_twin as fit_twin
    from smdp.validation.twin_settings import TwinSettings as TwinSettings
    from smdp.validation.twin_study import Distilling as Distilling
    from smdp.validation.twin_study import TwinStudy as TwinStudy
    from smdp.validation.twin_study import repeat_on_twin as repeat_on_twin
else:
    __getattr__, __dir__ = lazily(__name__, _HOME)
