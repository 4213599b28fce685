"""Whole trajectories change hands: who may change with whom, and the test.

Under the null hypothesis a variable's trajectories x_1 .. x_n are exchangeable and independent of
everybody's outcomes, actions and times of observation. So the statistic, summed over the times, may
be compared with its values when subject i keeps its outcomes and actions (and with them its stratum
at every time) but gets the trajectory of subject s(i).

Where lengths differ, x_s(i) may be missing at a time at which i's outcome is there. Leaving those
out would compare the observed statistic with permuted ones that rest on less data. Instead,
trajectories change hands only within *circles* of subjects that were observed for about as long,
and a circle is tested only at the times at which all its members were observed: then every
permutation uses the same outcomes, and the test is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smdp.independence.in_parallel import in_parallel
from smdp.independence.kernels import Observations, Test, kernel_across_strata
from smdp.independence.permutation import Exceedances, PermutationPlan, Tested
from smdp.independence.workspace import Workspace

#: Circles are as small as this where lengths differ, to cut off little of the longer trajectories.
SMALLEST_CIRCLE = 5


def circles(observed: NDArray[np.bool_]) -> tuple[NDArray[np.intp], ...]:
    """Subjects that exchange trajectories: all who share a pattern of observed times (n, T).

    A pattern shared by fewer than `SMALLEST_CIRCLE` is joined with the next longer ones.
    """
    patterns, member_of = np.unique(observed, axis=0, return_inverse=True)
    member_of = member_of.ravel()
    found: list[list[int]] = [[]]
    for pattern in np.argsort(patterns.sum(axis=1), kind="stable"):
        if len(found[-1]) >= SMALLEST_CIRCLE:
            found.append([])
        found[-1].extend(np.flatnonzero(member_of == pattern).tolist())
    if len(found) > 1 and len(found[-1]) < SMALLEST_CIRCLE:
        found[-2].extend(found.pop())
    return tuple(np.array(sorted(circle), dtype=np.intp) for circle in found)


def shared_times(
    observed: NDArray[np.bool_], groups: tuple[NDArray[np.intp], ...]
) -> NDArray[np.bool_]:
    """(n, T): the times at which all of a subject's circle were observed."""
    shared = np.empty_like(observed)
    for group in groups:
        shared[group] = observed[group].all(axis=0)
    return shared


def by_trajectory(
    test: Test,
    data: Observations,
    shared: NDArray[np.bool_],  # (n, T)
    tested: dict[int, Tested],  # by time
    plan: PermutationPlan,
    random: np.random.Generator,
    jobs: int,
    report: Callable[[float], None],
) -> tuple[list[Exceedances], Exceedances]:
    """Each tested time's statistics of the p variables, and those of their sums over time."""
    times = list(tested)
    at_time: list[Exceedances] = []
    summed: Exceedances | None = None
    for number, block in enumerate(plan.blocks(random)):

        def statistics(
            i: int, workspace: Workspace, block: NDArray[np.intp] = block
        ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            present = np.flatnonzero(shared[:, times[i]])
            kernel = kernel_across_strata(test, data, times[i], tested[times[i]], present)
            # Circles are present as a whole, so whoever is present changes with someone present.
            local = np.searchsorted(present, block[present])
            return kernel.scale, kernel.permuted(local, workspace).copy()

        def report_block(share: float, number: int = number) -> None:
            report((number + share) / plan.number_of_blocks)

        total = np.zeros((data.x.shape[2], block.shape[1]))
        total_scale = np.zeros(data.x.shape[2])
        for i, (scale, found) in enumerate(in_parallel(statistics, len(times), jobs, report_block)):
            total += found
            total_scale += scale
            if number == 0:
                at_time.append(Exceedances(scale, found))
            else:
                at_time[i].add(found)
        if summed is None:
            summed = Exceedances(total_scale, total)
        else:
            summed.add(total)
    assert summed is not None  # a plan has at least the observed arrangement
    return at_time, summed
