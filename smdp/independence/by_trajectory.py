"""Whole trajectories change hands: who may change with whom, and the test.

Under the null hypothesis a variable's trajectories x_1 .. x_n are exchangeable and independent of
everybody's outcomes, actions and times of observation. So the statistic, summed over the times, may
be compared with its values when subject i keeps its outcomes and actions (and with them its stratum
at every time) but gets the trajectory of subject s(i).

Where lengths differ, x_s(i) may be missing at a time at which i's outcome is there. Leaving those
out would compare the observed statistic with permuted ones that rest on less data. Instead,
trajectories change hands only within *circles* of subjects that were observed for about as long, and
a circle is tested only at the times at which all its members were observed: then every permutation
uses the same outcomes, and the test is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smdp.independence.in_parallel import in_parallel
from smdp.independence.kernels import Test, across_strata
from smdp.independence.permutation import (
    Exceedances,
    Kernel,
    PermutationPlan,
    Tested,
)

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
    x: NDArray[np.float64],  # (n, T, p, d)
    y: NDArray[np.float64],  # (n, T, q)
    strata: NDArray[np.int64],  # (n, T)
    shared: NDArray[np.bool_],  # (n, T)
    tested: dict[int, Tested],
    plan: PermutationPlan,
    random: np.random.Generator,
    jobs: int,
    report: Callable[[float], None],
) -> tuple[list[tuple[NDArray[np.float64], NDArray[np.float64]]], NDArray[np.float64]]:
    """Each tested time's statistics and p-values (p,), and the p-values of the sums (p,)."""
    times = list(tested)
    at_time: list[Exceedances] = []
    summed = Exceedances(np.zeros(x.shape[2]))
    for number, block in enumerate(plan.blocks(random)):

        def at(
            i: int, between: Callable[[], None], block: NDArray[np.intp] = block
        ) -> tuple[Kernel, NDArray[np.float64]]:
            t = times[i]
            here = np.flatnonzero(shared[:, t])
            place = np.full(len(shared), -1, dtype=np.intp)
            place[here] = np.arange(len(here))
            kernel = across_strata(
                test,
                x[here, t],
                y[here, t],
                strata[here, t],
                place[tested[t].subjects],
                tested[t].ends,
            )
            return kernel, kernel.permuted(place[block[here]], between)

        total = np.zeros((x.shape[2], block.shape[1]))
        done = number / plan.number_of_blocks
        for i, (kernel, statistics) in enumerate(
            in_parallel(
                at,
                len(times),
                jobs,
                lambda share, done=done: report(done + share / plan.number_of_blocks),
            )
        ):
            if number == 0:
                at_time.append(Exceedances(kernel.scale))
                summed.scale += kernel.scale
            at_time[i].add(statistics)
            total += statistics
        summed.add(total)
    each = [(found.observed, found.p_values(plan.count)) for found in at_time]
    return each, summed.p_values(plan.count)
