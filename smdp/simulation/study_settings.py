"""What a simulation study consists of: settings, feature maps, replications; and how it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from smdp.errors import DataError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.tnn import TnnSettings
from smdp.screening_settings import ScreeningSettings
from smdp.settings import require, require_whole
from smdp.simulation.generative_model import Model
from smdp.simulation.names import MAPS, MODELS, StudyMap

#: The seeds of one replication, in the order in which they are drawn.
SEEDS = ("data", "screening", "feature_map", "policy", "outcome")


@dataclass(frozen=True, order=True)
class SimulationSetting:
    """One simulated trial: the model, its noise variables, its size, and the discount."""

    model: Model
    noise: int = 0
    subjects: int = 30
    times: int = 90
    discount: float = 0.5

    def __post_init__(self) -> None:
        require(self.model in MODELS, "model", " or ".join(map(repr, MODELS)), self.model)
        for name, least in (("noise", 0), ("subjects", 1), ("times", 1)):
            require_whole(name, getattr(self, name), least)
        require(
            0 <= self.discount < 1, "discount", "a number of at least 0, below 1", self.discount
        )


#: The nine settings of the paper's tables 1 to 3.
PAPER_SETTINGS = tuple(
    SimulationSetting(model, noise) for model in MODELS for noise in (0, 50, 200)
)


@dataclass(frozen=True)
class StudyCell:
    """One piece of a study: a setting, a feature map, and the number of the replication."""

    setting: SimulationSetting
    feature_map: StudyMap
    replication: int  # 0, 1, ..


@dataclass(frozen=True)
class StudySettings:
    """How every replication of a study is done; a study has one of these.

    The feature maps: "identity" (all states), "oracle" (S1 .. S4), "adnn" (`screening`, then the
    alternating networks of `feature_map`), "tnn" (a sparse network for each action, by `tnn`; all
    variables go in, so its grid is coarse), "pca" (components with `pca_variance` of the variance),
    and "screened" (the variables that screening keeps, as they are). On each, linear and neural
    Q-learning at the setting's discount; `further_discount` adds neural Q-learning at another one.
    Outcomes are the mean utility a step of the greedy policy on `evaluation_subjects` fresh
    trajectories. `neural_steps`: training steps of neural Q-learning; 0 leaves it out.

    Reference: Wang, Laber & Witkiewitz, section 5.
    """

    seed: int = 0
    screening: ScreeningSettings = field(default_factory=lambda: ScreeningSettings(level=0.05))
    feature_map: FeatureMapSettings = field(
        default_factory=lambda: FeatureMapSettings(interpretable=False)
    )
    tnn: TnnSettings = field(
        default_factory=lambda: TnnSettings(
            interpretable=False,
            penalties=(0.2, 0.4),
            folds=3,
            restarts=1,
            refit_weight_decays=(0.1, 1.0),
            weak_columns=0.1,
        )
    )
    pca_variance: float = 0.9
    neural_steps: int = 4000
    further_discount: float | None = None
    evaluation_subjects: int = 1000

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("neural_steps", 0), ("evaluation_subjects", 1)):
            require_whole(name, getattr(self, name), least)
        require(0 < self.pca_variance <= 1, "pca_variance", "a share above 0", self.pca_variance)
        further = self.further_discount
        require(
            further is None or 0 <= further < 1,
            "further_discount",
            "a number of at least 0, below 1",
            further,
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, code: dict[str, Any]) -> StudySettings:
        """The settings that `to_json` wrote; lists come back as tuples."""
        try:
            screening = _tuples(code["screening"])
            tnn = {k: v for k, v in _tuples(code["tnn"]).items() if k not in _ONCE_OF_TNN}
            given = {
                **code,
                "screening": ScreeningSettings(**screening),
                "feature_map": FeatureMapSettings(**_tuples(code["feature_map"])),
                "tnn": TnnSettings(**tnn),
            }
            return cls(**given)
        except (KeyError, TypeError) as error:
            raise DataError(
                f"The study was made by another version of this program ({error}).",
                "Read it with that version, or start a new study in another folder.",
            ) from error


#: Settings that separate networks had in older files and never used.
_ONCE_OF_TNN = {"level", "permutations", "condition", "test", "margin", "pooling", "iterate",
                "updates", "reason"}  # fmt: skip


def quick(how: StudySettings) -> StudySettings:
    """The same study with short training: to try things out, not to report."""

    short: dict[str, Any] = {"steps": 150, "polish_steps": 30, "refit_steps": 200, "restarts": 1}
    return replace(
        how,
        feature_map=replace(how.feature_map, **short),
        tnn=replace(how.tnn, **short),
        neural_steps=min(how.neural_steps, 500),
        evaluation_subjects=min(how.evaluation_subjects, 200),
    )


def seeds_of(study_seed: int, setting: SimulationSetting, replication: int) -> dict[str, int]:
    """The seeds of one replication: of nothing but these, so that it can be repeated alone.

    They do not depend on the feature map or the discount: all maps see the same data and are
    judged on the same fresh trajectories.
    """
    entropy = [
        study_seed,
        MODELS.index(setting.model),
        setting.noise,
        setting.subjects,
        setting.times,
        replication,
    ]
    drawn = np.random.SeedSequence(entropy).generate_state(len(SEEDS), np.uint32)
    return dict(zip(SEEDS, map(int, drawn), strict=True))


def planned_cells(
    settings: Sequence[SimulationSetting], maps: Sequence[StudyMap], replications: int
) -> list[StudyCell]:
    """Every cell once: replication after replication, in each the slow ones first."""
    unknown = [name for name in maps if name not in MAPS]
    require(not unknown and len(maps) > 0, "maps", f"some of {', '.join(MAPS)}", list(maps))
    require(len(settings) > 0, "settings", "at least one", "none")
    require_whole("replications", replications, 1)
    slow = ("tnn", "adnn", "identity", "pca", "screened", "oracle")
    return [
        StudyCell(setting, name, replication)
        for replication in range(replications)
        for name in sorted(set(maps), key=slow.index)
        for setting in sorted(set(settings), key=lambda each: -each.noise * each.subjects)
    ]


def _tuples(code: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in code.items()}
