"""The settings of the Markov check."""

from __future__ import annotations

import math
from dataclasses import dataclass

from smdp.settings import Settings, require, setting


@dataclass(frozen=True)
class MarkovSettings(Settings):
    """How far back one must look, and whether the process is the same throughout.

    `most`: the longest look-back that is tested, beyond what the state already holds; a shorter one
    where the data do not reach as far. `level`: of each test; a look-back is rejected when its
    p-value is at most this. `draws`: patterns of people's signs, and all there are for few people.

    Reference: Shi, Wan, Song, Lu & Leng (2020), "Does the Markov decision process fit the data".
    """

    most: int = setting(
        3,
        "Longest look-back",
        symbol="L",
        help="Each look-back from 0 up to this is tested: how many earlier decisions must be known "
        "beside the present state. Only decisions with one more known before them can be used, so "
        "a long one costs decisions.",
        least=0,
        most=10,
    )
    level: float = setting(
        0.05,
        "False-alarm level",
        symbol="tau",
        help="How often a look-back that is long enough may be rejected all the same, or a process "
        "that never changes be said to change.",
        what="a probability",
        above=0,
        below=1,
        given=(0.001, 0.5),
        step=0.01,
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
