"""Parts and variants of the small study's analysis."""

from __future__ import annotations

import pytest

from smdp.analysis.analysis import Analysis, run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings


@pytest.fixture(scope="session")
def partial(study_file, plan) -> Analysis:
    """Data and missing values only, as a page that was left early."""
    return run_analysis(study_file, plan.replace(stop_after="missing"))


@pytest.fixture
def rescaled(plan) -> AnalysisPlan:
    return plan.replace(preparation=PreparationSettings(rescaling=RescalingSettings("craving")))
