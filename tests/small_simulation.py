"""A small simulation study that takes a moment: `python tests/small_simulation.py FOLDER JOBS`."""

import sys
from pathlib import Path
from typing import Any

from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.tnn import TnnSettings
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.study_run import run_study
from smdp.simulation.study_settings import SimulationSetting, StudySettings
from smdp.simulation.study_store import StudyRows

CHEAP = ("identity", "oracle", "pca", "screened")
SETTINGS = (SimulationSetting("linear", 0, 12, 15), SimulationSetting("quad", 6, 12, 15))
CELLS = 24


def small_how(**changes: Any) -> StudySettings:
    """Cells of a fraction of a second."""
    tiny: dict[str, Any] = {
        "interpretable": False,
        "steps": 10,
        "polish_steps": 2,
        "refit_steps": 10,
        "restarts": 1,
        "folds": 2,
    }
    given: dict[str, Any] = {
        "screening": ScreeningSettings(
            level=0.2, method="paper", permutations=199, pooling="trajectory"
        ),
        "feature_map": FeatureMapSettings(**tiny),
        "tnn": TnnSettings(**tiny),
        "neural_steps": 60,
        "evaluation_subjects": 20,
    }
    return StudySettings(**given | changes)


def run_small(**options: Any) -> StudyRows:
    """Two settings, four maps, three replications."""
    return run_study(SETTINGS, maps=CHEAP, replications=3, how=small_how(), **options)


if __name__ == "__main__":
    run_small(folder=Path(sys.argv[1]), jobs=int(sys.argv[2]))
