"""A trial made ready for the evaluation of policies: rows, probabilities, folds and samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, listing
from smdp.policy.cross_fit import folds_of_subjects, learned_without_each
from smdp.policy.doubly_robust import Estimate, estimate
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.fitted_q import Basis
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.piecewise_basis import piecewise_basis
from smdp.policy.propensity import Propensities, propensities
from smdp.policy.settings import PolicySettings
from smdp.policy.target import Policy, Target, policy_target
from smdp.policy.value_rows import ValueRows, value_rows
from smdp.progress import Progress

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EvaluationStudy:
    trajectories: Trajectories
    variables: tuple[str, ...]  # that values are modelled with
    rows: ValueRows
    known: Propensities
    taken: Floats  # (R,): the probability in the trial of what was done
    points: Floats  # (R, q): the features, or states, in which neighbours are sought
    basis: Basis
    fold: NDArray[np.int64]  # (N,): of each trajectory with a decision
    counts: Floats  # (B, N): how often each of them is in each sample of subjects
    discount: float
    weight_limit: float

    def estimate(self, targets: Sequence[Target]) -> Estimate:
        return estimate(
            self.rows,
            self.basis,
            targets,
            self.fold,
            self.counts,
            discount=self.discount,
            weight_limit=self.weight_limit,
        )

    def shared(self, target: Target) -> list[Target]:
        """A policy that was not learned here: the same for every fold."""
        return [target] * (int(self.fold.max()) + 1)

    def targets(self, policy: Policy, *, refit_map: bool, progress: Progress) -> list[Target]:
        """For each fold the policy learned without it; or the policy as it is, if it was given."""
        if not isinstance(policy, LearnedPolicy):
            return self.shared(policy_target(self.trajectories, self.rows, self.taken, policy))
        learned = self.learned(policy, refit_map=refit_map, progress=progress)
        return [policy_target(self.trajectories, self.rows, self.taken, each) for each in learned]

    def learned(
        self, policy: LearnedPolicy, *, refit_map: bool, progress: Progress
    ) -> list[LearnedPolicy]:
        """The policy as it would have been learned without each fold."""
        fold = np.full(self.rows.shape[0], -1, dtype=np.int64)
        fold[self.rows.place[0]] = self.fold[self.rows.unit]
        return learned_without_each(
            self.trajectories.select(policy.variables),
            policy,
            fold,
            refit_map=refit_map,
            progress=progress,
        )

    def own_ratio(self, targets: Sequence[Target]) -> Floats:
        """(R,): each row's ratio under the policy that was learned without its subject."""
        held_out = self.fold[self.rows.unit]
        return np.stack([each.ratio for each in targets])[held_out, np.arange(len(held_out))]

    def effective(self, weights: Floats) -> float:
        """The effective number of subjects: (sum W)^2 / sum W^2, W being a subject's sum."""
        sums = np.bincount(self.rows.cluster[self.rows.unit], weights)
        return float(sums.sum() ** 2 / np.square(sums).sum()) if sums.any() else 0.0


def evaluation_study(
    trajectories: Trajectories, policy: Policy, settings: EvaluationSettings, seed: int
) -> EvaluationStudy:
    _check(trajectories, policy)
    variables = _variables(trajectories, policy, settings)
    needed = tuple(dict.fromkeys((*variables, *_used(policy))))
    rows = value_rows(trajectories, needed)
    known = propensities(trajectories, rows, variables)
    of_folds, of_samples = np.random.SeedSequence(seed).spawn(2)
    fold = folds_of_subjects(
        rows, settings.folds, trajectories.action_labels, np.random.default_rng(of_folds)
    )
    points, basis = _basis(trajectories, rows, variables, policy, settings.segments)
    return EvaluationStudy(
        trajectories=trajectories,
        variables=variables,
        rows=rows,
        known=known,
        taken=known.of_taken(rows.level),
        points=points,
        basis=basis,
        fold=fold,
        counts=_samples(rows, settings.bootstraps, np.random.default_rng(of_samples)),
        discount=discount_of(policy, settings),
        weight_limit=settings.weight_limit,
    )


def _check(trajectories: Trajectories, policy: Policy) -> None:
    absent = [name for name in policy.variables if name not in trajectories.variables]
    if absent:
        raise DataError(
            f"The policy needs the variable {listing(absent)}, which these data do not have.",
            f"Their variables are: {listing(trajectories.variables, 20)}.",
        )
    if isinstance(policy, LearnedPolicy) and policy.action_labels != trajectories.action_labels:
        raise DataError(
            f"The policy was learned for the actions {listing(policy.action_labels)}, but those of "
            f"the data are {listing(trajectories.action_labels)}.",
            "Learn the policy from these data.",
        )


def discount_of(policy: Policy, settings: EvaluationSettings) -> float:
    if settings.discount is not None:
        return settings.discount
    own = policy.settings if isinstance(policy, LearnedPolicy) else PolicySettings()
    return own.discount


def _variables(
    trajectories: Trajectories, policy: Policy, settings: EvaluationSettings
) -> tuple[str, ...]:
    if settings.variables is not None:
        return settings.variables
    return _used(policy) if isinstance(policy, LearnedPolicy) else trajectories.variables


def _used(policy: Policy) -> tuple[str, ...]:
    if isinstance(policy, LearnedPolicy):
        return policy.feature_map.variables_used
    return tuple(policy.variables)


def _basis(
    trajectories: Trajectories,
    rows: ValueRows,
    variables: tuple[str, ...],
    policy: Policy,
    segments: int,
) -> tuple[Floats, Basis]:
    """Of the variables and, for a learned policy, of its features: they join the variables."""
    states = trajectories.select(variables).states
    points = rows.at(states)
    if isinstance(policy, LearnedPolicy):
        features = policy.feature_map.transform(trajectories.select(policy.variables).states)
        points = rows.at(features)
        if policy.feature_map.kind != "identity":
            states = np.concatenate([states, features], axis=2)
    here, ahead = rows.at(states), rows.after(states)
    basis = piecewise_basis(np.concatenate([here, ahead]), segments)
    now = basis(here)
    return points, Basis(now, basis(ahead), now[rows.first])


def _samples(rows: ValueRows, count: int, random: np.random.Generator) -> Floats:
    """(B, N): subjects are drawn; all trajectories of a subject come together."""
    drawn = random.integers(0, rows.clusters, (count, rows.clusters))
    times = np.zeros((count, rows.clusters))
    np.add.at(times, (np.arange(count)[:, None], drawn), 1.0)
    return times[:, rows.cluster]
