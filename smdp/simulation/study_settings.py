"""What a simulation study consists of: settings, feature maps, replications; and how it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from smdp.errors import DataError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.tnn import TnnSettings
from smdp.screening_settings import ScreeningSettings
from smdp.settings import Settings, require, require_whole, seed_setting, setting
from smdp.simulation.generative_model import Model
from smdp.simulation.names import (
    MAP_MEANINGS,
    MAP_NAMES,
    MAPS,
    MODEL_NAMES,
    MODELS,
    PAPER_MAPS,
    StudyMap,
)

#: The seeds of one replication, in the order in which they are drawn.
SEEDS = ("data", "screening", "feature_map", "policy", "outcome")
#: How many noise variables the paper's trials have.
PAPER_NOISE = (0, 50, 200)
#: Of a policy that looks further ahead than the paper's.
FURTHER_DISCOUNT = 0.95

Depth = Literal["screening", "whole"]


#: What is said of the settings that both parts of the Simulation page have.
_MODEL: dict[str, Any] = {
    "label": "Model",
    "symbol": "g",
    "help": "How the next state follows from the present one. Linear is the easiest to learn, "
    "exponential the hardest.",
    "choices": {name: text.capitalize() for name, text in MODEL_NAMES.items()},
    "control": "select",
}
_NOISE: dict[str, Any] = {
    "label": "Noise variables",
    "symbol": "m",
    "help": "Variables beside the 64 states that have nothing to do with the utility: some follow "
    "each other, some are new at every decision, some never change.",
    "least": 0,
    "choices": {count: str(count) for count in PAPER_NOISE},
    "control": "select",
}
_DISCOUNT: dict[str, Any] = {
    "label": "Discount",
    "symbol": "gamma",
    "help": "How much the future counts when a policy is learned. The paper takes 0.5.",
    "least": 0,
    "below": 1,
    "given": (0.0, 0.99),
    "step": 0.01,
    "control": "slider",
    "more": True,
}
_QUICK: dict[str, Any] = {
    "label": "Quick training",
    "help": "Networks learn for a short while, and policies are judged on fewer fresh people. For "
    "a first look, not for reporting.",
}


@dataclass(frozen=True, order=True)
class SimulationSetting(Settings):
    """One simulated trial: the model, its noise variables, its size, and the discount."""

    model: Model = setting(MODELS[0], **_MODEL)
    noise: int = setting(0, **_NOISE)
    subjects: int = setting(
        30,
        "Subjects",
        symbol="n",
        help="People in each simulated trial. The paper has figures for 30 only.",
        least=1,
        given=(4, 1000),
        more=True,
    )
    times: int = setting(
        90,
        "Decisions of each",
        symbol="T",
        help="The paper has figures for 90 only.",
        least=1,
        given=(5, 1000),
        more=True,
    )
    discount: float = setting(0.5, **_DISCOUNT)


#: The nine settings of the paper's tables 1 to 3.
PAPER_SETTINGS = tuple(SimulationSetting(model, noise) for model in MODELS for noise in PAPER_NOISE)


@dataclass(frozen=True)
class StudyCell:
    """One piece of a study: a setting, a feature map, and the number of the replication."""

    setting: SimulationSetting
    feature_map: StudyMap
    replication: int  # 0, 1, ..


@dataclass(frozen=True)
class StudySettings(Settings):
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

    seed: int = seed_setting()
    screening: ScreeningSettings = setting(ScreeningSettings(level=0.05), page=False)
    feature_map: FeatureMapSettings = setting(FeatureMapSettings(interpretable=False), page=False)
    tnn: TnnSettings = setting(
        TnnSettings(
            interpretable=False,
            penalties=(0.2, 0.4),
            folds=3,
            restarts=1,
            refit_weight_decays=(0.1, 1.0),
            weak_columns=0.1,
        ),
        page=False,
    )
    pca_variance: float = setting(0.9, what="a share", above=0, most=1)
    neural_steps: int = setting(4000, least=0)
    further_discount: float | None = setting(
        None,
        f"Also with a discount of {FURTHER_DISCOUNT}",
        help="A neural policy that looks further ahead, beside what the optimal policy for that "
        "discount earns.",
        least=0,
        below=1,
        choices={FURTHER_DISCOUNT: str(FURTHER_DISCOUNT)},
        control="checkbox",
        more=True,
    )
    evaluation_subjects: int = setting(1000, least=1)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, code: dict[str, Any]) -> StudySettings:
        """The settings that `to_json` wrote; lists come back as tuples."""
        try:
            # Studies that say no method are of the time when there was only the paper's.
            screening = {"method": "paper"} | _tuples(code["screening"])
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


@dataclass(frozen=True)
class PaperComparison(Settings):
    """Trials of one setting, analysed with several maps, to be set beside the paper's."""

    trial: SimulationSetting = setting(SimulationSetting, factory=True)
    maps: tuple[StudyMap, ...] = setting(
        ("oracle", "adnn"),
        "Feature maps",
        help="What the policy is learned on. "
        + " ".join(f"**{MAP_NAMES[name]}**: {MAP_MEANINGS[name]}" for name in PAPER_MAPS),
        choices={name: MAP_NAMES[name] for name in PAPER_MAPS},
        control="pills",
    )
    replications: int = setting(
        2,
        "Replications",
        help="Simulated trials. Each is analysed with every feature map. Two are a first look; the "
        "standard errors need ten or more.",
        least=1,
        given=(1, 500),
    )
    quick: bool = setting(True, **_QUICK)
    how: StudySettings = setting(StudySettings, factory=True)

    @property
    def done_how(self) -> StudySettings:
        return quick(self.how) if self.quick else self.how

    @property
    def cells(self) -> list[StudyCell]:
        return planned_cells([self.trial], self.maps, self.replications)


