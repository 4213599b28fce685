"""The settings of a feature map by alternating deep neural networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.feature_map.network_settings import NetworkSettings
from smdp.settings import require, setting


@dataclass(frozen=True)
class FeatureMapSettings(NetworkSettings):
    """A feature map phi: R^p -> R^q by alternating deep neural networks (Algorithm 2).

    phi and one network for each action predict Y^{t+1} = (U^t, S^{t+1}) from S^t by least squares
    plus lambda times the sum over variables j of the norm of column j of phi's first layer.

    `dimensions`: by default 1 .. p (see `smdp.feature_map.adnn.dimension` for many variables).
    `test`: what a dimension has to be enough for, and by which test, at `level`. "closed": the
    utility and the features' own next values; "next_state": the utility and every variable's next
    value; both by the test of `smdp.feature_map.normal_space`, the map being fitted to the same.
    "absolute": the paper's test of residuals against the state. "relative": the comparison with the
    full state that chose the maps of earlier versions, kept for plans and files made with it (see
    `smdp.feature_map.sufficiency`), with `margin` the share of the full state's squared error by
    which a map's may be larger. `choose_by`, for the first two: "exact", the smallest dimension
    that is not rejected; "practical", the smallest whose loss, of what the state says of the
    utility, is below `negligible` with 95 % confidence over people; "exact_first": the second only
    where the first would take as many features as there are variables, and then, of those that are
    enough in practice, one that is only just rejected (p-value above a fifth of `level`) before any
    other. `discount`: gamma, for what
    a decision by the features costs (`smdp.feature_map.value_lost`), which decides nothing.
    `condition`: of Lemma 3.4; (ii) is for the absolute test only. `pooling`, `permutations`: of the
    absolute test, as in screening. `iterate`: Corollary 3.3, on the variables kept, until nothing
    shrinks. `updates`: all actions in one step, or one action after the other as printed.
    `reason`: why `dimensions` were set by hand, in words, for the record. The others are those of
    `NetworkSettings`.

    Reference: Wang, Laber & Witkiewitz, section 4.
    """

    level: float = setting(
        0.05,
        "False-alarm level",
        symbol="tau",
        help="A dimension is rejected when its p-value is at most this. The paper takes 0.05.",
        what="a probability",
        above=0,
        below=1,
        given=(0.001, 0.5),
        step=0.01,
    )
    dimensions: tuple[int, ...] | None = setting(
        None,
        "Dimension by hand",
        symbol="q",
        help="Overrides the test. Say why below: it goes with the result.",
        least=1,
        ordered=True,
        empty="by test",
        control="number",
    )
    reason: str = setting(
        "",
        "Why this dimension?",
        help="The reason is part of the result and of the report.",
        control="text",
    )
    choose_by: Literal["exact_first", "exact", "practical"] = setting(
        "exact_first",
        "Enough features",
        help="Exactly: a test finds nothing that they lose. In practice: they keep nearly all that "
        "the state says of the outcome. Both answers are shown, whichever decides.",
        choices={
            "exact_first": "Exactly; in practice where that would take all variables",
            "exact": "Exactly",
            "practical": "In practice",
        },
        control="radio",
    )
    negligible: float = setting(
        0.05,
        "Loss that does not matter",
        help="In practice, features are enough if they lose less than this share of what the state "
        "says of the outcome, with 95 % confidence over people.",
        what="a share",
        above=0,
        below=1,
        given=(0.01, 0.5),
        step=0.01,
        more=True,
    )
    test: Literal["closed", "next_state", "absolute", "relative"] = setting(
        "closed",
        "What the features have to say",
        help="The outcome and their own next values: all that choosing treatment needs. Every "
        "variable's next value: more than that. As in the paper: its test of what is left over.",
        choices={
            "closed": "The outcome, and their own future",
            "next_state": "The outcome, and every variable's future",
            "absolute": "As in the paper",
            "relative": "As well as the full state (earlier versions)",
        },
        control="radio",
        more=True,
        paper="absolute",
    )
    discount: float = setting(0.9, "Discount", symbol="gamma", least=0, below=1, page=False)
    permutations: int | None = setting(999, "Permutations", symbol="B", least=1, page=False)
    condition: Literal["i", "ii"] = setting("i", "Condition of Lemma 3.4", page=False)
    margin: float = setting(
        0.15, "Margin of the squared error", what="a share", least=0, below=1, page=False
    )
    pooling: Literal["ruger", "trajectory"] = setting("ruger", "Put decisions together", page=False)
    iterate: bool = setting(True, "Again on the variables kept", page=False)
    updates: Literal["joint", "alternating"] = setting(
        "joint",
        "Updates",
        choices={"joint": "all treatments at once", "alternating": "one treatment after the other"},
        page=False,
        paper="alternating",
    )

    def check(self) -> None:
        require(
            self.condition == "i" or self.test == "absolute",
            "condition",
            "'i' unless 'test' is 'absolute'",
            self.condition,
        )

    @property
    def two_questions(self) -> bool:
        """Whether both the exact and the practical question are asked."""
        return self.test in ("closed", "next_state")

    @property
    def turns(self) -> Literal["joint", "alternating"]:
        return self.updates
