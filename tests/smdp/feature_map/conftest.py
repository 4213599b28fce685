"""Small studies and settings that train in a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.feature_map.adnn import tuning
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.simulation.generative_model import simulate


@pytest.fixture
def quick_networks() -> dict[str, Any]:
    """Enough for the wiring, not for good maps."""
    return {
        "widths": (6,),
        "penalties": (0.02, 0.1),
        "folds": 2,
        "steps": 25,
        "polish_steps": 8,
        "refit_steps": 25,
        "restarts": 2,
        "batch": 32,
    }


@pytest.fixture
def quick(quick_networks: dict[str, Any]) -> FeatureMapSettings:
    return FeatureMapSettings(**quick_networks)


@pytest.fixture
def study() -> Trajectories:
    """12 subjects, 30 times: three variables that matter and one that does not."""
    whole = simulate("linear", noise=3, subjects=12, times=30, seed=1)
    return whole.select(["S1", "S2", "S3", "W1"])


@pytest.fixture
def sets(study: Trajectories) -> TrainingSets:
    return TrainingSets(transitions(study, 2, np.random.default_rng(0)))


@pytest.fixture
def networks_fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[ModelSpec], bool]], None]:
    """Of the networks that are tuned, let some have a loss that became infinite."""

    def fail(which: Callable[[ModelSpec], bool]) -> None:
        trained = tuning.train

        def some_fail(sets, specs, how, **more):  # type: ignore[no-untyped-def]
            networks = trained(sets, specs, how, **more)
            for spec, network in zip(specs, networks, strict=True):
                if which(spec):
                    network.features[0].weights[0, 0] = np.nan
            return networks

        monkeypatch.setattr(tuning, "train", some_fail)

    return fail
