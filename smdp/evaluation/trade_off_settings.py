"""The settings of following the cost of treating."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from smdp.result import Content
from smdp.settings import Settings, setting


@dataclass(frozen=True, eq=False)
class TradeOffSettings(Content, Settings):
    """How the cost of treating is followed.

    `weights`: other outcomes that count beside the study's own: by state variable, how much of that
    outcome one more of the variable's next value is worth; below 0 where less of it is better.
    `costs`: of one treatment, in the outcome's own unit, in increasing order; None: `points` of
    them, from 0 to what all but a few treatments are worth. `dearer`: by action, how many times the
    cost it has; 1 for those not named, and the `reference` costs nothing ("" is the first action).
    """

    weights: Mapping[str, float] = setting(
        dict,
        "Other outcomes that count",
        factory=True,
        what="a number for each variable",
        page=False,
    )
    points: int = setting(
        9,
        "Costs tried",
        help="From treatments that cost nothing to a cost at which hardly any is worth it.",
        least=3,
        given=(3, 25),
    )
    costs: tuple[float, ...] | None = setting(
        None,
        "Costs",
        help="In the outcome's own unit.",
        least=0,
        ordered=True,
        empty="from 0 to what treatment is worth",
        page=False,
    )
    reference: str = setting(
        "",
        "Treatment that costs nothing",
        help="As a rule the one that is no treatment at all.",
        empty="the first one of the study",
        page=False,
    )
    dearer: tuple[float, ...] | None = setting(
        None,
        "Times the cost, by action",
        help="One number for each action, in the order of the study.",
        least=0,
        empty="1 for every treatment",
        page=False,
    )
