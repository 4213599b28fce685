"""One small study for all tests of what is made of it."""

from __future__ import annotations

import pytest
from small_simulation import run_small


@pytest.fixture(scope="session")
def small_study():
    """By one worker, without a file."""
    return run_small()
