"""An analysis with hostile names, run once."""

from __future__ import annotations

import shutil

import pytest
from hostile_study import quick_plan, study_frame

from smdp.analysis.analysis import Analysis, run_analysis
from smdp.report.browser import PROGRAMS


@pytest.fixture(scope="session")
def analysis() -> Analysis:
    return run_analysis(study_frame(), quick_plan())


@pytest.fixture(scope="session")
def chrome() -> str:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("No Chromium was found. Install one, on Debian with: apt-get install chromium")
    return program
