"""Distance covariance in O(n log n) for two one-dimensional samples, with `dcor`.

Matrix products share the permuted outcome between all variables, so they win unless there are few
variables and many subjects. `dcor` takes seconds to import, so it is imported only here.

Reference: Chaudhuri & Hu (2019), "A fast algorithm for computing distance correlation",
Computational Statistics & Data Analysis 135.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.independence.workspace import Workspace

#: Measured: below this, importing and compiling `dcor` costs more than it saves.
SMALLEST_SAMPLE = 3000
#: Measured: subjects needed for each variable that would share a matrix product.
SUBJECTS_PER_VARIABLE = 400


def merge_sort_wins(variables: int, strata: tuple[slice, ...]) -> bool:
    """Whether sorting is quicker than matrix products for one-dimensional x and y."""
    largest = max(stratum.stop - stratum.start for stratum in strata)
    return largest >= max(SMALLEST_SAMPLE, SUBJECTS_PER_VARIABLE * variables)


class MergeSortKernel:
    """The statistics of p one-dimensional variables with a one-dimensional outcome."""

    def __init__(
        self,
        x: NDArray[np.float64],  # (n, p)
        y: NDArray[np.float64],  # (n,)
        strata: tuple[slice, ...],
    ) -> None:
        # The algorithm subtracts large sums; centred values keep them small.
        self._x, self._y = x.copy(), y.copy()
        for stratum in strata:
            self._x[stratum] -= self._x[stratum].mean(axis=0)
            self._y[stratum] -= self._y[stratum].mean()
        self._strata = strata

    @property
    def scale(self) -> NDArray[np.float64]:
        """m dCov^2 <= m dVar(x)^(1/2) dVar(y)^(1/2) <= 4 m sd(x) sd(y)."""
        return 4 * len(self._y) * self._x.std(axis=0) * self._y.std()

    def permuted(self, permutation: NDArray[np.intp], workspace: Workspace) -> NDArray[np.float64]:
        from dcor import distance_covariance_sqr

        out = np.zeros((self._x.shape[1], permutation.shape[1]))
        for b in range(permutation.shape[1]):
            workspace.pause()
            y = self._y[permutation[:, b]]
            for stratum in self._strata:
                for j, x in enumerate(self._x[stratum].T):
                    squared = distance_covariance_sqr(x, y[stratum], method="mergesort")
                    out[j, b] += len(x) * squared
        return out
