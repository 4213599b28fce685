"""Folds of subjects, and a policy learned anew without each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.value_rows import ValueRows
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.kinds import map_kind
from smdp.parallel import each
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress, between, silent

#: How many ways to divide the subjects are tried before an action is called too rare.
ATTEMPTS = 200


def folds_of_subjects(
    rows: ValueRows, folds: int, labels: Sequence[str], random: np.random.Generator
) -> NDArray[np.int64]:
    """(N,): such that each action is taken by two subjects or more outside each fold."""
    count = rows.subjects
    if count < folds:
        raise DataError(
            f"There are {count} subjects with a usable decision, fewer than the {folds} folds.",
            "Use fewer folds (the setting 'folds'), or add subjects.",
        )
    if _all_alike(rows):
        raise DataError(
            f"All {count} people have the same treatments and outcomes at the same times: they are "
            "copies of one person, and say nothing about others.",
            "Check the column of the person, and remove the copies.",
        )
    taken = np.zeros((count, rows.actions + 1), dtype=bool)
    taken[rows.subject, rows.level] = True
    for _ in range(ATTEMPTS):
        fold = random.permutation(np.arange(count) % folds)
        if all((taken[fold != k, :-1].sum(axis=0) >= 2).all() for k in range(folds)):
            return np.asarray(fold[rows.cluster])
    rarest = int(np.argmin(taken[:, :-1].sum(axis=0)))
    raise DataError(
        f"The action '{labels[rarest]}' was taken by {taken[:, rarest].sum()} of {count} subjects: "
        "too few to learn from some and to judge with others.",
        "Join rare actions, or add subjects.",
    )


def _all_alike(rows: ValueRows) -> bool:
    """Whether everybody's decisions are those of the first."""
    counts = np.bincount(rows.subject)
    if len(counts) < 2 or (counts != counts[0]).any():
        return False
    order = np.lexsort((rows.time, rows.subject))
    every = np.stack([rows.time, rows.level, rows.utility])[:, order].reshape(3, len(counts), -1)
    return bool((every == every[:, :1]).all())


def seeds_of(seed: int) -> tuple[np.random.SeedSequence, np.random.SeedSequence]:
    """Of the folds, and of the samples of subjects."""
    of_folds, of_samples = np.random.SeedSequence(seed).spawn(2)
    return of_folds, of_samples


class MapsWithoutFolds:
    """Maps fitted anew to some trajectories without each fold; policies of one map share them."""

    def __init__(self) -> None:
        self._known: list[tuple[FittedFeatureMap, NDArray[np.int64], list[FittedFeatureMap]]] = []

    def of(
        self,
        trajectories: Trajectories,
        fitted: FittedFeatureMap,
        fold: NDArray[np.int64],
        progress: Progress,
    ) -> list[FittedFeatureMap]:
        for known, its_fold, found in self._known:
            if np.array_equal(its_fold, fold) and known == fitted:
                return found
        kind = map_kind(fitted.kind)
        found = kind.without_each(trajectories, fitted, fold, progress=progress)
        self._known.append((fitted, fold, found))
        return found


def learned_without_each(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    fold: NDArray[np.int64],  # (n,): of each trajectory; -1 for those that are never judged
    *,
    refitted: MapsWithoutFolds | None,  # None: the map stays as it is
    progress: Progress,
) -> list[LearnedPolicy]:
    """The policy as it would have been learned without each fold."""
    count = int(fold.max()) + 1
    maps = [policy.feature_map] * count
    share = 0.0
    if refitted is not None:
        share = 0.8
        fitting = between(progress, 0.0, share)
        maps = refitted.of(trajectories, policy.feature_map, fold, fitting)
    settings = policy.settings.to_be_judged

    def learning(k: int) -> Progress:
        text = f"Learning the policy without fold {k + 1}"
        return lambda done, what: progress(share + (1 - share) * k / count, text)

    pieces = ((trajectories.take(fold != k), maps[k]) for k in range(count))
    return list(each(_learned, pieces, settings, policy.seed, progress=learning))


def _learned(
    piece: tuple[Trajectories, FittedFeatureMap],
    settings: PolicySettings,
    seed: int,
    progress: Progress = silent,
) -> LearnedPolicy:
    progress(0.0, "")
    return learn_policy(*piece, settings, seed=seed)