@dataclass(frozen=True)
class PlanningSettings(Settings):
    """The sizes of study that are tried, to see how large one has to be (`smdp.plan_study`)."""

    model: Model = setting(MODELS[0], **_MODEL)
    noise: int = setting(50, **_NOISE)
    subjects: tuple[int, ...] = setting(
        (10, 20, 30, 50),
        "Subjects",
        symbol="n",
        help="The sizes to try, separated by commas.",
        least=1,
        ordered=True,
        control="text",
    )
    times: tuple[int, ...] = setting(
        (90,),
        "Decisions of each",
        symbol="T",
        help="How often each person is observed and treated. Several numbers give several curves.",
        least=1,
        ordered=True,
        control="text",
    )
    replications: int = setting(
        20,
        "Simulated studies of each size",
        help="The share of studies that succeed is known to within about 20 points from 20, and 10 "
        "from 100.",
        least=1,
        given=(1, 1000),
    )
    depth: Depth = setting(
        "screening",
        "How far to go",
        help="Screening only: policies are learned on the variables that it keeps; seconds for "
        "each study. The whole analysis: the feature map too; a variable is found when the map "
        "uses it; a minute or more for each study.",
        choices={"screening": "Screening only", "whole": "The whole analysis"},
        control="radio",
    )
    discount: float = setting(0.9, **_DISCOUNT)
    quick: bool = setting(False, more=True, **_QUICK)
    how: StudySettings = setting(StudySettings, factory=True)

    @property
    def done_how(self) -> StudySettings:
        return quick(self.how) if self.quick else self.how

    @property
    def settings(self) -> list[SimulationSetting]:
        return [
            SimulationSetting(self.model, self.noise, subjects, times, self.discount)
            for subjects in self.subjects
            for times in self.times
        ]

    @property
    def feature_map(self) -> StudyMap:
        return "adnn" if self.depth == "whole" else "screened"

    @property
    def cells(self) -> list[StudyCell]:
        return planned_cells(self.settings, [self.feature_map], self.replications)


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
