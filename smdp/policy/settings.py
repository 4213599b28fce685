"""The settings of learning a policy and of estimating what it would earn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import require


@dataclass(frozen=True)
class PolicySettings:
    """Q-learning on the features phi(s), with discount gamma.

    Q(s, a) = E{U + gamma max_b Q(S', b) | S = s, A = a}. `model`: "linear" (one weight vector and
    intercept for each action, by least-squares policy iteration with `ridge` on the standardised
    features) or "neural" (fitted Q iteration by a network of two hidden layers of `width`).
    `update`: "batch", or "stochastic" for the paper's update one transition at a time.
    `bootstraps`: refits on resampled subjects, from which the errors of margins and parameters are
    taken; None for 50, or 20 of a network. `abstain_level`: a margin whose one-sided bootstrap
    error reaches 0 at this level gives no recommendation (0.5: every margin will do).
    `neighbours`, `least_share`: no recommendation either where fewer than this share of the nearest
    decisions in feature space had one of the actions. `width`, `steps`: of the network;
    `ridge`: of policy iteration.

    Reference: Wang, Laber & Witkiewitz, section 6 and supplement; Lagoudakis & Parr (2003),
    "Least-squares policy iteration"; Ernst, Geurts & Wehenkel (2005), "Tree-based batch mode
    reinforcement learning".
    """

    model: Literal["linear", "neural"] = "linear"
    discount: float = 0.9
    update: Literal["batch", "stochastic"] = "batch"
    ridge: float = 1e-3
    width: int = 64
    steps: int = 4000
    bootstraps: int | None = None
    abstain_level: float = 0.05
    neighbours: int = 50
    least_share: float = 0.05

    def __post_init__(self) -> None:
        require(self.model in ("linear", "neural"), "model", "'linear' or 'neural'", self.model)
        require(
            self.update in ("batch", "stochastic"), "update", "'batch' or 'stochastic'", self.update
        )
        require(
            self.update == "batch" or self.model == "linear",
            "update",
            "'batch' for a neural model: one transition at a time would take hours",
            self.update,
        )
        for name, must, below in (
            ("discount", "a number of at least 0, below 1", 1.0),
            ("ridge", "a number of at least 0", float("inf")),
            ("least_share", "a share of at least 0, below 0.5", 0.5),
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            require(number and 0 <= value < below, name, must, value)
        level = self.abstain_level
        number = isinstance(level, int | float) and not isinstance(level, bool)
        require(number and 0 < level <= 0.5, "abstain_level", "a share above 0, at most 0.5", level)
        for name, least in (("width", 1), ("steps", 1), ("bootstraps", 0), ("neighbours", 1)):
            value = getattr(self, name)
            if value is None and name == "bootstraps":
                continue
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
            require(whole, name, f"a whole number of at least {least}", value)

    @property
    def resamples(self) -> int:
        """The number of refits on resampled subjects."""
        if self.bootstraps is not None:
            return self.bootstraps
        return 50 if self.model == "linear" else 20
