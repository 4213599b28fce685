"""Sufficient Markov decision processes for mobile-health trials.

The public names are imported when they are first used, so `import smdp` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "read_table": "smdp.data.read_table",
    "ColumnRoles": "smdp.data.column_roles",
    "StateVariable": "smdp.data.column_roles",
    "NextValue": "smdp.data.column_roles",
    "guess_roles": "smdp.data.guess_roles",
    "to_long": "smdp.data.reshape",
    "mark_missing": "smdp.data.missing_codes",
    "arrange": "smdp.data.arrange",
    "prepare": "smdp.data.prepare",
    "PreparedData": "smdp.data.prepare",
    "Trajectories": "smdp.data.trajectories",
    "local_polynomial": "smdp.data.local_polynomial",
    "PreparationSettings": "smdp.settings",
    "ImputationSettings": "smdp.settings",
    "RescalingSettings": "smdp.settings",
    "ScreeningSettings": "smdp.settings",
    "FeatureMapSettings": "smdp.settings",
    "FittedFeatureMap": "smdp.feature_map.result",
    "fit_feature_map": "smdp.feature_map.iterate",
    "pca_feature_map": "smdp.feature_map.baselines",
    "tnn_feature_map": "smdp.feature_map.baselines",
    "identity_feature_map": "smdp.feature_map.baselines",
    "feature_map_stability": "smdp.feature_map.stability",
    "PolicySettings": "smdp.policy.settings",
    "LearnedPolicy": "smdp.policy.learned_policy",
    "learn_policy": "smdp.policy.q_learning",
    "EvaluationSettings": "smdp.policy.evaluation_settings",
    "PolicyValue": "smdp.policy.evaluation",
    "evaluate_policy": "smdp.policy.evaluation",
    "placebo_check": "smdp.policy.placebo",
    "trial_summary": "smdp.policy.trial_summary",
    "explain_policy": "smdp.policy.explanation",
    "explain_patient": "smdp.policy.individual",
    "export_policy": "smdp.policy.export",
    "export_onnx": "smdp.policy.onnx_file",
    "AnalysisPlan": "smdp.analysis.plan",
    "ReadingSettings": "smdp.analysis.step_plans",
    "ScreeningPlan": "smdp.analysis.step_plans",
    "FeatureMapPlan": "smdp.analysis.step_plans",
    "StabilityPlan": "smdp.analysis.step_plans",
    "PolicyPlan": "smdp.analysis.step_plans",
    "EvaluationPlan": "smdp.analysis.step_plans",
    "PlaceboPlan": "smdp.analysis.step_plans",
    "TrialPlan": "smdp.analysis.step_plans",
    "run_analysis": "smdp.analysis.run",
    "AnalysisResult": "smdp.analysis.result",
    "save_analysis": "smdp.analysis.saved_file",
    "load_analysis": "smdp.analysis.saved_file",
    "SmdpError": "smdp.errors",
    "distance_covariance_test": "smdp.independence.distance_covariance",
    "likelihood_ratio_test": "smdp.independence.likelihood_ratio",
    "pool_p_values": "smdp.independence.pooling",
    "screen": "smdp.screening",
    "simulate": "smdp.simulation.generative_model",
    "simulated_outcome": "smdp.simulation.outcome",
    "MissingData": "smdp.simulation.missing_data",
    "StudySettings": "smdp.simulation.study_settings",
    "SimulationSetting": "smdp.simulation.study_settings",
    "run_study": "smdp.simulation.study",
    "read_study": "smdp.simulation.study_store",
    "compare_with_paper": "smdp.simulation.compare",
    "plan_study": "smdp.simulation.planning",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'smdp' has no attribute '{name}'")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
