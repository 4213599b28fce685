"""Arrays and settings as the tests need them, or an error that says what to change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.errors import DataError, SettingError
from smdp.independence.permutation import SMALLEST_STRATUM, PermutationPlan, large_strata
from smdp.independence.result import TestResult


def check_permutations(permutations: int) -> None:
    """Refuse a number of permutations that is no positive whole number."""
    if not isinstance(permutations, int | np.integer) or permutations < 1:
        raise SettingError(
            "The setting 'permutations' must be a whole number of at least 1. "
            f"Got {permutations!r} instead.",
            "999 is usual.",
        )


def as_strata(strata: object, subjects: int) -> NDArray[np.int64]:
    """Labels of any kind as codes 0, 1, ..; one stratum if there are none."""
    if strata is None:
        return np.zeros(subjects, dtype=np.int64)
    labels = np.asarray(strata)
    if labels.shape != (subjects,):
        raise DataError(
            f"'strata' has shape {labels.shape}, but there are {subjects} subjects.",
            "Give one label for each row of x and y.",
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def as_columns(values: object, name: str) -> NDArray[np.float64]:
    """(n, d) floats from (n,) or (n, d); finite, or an error that says where not."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"'{name}' has shape {np.shape(values)}.",
            "Give one row for each subject and at least one column.",
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise DataError(
            f"'{name}' has {len(bad)} missing or infinite values, the first in row {bad[0][0]}.",
            "Impute them or leave those subjects out.",
        )
    return array


@dataclass(frozen=True)
class TestedArrays:
    """x and y of the subjects in large enough strata, ordered by stratum."""

    x: NDArray[np.float64]  # (n, d)
    y: NDArray[np.float64]  # (n, q)
    strata: NDArray[np.int64]  # (n,)
    ends: NDArray[np.intp]  # (n,): where each subject's stratum ends
    strata_left_out: int

    def result(
        self, statistic: NDArray[np.float64], p_value: NDArray[np.float64], plan: PermutationPlan
    ) -> TestResult:
        return TestResult(
            statistic=float(statistic[0]),
            p_value=float(p_value[0]),
            permutations=plan.count,
            exact=plan.exact,
            subjects_tested=len(self.x),
            strata_tested=len(plan.groups),
            strata_left_out=self.strata_left_out,
        )


def tested_arrays(
    x: object, y: object, strata: object, permutations: int, seed: int
) -> TestedArrays:
    """What a single test works on, checked."""
    check_permutations(permutations)
    check_seed(seed)
    x_rows, y_rows = as_columns(x, "x"), as_columns(y, "y")
    if len(x_rows) != len(y_rows):
        raise DataError(
            f"'x' has {len(x_rows)} rows and 'y' has {len(y_rows)}.",
            "Give both for the same subjects, in the same order.",
        )
    codes = as_strata(strata, len(x_rows))
    rows, ends, left_out = large_strata(codes)
    if len(rows) == 0:
        raise DataError(
            f"No stratum has {SMALLEST_STRATUM} subjects or more ({len(x_rows)} subjects, "
            f"{left_out} strata), so nothing can be tested.",
            "Use fewer strata or more subjects.",
        )
    return TestedArrays(x_rows[rows], y_rows[rows], codes[rows], ends, left_out)


def check_seed(seed: int) -> None:
    """Refuse a seed that numpy would not take."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingError(
            f"The setting 'seed' must be a whole number of at least 0. Got {seed!r} instead."
        )
