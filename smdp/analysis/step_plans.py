"""What a plan says of each step: its settings and its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from smdp.data.columns import level_text
from smdp.data.reshape import Layout
from smdp.feature_map.result import Kind
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.settings import PolicySettings
from smdp.settings import FeatureMapSettings, ScreeningSettings, require

LAYOUTS: tuple[Layout, ...] = ("long", "wide", "redcap")
KINDS: tuple[Kind, ...] = ("adnn", "tnn", "pca", "identity")


def _check_seed(seed: object) -> None:
    whole = isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0
    require(whole, "seed", "a whole number of at least 0", seed)


@dataclass(frozen=True)
class ReadingSettings:
    """How the table is read: the workbook's `sheet`, its `layout`, and what means "missing".

    `layout`: "long" (a row for each subject and time), "wide" (a row for each subject) or "redcap".
    `missing_codes`: by column of the long table, with "*" for all columns.
    """

    sheet: str | int | None = None
    layout: Layout = "long"
    missing_codes: Mapping[str, tuple[str | float, ...]] = field(default_factory=dict)  # as text

    def __post_init__(self) -> None:
        require(self.layout in LAYOUTS, "layout", f"one of {LAYOUTS}", self.layout)
        codes = {}
        for column, found in self.missing_codes.items():
            listed = (found,) if isinstance(found, str | int | float) else found
            if listed:
                codes[column] = tuple(level_text(code) for code in listed)
        object.__setattr__(self, "missing_codes", codes)


@dataclass(frozen=True)
class ScreeningPlan:
    """Algorithm 1: its settings and its seed."""

    settings: ScreeningSettings = field(default_factory=ScreeningSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_seed(self.seed)


@dataclass(frozen=True)
class FeatureMapPlan:
    """The kind of feature map, its settings and seed, and whether screening decides its inputs."""

    kind: Kind = "adnn"
    use_all: bool = False  # all variables, not only those that screening kept
    settings: FeatureMapSettings = field(default_factory=FeatureMapSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.kind in KINDS, "kind", f"one of {KINDS}", self.kind)
        _check_seed(self.seed)


@dataclass(frozen=True)
class StabilityPlan:
    """The feature map again, on `bootstraps` resamples of the subjects."""

    bootstraps: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.bootstraps, int) and self.bootstraps >= 2
        require(whole, "bootstraps", "a whole number of at least 2", self.bootstraps)
        _check_seed(self.seed)


@dataclass(frozen=True)
class PolicyPlan:
    """One policy: its settings and its seed."""

    settings: PolicySettings = field(default_factory=PolicySettings)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_seed(self.seed)


@dataclass(frozen=True)
class EvaluationPlan:
    """What each of the policies would earn: the settings and the seed of that estimate."""

    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        _check_seed(self.seed)


@dataclass(frozen=True)
class PlaceboPlan:
    """One policy learned and judged again, `repeats` times, with shuffled actions.

    `policy`: which of the plan's policies, counted from 1. `settings`: of its evaluation.
    """

    policy: int = 1
    repeats: int = 20
    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("policy", "repeats"):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            require(whole, name, "a whole number of at least 1", value)
        _check_seed(self.seed)


@dataclass(frozen=True)
class TrialPlan:
    """What treatment did on average (`smdp.trial_summary`): adjusted for what, changing with what.

    `logarithm`: whether the utility is one, so that effects are said in percent too.
    """

    controls: tuple[str, ...] = ()
    moderators: tuple[str, ...] = ()
    coverage: float = 0.95
    logarithm: bool = False
