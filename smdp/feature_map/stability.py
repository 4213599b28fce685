"""How stable a feature map is: fits to bootstrap samples of subjects.

Subjects are drawn with replacement, with their whole trajectories; the copies of a subject stay in
one fold and count as one subject in the tests. Features of a refit are matched with those of the
map itself by the correlation of their values on the study's own states (the assignment that
maximises the sum of absolute correlations), and turned to correlate positively. Intervals are
percentile intervals over the refits in which a feature has a counterpart.

Reference: Efron & Tibshirani (1993), "An introduction to the bootstrap".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.kinds import map_kind
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.progress import Cancelled, Progress, silent
from smdp.result import Result
from smdp.settings import Settings, require, require_whole


@dataclass(frozen=True, eq=False, repr=False)
class FeatureMapStability(Result):
    """What would change with other subjects."""

    fitted: FittedFeatureMap  # on the study itself
    selection: pd.Series  # by variable: the share of refits that use it
    dimensions: pd.Series  # by dimension: the share of refits that chose it
    weights: pd.DataFrame  # feature, variable, estimate, lower, upper, refits, same_sign
    bootstraps: int  # that were fitted
    failed: tuple[str, ...]  # why the others could not
    coverage: float
    seed: int
    complete: bool = True  # False: stopped before the last of the bootstrap samples


class StabilityCancelled(Cancelled):
    """The work was stopped; `finished` is what the refits so far say, if there are two or more."""

    finished: FeatureMapStability | None

    def __init__(self, finished: FeatureMapStability | None) -> None:
        super().__init__("The check of stability was stopped.")
        self.finished = finished


def feature_map_stability(
    trajectories: Trajectories,
    settings: Settings = FeatureMapSettings(),  # noqa: B008 - frozen
    *,
    bootstraps: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
    fitted: FittedFeatureMap | None = None,
    coverage: float = 0.9,
) -> FeatureMapStability:
    """Refit on bootstrap samples of subjects. `fitted` spares the fit to the study itself.

    The map is of the kind of `fitted`, by alternating networks where it is not given.
    Stopped by `progress` during the refits, it raises `StabilityCancelled`.
    """
    check_seed(seed)
    progress = progress or silent
    require_whole("bootstraps", bootstraps, 2)
    require(0 < coverage < 1, "coverage", "a share above 0 and below 1", coverage)
    total = bootstraps + 1
    kind = "adnn" if fitted is None else fitted.kind
    if fitted is None:
        fitted = map_kind(kind).fit(
            trajectories, settings, seed=seed, progress=_part(progress, 0, total, "The study")
        )
    fitted.require_variables(trajectories.variables)
    refits: list[FittedFeatureMap] = []
    failed: list[str] = []

    def refit_progress(b: int) -> Progress:
        return _part(progress, b + 1, total, f"Refit {b + 1} of {bootstraps}")

    samples = each(
        _refit, range(bootstraps), trajectories, kind, settings, seed, progress=refit_progress
    )
    try:
        for found in samples:
            if isinstance(found, DataError):
                failed.append(str(found))
            else:
                refits.append(found)
    except Cancelled as stop:
        if len(refits) < 2:
            raise StabilityCancelled(None) from stop
        so_far = _summary(trajectories, fitted, refits, failed, coverage, seed)
        raise StabilityCancelled(replace(so_far, complete=False)) from stop
    if not refits:
        raise DataError(f"No bootstrap sample could be fitted. {failed[0]}")
    return _summary(trajectories, fitted, refits, failed, coverage, seed)


def _refit(
    b: int,
    trajectories: Trajectories,
    kind: str,
    settings: Settings,
    seed: int,
    progress: Progress = silent,
) -> FittedFeatureMap | DataError:
    """The map of the b-th bootstrap sample, or why there is none."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3, b)))
    try:
        sample = resampled(trajectories, random)
        return map_kind(kind).fit(sample, settings, seed=seed, progress=progress)
    except DataError as error:
        return error


def _summary(
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    refits: list[FittedFeatureMap],
    failed: list[str],
    coverage: float,
    seed: int,
) -> FeatureMapStability:
    used = [[name in refit.variables_used for name in refit.variables] for refit in refits]
    chosen = pd.Series([refit.dimension for refit in refits]).value_counts(normalize=True)
    return FeatureMapStability(
        fitted=fitted,
        selection=pd.Series(
            np.mean(used, axis=0), index=list(trajectories.variables), name="selected"
        ),
        dimensions=chosen.sort_index().rename("share").rename_axis("dimension"),
        weights=_intervals(fitted, refits, trajectories, coverage),
        bootstraps=len(refits),
        failed=tuple(failed),
        coverage=coverage,
        seed=seed,
    )


def resampled(trajectories: Trajectories, random: np.random.Generator) -> Trajectories:
    """As many trajectories, drawn with replacement. Copies keep their subject's name."""
    n = len(trajectories.subjects)
    return trajectories.take(random.integers(0, n, n))


def aligned(
    reference: NDArray[np.float64],  # (R, q): features of the map itself
    features: NDArray[np.float64],  # (R, r): of another map, on the same states
) -> list[tuple[int, int, float]]:
    """(feature of the map, its counterpart, sign to give it), for as many as there are in both."""
    q = reference.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        together = np.corrcoef(np.hstack([reference, features]).T).reshape(
            q + features.shape[1], -1
        )
    correlation = np.nan_to_num(together[:q, q:])
    pairs = zip(*linear_sum_assignment(-np.abs(correlation)), strict=True)
    return [(int(k), int(j), -1.0 if correlation[k, j] < 0 else 1.0) for k, j in pairs]


def _intervals(
    fitted: FittedFeatureMap,
    refits: list[FittedFeatureMap],
    trajectories: Trajectories,
    coverage: float,
) -> pd.DataFrame:
    states = trajectories.states[:, :-1][trajectories.valid]
    own = fitted.transform(states)
    collected: dict[int, list[NDArray[np.float64]]] = {}
    for refit in refits:
        for k, j, sign in aligned(own, refit.transform(states)):
            collected.setdefault(k, []).append(sign * refit.weights.to_numpy()[j])
    rows = []
    for k, found in sorted(collected.items()):
        values = np.array(found)
        tail = (1 - coverage) / 2
        lower, upper = np.quantile(values, [tail, 1 - tail], axis=0)
        for j, variable in enumerate(fitted.variables):
            estimate = float(fitted.weights.iloc[k, j])
            same = float(np.mean(np.sign(values[:, j]) == np.sign(estimate)))
            rows.append(
                (fitted.features[k], variable, estimate, lower[j], upper[j], len(values), same)
            )
    columns = ["feature", "variable", "estimate", "lower", "upper", "refits", "same_sign"]
    return pd.DataFrame(rows, columns=columns)


def _part(progress: Progress, k: int, total: int, name: str) -> Callable[[float, str], None]:
    return lambda share, what: progress((k + share) / total, f"{name}: {what}")
