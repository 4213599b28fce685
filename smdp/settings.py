"""One frozen, validated dataclass for each step of an analysis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from smdp.errors import SettingError


def require(condition: bool, name: str, must: str, value: object) -> None:
    """Raise the error for a setting that has a value it cannot have."""
    if not condition:
        raise SettingError(f"The setting '{name}' must be {must}. Got {value!r} instead.")


@dataclass(frozen=True)
class ImputationSettings:
    """Local polynomial regression of each subject's variable on time.

    A missing value at time t is the fitted value at t of a weighted least-squares polynomial of the
    given degree, with tricube weights (1 - (d / h)^3)^3 over the nearest `span` of that subject's
    observed points, h being the distance to the farthest of them.

    Reference: Cleveland, Grosse & Shyu (1992), "Local regression models"; R's
    `loess(surface = "direct")`.
    """

    span: float = 0.75
    degree: Literal[0, 1, 2] = 1

    def __post_init__(self) -> None:
        require(0 < self.span <= 10, "span", "a share of points above 0 (at most 10)", self.span)
        require(self.degree in (0, 1, 2), "degree", "0, 1 or 2", self.degree)


@dataclass(frozen=True)
class RescalingSettings:
    """Ordinal rescaling to the levels of one reference variable.

    The reference is divided by its maximum and its unique rescaled values are the levels; every
    other variable is rescaled to [0, 1] by its declared or observed range and moved to the nearest
    level. `reference=None` takes the variable with the most unique values, preferably of those with
    levels from 0 (or nearly) on.

    Reference: Wang, Laber & Witkiewitz, supplement, "How the variables are partitioned".
    """

    reference: str | None = None


@dataclass(frozen=True)
class PreparationSettings:
    """From arranged trajectories to complete ones: exclude, impute, rescale.

    `exclude_above`: subjects with a larger share of missing state values are left out.
    `also_exclude`: subjects left out by hand. `unobserved`: what to do with a subject who has no
    value at all of some variable. `rescaling=None` leaves the variables in their own units.
    """

    exclude_above: float = 0.5
    also_exclude: tuple[str, ...] = ()
    unobserved: Literal["refuse", "exclude"] = "refuse"
    imputation: ImputationSettings = field(default_factory=ImputationSettings)
    rescaling: RescalingSettings | None = None

    def __post_init__(self) -> None:
        require(
            0 <= self.exclude_above <= 1,
            "exclude_above",
            "a share between 0 and 1",
            self.exclude_above,
        )
        require(
            self.unobserved in ("refuse", "exclude"),
            "unobserved",
            "'refuse' or 'exclude'",
            self.unobserved,
        )


@dataclass(frozen=True)
class ScreeningSettings:
    """Which state variables the outcome depends on, found round by round (Algorithm 1).

    `level`: the paper's tau; a variable joins when its pooled p-value is at most this.
    `test`: "distance_covariance" for values of any kind, "likelihood_ratio" for discrete ones.
    `pooling`: "ruger" tests each time on its own and pools by T p_(u) / u, u being `rank` or else
    floor(T / 20 + 1); "trajectory" sums over time and permutes whole trajectories, which has more
    power but a stronger null hypothesis (see `smdp.independence.over_time`).
    `permutations`: by default ceil(10 T / (u tau)) - 1, at least 999 (T = u = 1 for trajectories).
    `max_rounds`: the paper's N_max. `force_in`: variables in the set from the start; `force_out`:
    variables never tested. `jobs`: threads.

    Reference: Wang, Laber & Witkiewitz, section 3, "Variable screening".
    """

    level: float = 0.10
    test: Literal["distance_covariance", "likelihood_ratio"] = "distance_covariance"
    permutations: int | None = None
    max_rounds: int = 20
    pooling: Literal["ruger", "trajectory"] = "ruger"
    rank: int | None = None
    force_in: tuple[str, ...] = ()
    force_out: tuple[str, ...] = ()
    jobs: int = 1

    def __post_init__(self) -> None:
        require(0 < self.level < 1, "level", "a probability above 0 and below 1", self.level)
        tests = ("distance_covariance", "likelihood_ratio")
        require(self.test in tests, "test", " or ".join(map(repr, tests)), self.test)
        poolings = ("ruger", "trajectory")
        require(self.pooling in poolings, "pooling", " or ".join(map(repr, poolings)), self.pooling)
        for name in ("permutations", "rank", "max_rounds", "jobs"):
            value = getattr(self, name)
            optional = value is None and name in ("permutations", "rank")
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
            require(optional or whole, name, "a whole number of at least 1", value)
        require(
            self.rank is None or self.pooling == "ruger",
            "rank",
            "left empty unless 'pooling' is 'ruger'",
            self.rank,
        )
        for name in ("force_in", "force_out"):
            names = getattr(self, name)
            require(not isinstance(names, str), name, "a list of variables", names)
            object.__setattr__(self, name, tuple(names))
        both = sorted(set(self.force_in) & set(self.force_out))
        require(not both, "force_out", "without the variables of 'force_in'", both)


#: Of the lists of a feature map's settings, those of numbers that need not be whole.
_NOT_WHOLE = ("penalties", "refit_weight_decays")


@dataclass(frozen=True)
class FeatureMapSettings:
    """A feature map phi: R^p -> R^q by alternating deep neural networks (Algorithm 2).

    phi and one network for each action predict Y^{t+1} = (U^t, S^{t+1}) from S^t by least squares
    plus lambda times the sum over variables j of the norm of column j of phi's first layer.

    `interpretable`: phi(s) = activation(W s + b), one layer; otherwise phi has `depths` hidden
    layers too. `dimensions`: the candidates for q, by default 1 .. p (see
    `smdp.feature_map.dimension` for many variables). `widths` (K1), `depths` (K2; hidden layers on
    each side) and `penalties` (lambda): chosen by cross-validation over `folds` of subjects; no
    width means 20, or 40 for more than 8 variables. `test`: what decides on q, the paper's
    "absolute" test of residuals against the state or the "relative" comparison with the full state
    (see `smdp.feature_map.sufficiency`), at `level`, with `margin` the share of the full state's
    squared error by which a map's may be larger. `condition`: of Lemma 3.4; (ii) is for the
    absolute test only. `pooling`, `permutations`: of the absolute test, as in screening. `iterate`:
    Corollary 3.3, on the variables kept, until nothing shrinks. `updates`: all actions in one step,
    or one action after the other as printed. `steps`, `batch` (rows for each action),
    `learning_rate`, `weight_decay`: of selection; `polish_steps`: on all rows, for exact zeros,
    columns under `weak_columns` times the largest norm being penalised harder; `refit_steps`,
    `restarts`, `refit_weight_decays` (by cross-validation: the noisier the study, the larger): of
    the unpenalised refit on the selected variables, which is the map that is used. `reason`: why
    `dimensions` were set by hand, in words, for the record.

    Reference: Wang, Laber & Witkiewitz, section 4.
    """

    interpretable: bool = True
    dimensions: tuple[int, ...] | None = None
    widths: tuple[int, ...] | None = None
    depths: tuple[int, ...] = (1,)
    penalties: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2)
    folds: int = 5
    level: float = 0.05
    permutations: int | None = 999
    condition: Literal["i", "ii"] = "i"
    test: Literal["relative", "absolute"] = "relative"
    margin: float = 0.15
    pooling: Literal["ruger", "trajectory"] = "ruger"
    iterate: bool = True
    updates: Literal["joint", "alternating"] = "joint"
    activation: Literal["arctan", "tanh", "relu"] = "arctan"
    steps: int = 1000
    batch: int = 64
    learning_rate: float = 0.01
    weight_decay: float = 0.3
    polish_steps: int = 200
    weak_columns: float = 0.025
    refit_steps: int = 1500
    refit_weight_decays: tuple[float, ...] = (0.01, 0.1, 1.0)
    restarts: int = 5
    reason: str = ""

    def __post_init__(self) -> None:
        require(0 < self.level < 1, "level", "a probability above 0 and below 1", self.level)
        require(0 <= self.margin < 1, "margin", "a share of at least 0, below 1", self.margin)
        for name, choices in (
            ("condition", ("i", "ii")),
            ("test", ("relative", "absolute")),
            ("pooling", ("ruger", "trajectory")),
            ("updates", ("joint", "alternating")),
            ("activation", ("arctan", "tanh", "relu")),
        ):
            value = getattr(self, name)
            require(value in choices, name, " or ".join(map(repr, choices)), value)
        require(
            self.condition == "i" or self.test == "absolute",
            "condition",
            "'i' unless 'test' is 'absolute'",
            self.condition,
        )
        for name in ("dimensions", "widths", "depths", *_NOT_WHOLE):
            self._require_list(name)
        require(isinstance(self.reason, str), "reason", "text", self.reason)
        for name in ("steps", "batch", "refit_steps", "restarts"):
            self._require_whole(name, 1)
        self._require_whole("folds", 2)
        self._require_whole("polish_steps", 0)
        if self.permutations is not None:
            self._require_whole("permutations", 1)
        weak = self.weak_columns
        require(0 <= weak < 1, "weak_columns", "a share of at least 0, below 1", weak)
        rate = self.learning_rate
        require(0 < rate < float("inf"), "learning_rate", "a positive number", rate)
        decay = self.weight_decay
        require(0 <= decay < float("inf"), "weight_decay", "a number of at least 0", decay)

    def _require_whole(self, name: str, least: int) -> None:
        value = getattr(self, name)
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
        require(whole, name, f"a whole number of at least {least}", value)

    def _require_list(self, name: str) -> None:
        """Each of the candidates once, in increasing order."""
        values = getattr(self, name)
        if values is None and name in ("dimensions", "widths"):
            return
        positive = "non-negative numbers" if name in _NOT_WHOLE else "whole numbers of at least 1"
        must = f"a list of {positive}, with at least one"
        require(isinstance(values, list | tuple) and len(values) > 0, name, must, values)
        for value in values:
            number = isinstance(value, int | float) and not isinstance(value, bool)
            whole = number and isinstance(value, int) and value >= 1
            finite = number and 0 <= value < float("inf")
            require(finite if name in _NOT_WHOLE else whole, name, must, values)
        object.__setattr__(self, name, tuple(sorted(set(values))))
