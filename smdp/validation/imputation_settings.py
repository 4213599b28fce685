"""The settings of drawing missing values several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class ImputationDrawsSettings(Settings):
    """How often missing values are drawn, and what is then found anew."""

    draws: int = setting(
        20,
        "Draws",
        symbol="M",
        help="How many times all missing values are drawn anew.",
        least=2,
        given=(5, 500),
    )
    repeated: Literal["screening", "features"] = setting(
        "screening",
        "What is found anew",
        help="The average effect of treatment and what screening keeps take seconds a draw. The "
        "features take as long as on their own page, for each draw.",
        choices={
            "screening": "Effect and screening",
            "features": "Effect, screening and features",
        },
        control="radio",
    )
