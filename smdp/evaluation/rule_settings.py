"""The settings of finding a rule that fits on a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class RuleSettings(Settings):
    """A tree of at most `depth` questions in a row over variables as they were measured.

    `among`: what it may ask for, unless `variables` names that: what the full policy looks at (in a
    fold, that fold's), or all. `scores`: what an action is worth at a decision, by the fitted
    Q-function ("model") or with what it was wrong by added ("doubly robust"); that only finds the
    card, which is always judged doubly robustly. `least_share`: of the decisions with a choice, at
    each end. `rounds`: how often the decisions are scored anew by the value of the card itself,
    after the first time by that of the full policy. `resamples`: of people, to see whether the same
    questions come back.

    Reference: Athey & Wager (2021), "Policy learning with observational data"; Sverdrup et al.
    (2020), "policytree".
    """

    depth: int = setting(
        2,
        "Questions in a row, at most",
        help="As many as people can keep in mind. Three take much longer to find.",
        least=0,
        most=3,
        choices={0: "none", 1: "1", 2: "2", 3: "3"},
        control="select",
    )
    among: Literal["policy", "all"] = setting(
        "policy",
        "It may ask for",
        help="What the policy looks at: the card says in few words what the policy says in many. "
        "All variables: also what screening did not keep, which leaves much more to chance.",
        choices={"policy": "What the policy looks at", "all": "All variables"},
        control="select",
    )
    variables: tuple[str, ...] = setting(
        (),
        "Only these variables",
        help="Named here, they are all that it may ask for, whatever the policy looks at.",
        what="variables",
        control="several",
    )
    scores: Literal["model", "doubly robust"] = setting(
        "model",
        "Found by",
        help="What each treatment is worth at each decision, by a model of the outcomes; or doubly "
        "robust, with what was seen added to it: right without the model too, but with few people "
        "so noisy that the card is found by chance. What the card earns is judged doubly robustly "
        "in any case.",
        choices={"model": "The model's values", "doubly robust": "Doubly robust values"},
        control="select",
        more=True,
    )
    least_share: float = setting(
        0.05,
        "Smallest share of decisions at an end",
        help="No rule is made for fewer decisions than this.",
        what="a share",
        least=0,
        below=0.5,
        given=(0, 0.4),
        step=0.01,
        percent=True,
        more=True,
    )
    rounds: int = setting(4, "Rounds of scoring", least=1, most=50, page=False)
    resamples: int = setting(
        100,
        "Resamples of people",
        help="How many times people are drawn anew, with replacement, and the rule is found again: "
        "whether the same questions come back. 0: not done.",
        least=0,
        given=(0, 1000),
        more=True,
    )
