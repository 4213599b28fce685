"""Q-learning on the features of a trial: a linear or a neural Q-function, and its refits.

    Q(s, a) = E{U + gamma max_b Q(S', b) | S = s, A = a},  b over the actions possible in S'

See `smdp.policy.least_squares` and `smdp.policy.stochastic` for the linear one, and
`smdp.policy.neural`. The refits are on samples of the subjects, drawn with replacement.

Reference: Wang, Laber & Witkiewitz, supplement, "Q-learning".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.result import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.policy.fitted import FittedQ
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.linear import linear_q
from smdp.policy.rows import DecisionRows, decision_rows
from smdp.policy.settings import PolicySettings
from smdp.policy.support import support_of
from smdp.progress import Progress, silent

#: Samples of the subjects that are tried until one has every action.
ATTEMPTS = 1000


def learn_policy(
    trajectories: Trajectories,
    feature_map: FittedFeatureMap,
    settings: PolicySettings = PolicySettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> LearnedPolicy:
    """The greedy policy of a Q-function on the features, refitted on resampled subjects.

    The data may have more variables than the feature map; those of the map are taken by name.
    """
    check_seed(seed)
    progress = progress or silent
    progress(0.0, "Learning the policy")
    rows = decision_rows(trajectories, feature_map, settings.discount)
    samples = resamples(rows, settings.resamples, seed)
    fitted = _fit(rows, samples, settings, seed, progress)
    support = support_of(rows, settings.neighbours)
    progress(1.0, "The policy is learned")
    return LearnedPolicy(
        feature_map=feature_map,
        q=fitted.functions[0],
        resampled=fitted.functions[1:],
        action_labels=trajectories.action_labels,
        settings=settings,
        seed=seed,
        convergence=fitted.history,
        converged=fitted.converged,
        notes=(*rows.notes, *fitted.notes),
        support=support,
    )


def _fit(
    rows: DecisionRows,
    samples: NDArray[np.int64],
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> FittedQ:
    if settings.model == "linear":
        return linear_q(rows, samples, settings, seed, progress)
    from smdp.policy.neural import neural_q  # torch: seconds that a linear policy does without

    return neural_q(rows, samples, settings, seed, progress)


def resamples(rows: DecisionRows, count: int, seed: int) -> NDArray[np.int64]:
    """(count, subjects): how often each subject is drawn; every level is in each sample."""
    n = rows.subjects
    taken = np.zeros((rows.levels, n), dtype=np.int64)
    np.add.at(taken, (rows.level, rows.subject), 1)
    found = np.empty((count, n), dtype=np.int64)
    for b in range(count):
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, b)))
        for _ in range(ATTEMPTS):
            found[b] = np.bincount(random.integers(0, n, n), minlength=n)
            if (taken @ found[b] > 0).all():
                break
        else:
            raise DataError(
                "An action was taken by so few subjects that samples of the subjects lack it.",
                "Join rare actions, or set 'bootstraps' to 0 and do without errors.",
            )
    return found
