"""The settings of variable screening."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, require, setting


@dataclass(frozen=True)
class ScreeningSettings(Settings):
    """Which state variables the outcome depends on, found round by round (Algorithm 1).

    `level`: the paper's tau; a variable joins when its pooled p-value is at most this.
    `test`: "distance_covariance" for values of any kind, "likelihood_ratio" for discrete ones.
    `pooling`: "ruger" tests each time on its own and pools by T p_(u) / u, u being `rank` or else
    floor(T / 20 + 1); "trajectory" sums over time and permutes whole trajectories, which has more
    power but a stronger null hypothesis (see `smdp.independence.over_time`).
    `permutations`: by default ceil(10 T / (u tau)) - 1, at least 999 (T = u = 1 for trajectories).
    `max_rounds`: the paper's N_max. `force_in`: variables in the set from the start; `force_out`:
    variables never tested. `jobs`: threads.

    Reference: Wang, Laber & Witkiewitz, section 3, "Variable screening".
    """

    level: float = setting(
        0.10,
        "False-alarm level",
        symbol="tau",
        help="How often a variable that has nothing to do with the outcome may be kept. The paper "
        "takes 0.10.",
        what="a probability",
        above=0,
        below=1,
        given=(0.001, 0.5),
        step=0.01,
    )
    test: Literal["distance_covariance", "likelihood_ratio"] = setting(
        "distance_covariance",
        "Test",
        help="Distance covariance sees any kind of dependence. The likelihood-ratio test is for "
        "variables and outcomes with a handful of levels.",
        choices={
            "distance_covariance": "Any values (distance covariance)",
            "likelihood_ratio": "Few levels only (likelihood ratio)",
        },
        control="radio",
        more=True,
    )
    permutations: int | None = setting(
        None,
        "Permutations",
        symbol="B",
        help="The default is ten times what it takes to be able to reject, at least 999.",
        least=1,
        given=(0, 1_000_000),
        empty="0 for the default",
        more=True,
    )
    max_rounds: int = setting(20, "Most rounds", symbol="N_max", least=1, page=False)
    pooling: Literal["ruger", "trajectory"] = setting(
        "ruger",
        "Put decisions together",
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
        require(
            self.rank is None or self.pooling == "ruger",
            "rank",
            "left empty unless 'pooling' is 'ruger'",
            self.rank,
        )
        both = sorted(set(self.force_in) & set(self.force_out))
        require(not both, "force_out", "without the variables of 'force_in'", both)
