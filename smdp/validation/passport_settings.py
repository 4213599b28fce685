"""The settings of the passport."""

from __future__ import annotations

import math
from dataclasses import dataclass

from smdp.settings import Settings, require, setting


@dataclass(frozen=True)
class PassportSettings(Settings):
    """What the passport tests itself, and whether it asks how often its checks are right.

    `level`: of the tests of randomisation and of what is missing, each for all that it looks at
    together; other rows have the level of the page that they come from. `studies`: so many
    simulated studies of this size without each violation, and as many with it; 0: none.
    """

    level: float = setting(
        0.05,
        "False-alarm level",
        symbol="tau",
        help="How often a trial that was randomised as planned may be doubted all the same, and "
        "the same for gaps that have nothing to do with what was measured.",
        what="a probability",
        above=0,
        below=1,
        given=(0.001, 0.5),
        step=0.01,
    )
    studies: int = setting(
        20,
        "Simulated studies",
        help="How often are these checks right at this study's size? For each check, so "
        "many studies of as many people and decisions are simulated without a fault, and as many "
        "with one. With 20, a share is known to within about 20 percentage points; with 100, to "
        "within 10. 0: not asked.",
        least=0,
        most=1000,
        given=(0, 200),
    )
    draws: int = setting(
        2047,
        "Patterns of signs",
        symbol="B",
        help="How finely p-values are told: more patterns of people's signs give finer ones.",
        least=19,
        most=50_000,
        given=(99, 50_000),
        more=True,
    )

    def check(self) -> None:
        needed = math.ceil(1 / self.level) - 1
        require(
            self.draws >= needed,
            "draws",
            f"at least {needed:,} to reach a level of {self.level:g}",
            self.draws,
        )
