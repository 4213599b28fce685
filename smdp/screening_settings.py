"""The settings of variable screening."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, require, setting

#: More patterns of signs would say nothing new, and fill the memory.
MOST_SIGNS = 50_000


@dataclass(frozen=True)
class ScreeningSettings(Settings):
    """Which state variables the outcome depends on, found round by round (Algorithm 1).

    `level`: the paper's tau; a variable joins when its p-value is at most this. Where people are
    the sample, it is the p-value for all variables of a round together.
    `method`: "closed_set" looks for the smallest set of variables that, with the action, is all
    that the utility and the set's own next values depend on; "rounds" is Algorithm 1 as printed,
    which follows marginal dependence. Both take people as the sample (`screening_by_person`).
    "paper" is Algorithm 1 with the paper's own tests, at each time on its own: `test` is
    "distance_covariance" for values of any kind, "likelihood_ratio" for discrete ones.
    `past_actions`: how many earlier actions are held fixed beside the present one, where the data
    allow. `ranks`: whether values count or their ranks at each time. Neither is for "paper".
    `pooling`, of the paper's tests: "ruger" pools by T p_(u) / u, u being `rank` or else
    floor(T / 20 + 1); "trajectory" sums over time and permutes whole trajectories, which has more
    power but a stronger null hypothesis (see `smdp.independence.over_time`).
    `permutations`: patterns of people's signs, 2,047 by default, and all there are for
    12 people or fewer; for "paper" by default ceil(10 T / (u tau)) - 1, at least 999
    (T = u = 1 for trajectories).
    `max_rounds`: the paper's N_max. `force_in`: variables in the set from the start; `force_out`:
    variables never tested. `jobs`: threads, in the paper's tests.

    Reference: Wang, Laber & Witkiewitz, section 3, "Variable screening".
    """

    level: float = setting(
        0.10,
        "False-alarm level",
        symbol="tau",
        help="How often a round may let in any variable that has nothing to do with the outcome "
        "(with the paper's tests: how often each such variable may be kept). The paper takes 0.10.",
        what="a probability",
        above=0,
        below=1,
        given=(0.001, 0.5),
        step=0.01,
    )
    method: Literal["closed_set", "rounds", "paper"] = setting(
        "closed_set",
        "Look for",
        help="Smallest closed set: what the outcome, and what is kept, still depends on once the "
        "others are known. Whatever is related: round by round, everything that goes with the "
        "outcome or with what was kept, also what merely goes along. As in the paper: the same, "
        "each decision tested on its own, which sees large effects only.",
        choices={
            "closed_set": "Smallest closed set",
            "rounds": "Whatever is related",
            "paper": "Whatever is related, as in the paper",
        },
        control="radio",
        more=True,
        paper="paper",
    )
    test: Literal["distance_covariance", "likelihood_ratio"] = setting(
        "distance_covariance",
        "The paper's test",
        help="Distance covariance sees any kind of dependence. The likelihood-ratio test is for "
        "variables and outcomes with a handful of levels.",
        choices={
            "distance_covariance": "Any values (distance covariance)",
            "likelihood_ratio": "Few levels only (likelihood ratio)",
        },
        control="radio",
        more=True,
    )
    past_actions: int = setting(
        2,
        "Earlier treatments held fixed",
        symbol="m",
        help="What merely follows earlier treatments, as the outcome does, is not taken for a "
        "cause. Fewer are held fixed where there would be too few rows for each sequence.",
        least=0,
        most=5,
        more=True,
    )
    ranks: bool = setting(
        False,
        "Use ranks",
        help="Only the order of values at each decision counts: for wild outliers.",
        more=True,
    )
    permutations: int | None = setting(
        None,
        "Rearrangements",
        symbol="B",
        help="Patterns of people's signs: 2,047 by default. In the paper's tests permutations, by "
        "default ten times what it takes to be able to reject, at least 999.",
        least=1,
        given=(0, 1_000_000),
        empty="0 for the default",
        more=True,
    )
    max_rounds: int = setting(20, "Most rounds", symbol="N_max", least=1, page=False)
    pooling: Literal["ruger", "trajectory"] = setting(
        "ruger",
        "Put decisions together (the paper's tests)",
        help="Each decision on its own: a p-value for each, pooled by Rüger's rule, valid under "
        "any dependence over time. Whole trajectories: more power, but a stronger null "
        "hypothesis: a variable's whole course has nothing to do with the outcome's or the "
        "treatments'. It keeps far more noise.",
        choices={"ruger": "Each decision on its own", "trajectory": "Whole trajectories"},
        control="radio",
        more=True,
    )
    rank: int | None = setting(None, "Rank of the pooled p-value", symbol="u", least=1, page=False)
    force_in: tuple[str, ...] = setting(
        (),
        "Always keep",
        help="Variables that theory asks for. They are not tested.",
        what="variables",
        control="several",
    )
    force_out: tuple[str, ...] = setting(
        (),
        "Never keep",
        help="Variables that a policy must not use. They are not tested.",
        what="variables",
        control="several",
    )
    jobs: int = setting(1, "Threads", least=1, page=False)

    def check(self) -> None:
        if self.method != "paper" and self.permutations is not None:
            needed = math.ceil(1 / self.level) - 1
            require(
                self.permutations >= needed,
                "permutations",
                f"at least {needed} to reach a level of {self.level:g}",
                self.permutations,
            )
            require(
                self.permutations <= MOST_SIGNS,
                "permutations",
                f"at most {MOST_SIGNS:,} unless 'method' is 'paper'",
                self.permutations,
            )
        require(
            self.rank is None or self.pooling == "ruger",
            "rank",
            "left empty unless 'pooling' is 'ruger'",
            self.rank,
        )
        both = sorted(set(self.force_in) & set(self.force_out))
        require(not both, "force_out", "without the variables of 'force_in'", both)
