"""A check that cannot be talked away: with actions that did nothing, the gain must vanish.

At each decision time the actions (with their probabilities) are shuffled among the subjects who
had a choice. Then no action has an effect, and every policy is worth the same. The policy is
learned and evaluated as before; what it claims to gain is chance, and shows how much chance can do.
(On average slightly below 0: among people with shuffled actions, what looks better in some looks
worse in the others, on whom the policy is judged.)
The feature map is that of the true actions throughout.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.evaluation.estimators import standard_error
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import evaluation_study
from smdp.evaluation.target import AnyPolicy
from smdp.evaluation.value_tables import quantile
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.progress import Progress, silent
from smdp.result import Result
from smdp.settings import require_whole


@dataclass(frozen=True, eq=False, repr=False)
class PlaceboCheck(Result):
    """`gain`: of the policy over the observed one, a decision; `placebo`: with shuffled actions."""

    gain: float
    placebo: NDArray[np.float64]  # (repeats,)
    excludes_zero: NDArray[np.bool_]  # (repeats,): whether the interval of a placebo gain does
    coverage: float
    seed: int

    @property
    def p_value(self) -> float:
        """The share of gains (this one and the shuffled) that are at least as large."""
        return float((1 + (self.placebo >= self.gain).sum()) / (1 + len(self.placebo)))

    @property
    def mean(self) -> float:
        return float(self.placebo.mean())


def placebo_check(
    trajectories: Trajectories,
    policy: AnyPolicy,
    settings: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    *,
    repeats: int = 20,
    seed: int = 0,
    progress: Progress | None = None,
) -> PlaceboCheck:
    """The claimed gain beside those with shuffled actions, all by the same estimator."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    require_whole("repeats", repeats, 1)
    progress = progress or silent
    settings = replace(settings, refit_map=False)
    with threadpool_limits(1, user_api="blas"):
        progress(0.0, "The gain with the true actions")
        gain, _ = _gain(trajectories, policy, settings, seed)

        def shuffled(r: int) -> Progress:
            text = f"Shuffled actions {r + 1} of {repeats}"
            return lambda share, what: progress((r + 1) / (repeats + 1), text)

        shared = (trajectories, policy, settings, seed)
        found = list(each(_shuffled_gain, range(repeats), *shared, progress=shuffled))
    progress(1.0, "The placebo check is done")
    placebo, excludes = np.array([g for g, _ in found]), np.array([e for _, e in found])
    return PlaceboCheck(gain, placebo, excludes, settings.coverage, seed)


def shuffled_actions(trajectories: Trajectories, random: np.random.Generator) -> Trajectories:
    """Within each time, among those who had a choice; probabilities go with their action."""
    actions, probabilities = trajectories.actions.copy(), trajectories.probabilities.copy()
    choice = trajectories.valid & trajectories.available
    for t in range(actions.shape[1]):
        who = np.flatnonzero(choice[:, t])
        other = random.permutation(who)
        actions[who, t] = trajectories.actions[other, t]
        probabilities[who, t] = trajectories.probabilities[other, t]
    return replace(trajectories, actions=actions, probabilities=probabilities)


def _shuffled_gain(
    r: int,
    trajectories: Trajectories,
    policy: AnyPolicy,
    settings: EvaluationSettings,
    seed: int,
    progress: Progress = silent,
) -> tuple[float, bool]:
    """The gain with the r-th shuffled actions."""
    progress(0.0, "")
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(11, r)))
    return _gain(shuffled_actions(trajectories, random), policy, settings, seed)


def _gain(
    trajectories: Trajectories, policy: AnyPolicy, settings: EvaluationSettings, seed: int
) -> tuple[float, bool]:
    """Of the policy over the observed one, and whether its interval excludes 0."""
    study = evaluation_study(trajectories, policy, settings, seed)
    own = study.estimate(study.targets(policy, refitted=None, progress=silent))
    observed = study.estimate(study.observed())
    gain = own.value - observed.value
    error = standard_error(
        own.influence - observed.influence, own.fitted_q_draws - observed.fitted_q_draws
    )
    factor = quantile(study.effective(own.weights), settings.coverage)
    return gain, bool(abs(gain) > factor * error)
