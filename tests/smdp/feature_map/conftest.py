"""Small studies and settings that train in a second."""

from __future__ import annotations

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.settings import FeatureMapSettings
from smdp.simulation.generative_model import simulate


@pytest.fixture
def quick() -> FeatureMapSettings:
    """Enough for the wiring, not for good maps."""
    return FeatureMapSettings(
        widths=(6,),
        penalties=(0.02, 0.1),
        folds=2,
        steps=60,
        polish_steps=20,
        refit_steps=60,
        restarts=2,
        batch=32,
    )


@pytest.fixture
def study() -> Trajectories:
    """12 subjects, 30 times: three variables that matter and one that does not."""
    whole = simulate("linear", noise=3, subjects=12, times=30, seed=1)
    return whole.select(["S1", "S2", "S3", "W1"])


@pytest.fixture
def sets(study: Trajectories) -> TrainingSets:
    return TrainingSets(transitions(study, 2, np.random.default_rng(0)))
