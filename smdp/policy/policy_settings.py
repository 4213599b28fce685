"""The settings of learning a policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from smdp.settings import Settings, require, setting

#: Refits from which an error can be taken that decides on treatment.
FEWEST_FOR_AN_ERROR = 10


@dataclass(frozen=True)
class PolicySettings(Settings):
    """Q-learning on the features phi(s), with discount gamma.

    Q(s, a) = E{U + gamma max_b Q(S', b) | S = s, A = a}. `model`: "linear" (one weight vector and
    intercept for each action, by least-squares policy iteration with `ridge` on the standardised
    features), "pessimistic" (the same Q-function, but an action is chosen over the `reference` only
    where it is ahead by more than `pessimism` times the error of that difference: see
    `smdp.policy.decision_rule.cautious_values`) or "neural" (fitted Q iteration by a network of two
    hidden layers of `width`).
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

    model: Literal["linear", "pessimistic", "neural"] = setting(
        "linear",
        "Model",
        help="Linear: one parameter for each treatment and feature: can be read. Takes a second. "
        "Pessimistic: the linear model, but treatment is left as usual where it is not clear that "
        "another one is better. Neural: a network on the features: can bend and combine them. "
        "Takes up to a minute.",
        choices={
            "linear": "Linear model",
            "pessimistic": "Pessimistic linear model",
            "neural": "Neural model",
        },
        page=False,  # the page learns one or both
    )
    discount: float = setting(
        0.9,
        "Discount",
        symbol="gamma",
        help="How much the future counts. A treatment is worth the next outcome, plus gamma times "
        "the one after it, plus gamma squared times the next, and so on. 0: only the next outcome. "
        "Near 1: what comes much later counts nearly as much, and is harder to learn.",
        least=0,
        below=1,
        given=(0.0, 0.99),
        step=0.01,
        control="slider",
    )
    update: Literal["batch", "stochastic"] = setting(
        "batch",
        "Update of the linear model",
        help="All at once: least-squares policy iteration, exact and quick. One at a time: the "
        "paper's stochastic update; slower, and it may not come to rest.",
        choices={
            "batch": "All decisions at once",
            "stochastic": "One decision at a time (the paper's)",
        },
        control="radio",
        more=True,
    )
    ridge: float = setting(1e-3, "Ridge", least=0, page=False)
    width: int = setting(64, "Width of the network", least=1, page=False)
    steps: int = setting(4000, "Steps of training", least=1, page=False)
    bootstraps: int | None = setting(
        None,
        "Refits on resampled people",
        help="People are drawn anew, with replacement, and the Q-functions are learned again: "
        "their spread is the error of parameters and margins. The default is 50, or 20 of a "
        "network.",
        least=0,
        given=(0, 500),
        empty="0 for the default",
        more=True,
    )
    abstain_level: float = setting(
        0.05,
        "Level for abstaining",
        help="No recommendation where the better treatment could, with this probability, be the "
        "worse one. At 0.5 every difference will do.",
        what="a share",
        above=0,
        most=0.5,
        given=(0.001, 0.5),
        step=0.01,
        more=True,
    )
    pessimism: float = setting(
        1.0,
        "Errors that a treatment must be ahead by",
        symbol="z",
        help="Of the pessimistic model: a treatment is chosen over the one in doubt only where it "
        "is ahead by more than so many standard errors. 0: the linear model itself.",
        what="a number of standard errors",
        least=0,
        given=(0.0, 3.0),
        step=0.1,
        more=True,
    )
    reference: str = setting(
        "",
        "Treatment in doubt",
        help="Of the pessimistic model: what is done where no other treatment is clearly better; "
        "as a rule the one that is no treatment at all.",
        empty="the first one of the study",
        page=False,
    )
    neighbours: int = setting(50, "Nearest decisions", least=1, page=False)
    least_share: float = setting(
        0.05,
        "Least share of an action among the nearest decisions",
        what="a share",
        least=0,
        below=0.5,
        page=False,
    )

    def check(self) -> None:
        require(
            self.update == "batch" or self.model != "neural",
            "update",
            "'batch' for a neural model: one transition at a time would take hours",
            self.update,
        )
        require(
            self.model != "pessimistic" or self.resamples >= FEWEST_FOR_AN_ERROR,
            "bootstraps",
            f"None or at least {FEWEST_FOR_AN_ERROR} for a pessimistic model, which is made of the "
            "errors",
            self.bootstraps,
        )

    @property
    def to_be_judged(self) -> PolicySettings:
        """Where a policy is judged, errors are of no use, unless they decide what it recommends."""
        return self if self.model == "pessimistic" else replace(self, bootstraps=0)

    @property
    def resamples(self) -> int:
        """The number of refits on resampled subjects."""
        if self.bootstraps is not None:
            return self.bootstraps
        return 20 if self.model == "neural" else 50
