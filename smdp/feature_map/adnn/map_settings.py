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
    `test`: what decides on q, the paper's "absolute" test of residuals against the state or the
    "relative" comparison with the full state (see `smdp.feature_map.sufficiency`), at `level`, with
    `margin` the share of the full state's squared error by which a map's may be larger.
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
    test: Literal["relative", "absolute"] = setting(
        "relative",
        "Test that decides",
        help="Absolute: the paper's test of the residuals against the state. Relative: are "
        "predictions from the features worse than from the full state? Both are shown.",
        control="radio",
        more=True,
    )
    permutations: int | None = setting(999, "Permutations", symbol="B", least=1, page=False)
    condition: Literal["i", "ii"] = setting("i", "Condition of Lemma 3.4", page=False)
    margin: float = setting(
        0.15, "Margin of the squared error", what="a share", least=0, below=1, page=False
    )
    pooling: Literal["ruger", "trajectory"] = setting("ruger", "Put decisions together", page=False)
    iterate: bool = setting(True, "Again on the variables kept", page=False)
    updates: Literal["joint", "alternating"] = setting("joint", "Updates", page=False)

    def check(self) -> None:
        require(
            self.condition == "i" or self.test == "absolute",
            "condition",
            "'i' unless 'test' is 'absolute'",
            self.condition,
        )

    @property
    def turns(self) -> Literal["joint", "alternating"]:
        return self.updates
