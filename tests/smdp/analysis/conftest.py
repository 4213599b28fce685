"""A small study in a file, a plan with every step, and its analysis, run once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_trial import quick_plan, study_frame

from smdp import (
    AnalysisPlan,
    AnalysisResult,
    PreparationSettings,
    RescalingSettings,
    run_analysis,
)


@pytest.fixture(scope="session")
def study_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.csv"
    study_frame().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def plan() -> AnalysisPlan:
    return quick_plan()


@pytest.fixture(scope="session")
def analysis(study_file, plan) -> AnalysisResult:
    return run_analysis(study_file, plan)


@pytest.fixture(scope="session")
def partial(study_file, plan) -> AnalysisResult:
    """Data and missing values only, as a page that was left early."""
    return run_analysis(study_file, replace(plan, stop_after="missing"))


@pytest.fixture
def rescaled(plan) -> AnalysisPlan:
    return replace(plan, preparation=PreparationSettings(rescaling=RescalingSettings("craving")))
