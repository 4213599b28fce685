"""Arrays and settings as the tests need them, or an error that says what to change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.errors import DataError, SettingError
from smdp.independence.permutation import (
    SMALLEST_STRATUM,
    Kernel,
    PermutationPlan,
    Tested,
    large_strata,
    permutation_test,
)
from smdp.independence.single_test import TestResult
from smdp.independence.workspace import Workspace
from smdp.settings import require_whole
from smdp.text import shorten


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
    codes = pd.factorize(labels)[0]
    if (codes < 0).any():
        raise DataError(
            f"'strata' is missing for {np.sum(codes < 0)} subjects.",
            "Leave those subjects out, or give them a label of their own.",
        )
    return codes.astype(np.int64)


def as_columns(values: object, name: str) -> NDArray[np.float64]:
    """(n, d) floats from (n,) or (n, d); finite, or an error that says where not."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"'{name}' is not a table of numbers: {shorten(error)}.",
            "Give one row of numbers for each subject.",
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"'{name}' has shape {array.shape}.",
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
class SingleTest:
    """x and y of the subjects in large enough strata, ordered by stratum, for a single test."""

    x: NDArray[np.float64]  # (n, d)
    y: NDArray[np.float64]  # (n, q)
    strata: NDArray[np.int64]  # (n,)
    tested: Tested
    plan: PermutationPlan
    seed: int

    def run(self, kernel: Kernel) -> TestResult:
        """The permutation test with this statistic."""
        random = np.random.default_rng(self.seed)
        statistic, p_value = permutation_test(kernel, self.plan, random, Workspace())
        return TestResult(
            statistic=float(statistic[0]),
            p_value=float(p_value[0]),
            permutations=self.plan.count,
            exact=self.plan.exact,
            subjects_tested=len(self.x),
            strata_tested=len(self.plan.groups),
            strata_left_out=self.tested.strata_left_out,
        )


def single_test(x: object, y: object, strata: object, permutations: int, seed: int) -> SingleTest:
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
    tested = large_strata(codes)
    rows = tested.subjects
    if len(rows) == 0:
        raise DataError(
            f"No stratum has {SMALLEST_STRATUM} subjects or more ({len(x_rows)} subjects, "
            f"{tested.strata_left_out} strata), so nothing can be tested.",
            "Use fewer strata or more subjects.",
        )
    plan = tested.plan(permutations)
    return SingleTest(x_rows[rows], y_rows[rows], codes[rows], tested, plan, seed)


def check_seed(seed: int) -> None:
    """Refuse a seed that numpy would not take."""
    require_whole("seed", int(seed) if isinstance(seed, np.integer) else seed, 0)
