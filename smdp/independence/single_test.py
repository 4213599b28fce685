"""What a single test of independence answers."""

from __future__ import annotations

from dataclasses import dataclass

from smdp.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class TestResult(Result):
    """A permutation test of independence within strata.

    p_value = (1 + #{permuted statistic >= statistic}) / (permutations + 1), ties counted.
    """

    statistic: float  # summed over the strata tested
    p_value: float
    permutations: int  # how many rearrangements the observed one was compared with
    exact: bool  # whether those are all there are (then p_value has no Monte Carlo error)
    subjects_tested: int
    strata_tested: int
    strata_left_out: int  # with fewer than 4 subjects
