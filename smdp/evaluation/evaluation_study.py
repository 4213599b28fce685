"""A trial made ready for judging policies: its decisions, folds, samples and basis functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.cross_fit import (
    MapsWithoutFolds,
    folds_of_subjects,
    learned_without_each,
    seeds_of,
)
from smdp.evaluation.estimators import Basis, Estimate, estimate, piecewise_basis
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.target import AnyPolicy, Target, always_target, observed_target, policy_target
from smdp.evaluation.value_rows import ValueRows, value_rows
from smdp.evaluation.what_treatment_moves import moved_by_treatment
from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress
from smdp.propensity import Propensities, propensities
from smdp.text import listing

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EvaluationStudy:
    trajectories: Trajectories
    variables: tuple[str, ...]  # that values are modelled with
    rows: ValueRows
    known: Propensities
    taken: Floats  # (R,): the probability in the trial of what was done
    points: Floats  # (R, q): the features, or states, in which neighbours are sought
    basis: Basis | Callable[[int], Basis]  # for all folds, or each fold's own
    fold: NDArray[np.int64]  # (N,): of each trajectory with a decision
    counts: Floats  # (B, N): how often each of them is in each sample of subjects
    discount: float
    weight_limit: float
    moved: tuple[tuple[str, ...], ...]  # for each fold, the columns that join the policy's

    @property
    def notes(self) -> tuple[str, ...]:
        """On its decisions, probabilities and models."""
        found = (*self.rows.notes, *self.known.notes)
        names = dict.fromkeys(name for each in self.moved for name in each)
        if not names:
            return found
        folds = "each fold" if len(set(self.moved)) == 1 else "some folds"
        return (
            *found,
            "Values were modelled also with what treatment moves, since a policy changes it: "
            f"{listing(names, 12)} (in {folds}).",
        )

    @property
    def folds(self) -> int:
        return int(self.fold.max()) + 1

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
        return [target] * self.folds

    def observed(self) -> list[Target]:
        """What was done."""
        return self.shared(observed_target(self.rows))

    def always(self, action: int) -> list[Target]:
        """One action wherever it may be chosen."""
        return self.shared(always_target(self.rows, self.taken, action))

    def given(self, policies: Sequence[AnyPolicy]) -> list[Target]:
        """One policy for each fold, learned without it; or a single one, for all folds."""
        found = [policy_target(self.trajectories, self.rows, self.taken, p) for p in policies]
        if len(found) not in (1, self.folds):
            raise DataError(
                f"There are {len(found)} policies for {self.folds} folds of people.",
                "Give one policy for each fold, learned without it, or one for all.",
            )
        return found * self.folds if len(found) == 1 else found

    def targets(
        self, policy: AnyPolicy, *, refitted: MapsWithoutFolds | None, progress: Progress
    ) -> list[Target]:
        """For each fold the policy learned without it; or the policy as it is, if it was given."""
        if not isinstance(policy, LearnedPolicy):
            return self.given([policy])
        return self.given(self.learned(policy, refitted=refitted, progress=progress))

    def learned(
        self, policy: LearnedPolicy, *, refitted: MapsWithoutFolds | None, progress: Progress
    ) -> list[LearnedPolicy]:
        """The policy as it would have been learned without each fold."""
        fold = np.full(self.rows.shape[0], -1, dtype=np.int64)
        fold[self.rows.row] = self.fold[self.rows.unit]
        return learned_without_each(
            self.trajectories.select(policy.variables),
            policy,
            fold,
            refitted=refitted,
            progress=progress,
        )

    def own_ratio(self, targets: Sequence[Target]) -> Floats:
        """(R,): each row's ratio under the policy that was learned without its subject."""
        held_out = self.fold[self.rows.unit]
        return np.stack([each.ratio for each in targets])[held_out, np.arange(len(held_out))]

    def effective(self, weights: Floats) -> float:
        """The effective number of subjects: (sum W)^2 / sum W^2, W being a subject's sum."""
        sums = np.bincount(self.rows.subject, weights)
        return float(sums.sum() ** 2 / np.square(sums).sum()) if sums.any() else 0.0


def evaluation_study(
    trajectories: Trajectories, policy: AnyPolicy, settings: EvaluationSettings, seed: int
) -> EvaluationStudy:
    _check(trajectories, policy)
    variables = _variables(trajectories, policy, settings)
    needed = tuple(dict.fromkeys((*variables, *_used(policy))))
    rows = value_rows(trajectories, needed)
    known = propensities(trajectories, rows, variables)
    of_folds, of_samples = seeds_of(seed)
    fold = folds_of_subjects(
        rows, settings.folds, trajectories.action_labels, np.random.default_rng(of_folds)
    )
    everybody = np.ones(len(rows.row), dtype=bool)
    moved = _moved(trajectories, rows, known, variables, settings, everybody)
    points, basis = _basis(trajectories, rows, variables, moved, policy, settings.segments)
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
        moved=(moved,) * (int(fold.max()) + 1),
    )


def study_in_folds(
    trajectories: Trajectories,
    analyses: FoldAnalyses,
    settings: EvaluationSettings,
    *,
    discount: float,
    also: Sequence[str] = (),
    points_of: FittedFeatureMap | None = None,
) -> EvaluationStudy:
    """For policies that were learned in the folds of whole analyses, whoever learned them there.

    In each fold, values and weights are modelled with the variables and the features of that fold's
    own map: nothing about them was chosen with its people. (Where `settings.variables` says which,
    they take the place of the maps'.) `also`: further variables that the
    policies to be judged look at, if not those of the maps. `points_of`: the map in whose features
    neighbours are sought; else in the variables themselves.
    """
    analyses.require_made_from(trajectories)
    asked = settings.variables
    variables = analyses.variables_used if asked is None else asked
    known_in_rows = tuple(dict.fromkeys((*variables, *analyses.variables_used, *also)))
    rows = value_rows(trajectories, known_in_rows)
    known = propensities(trajectories, rows, variables)
    used = trajectories.select(variables)
    states = used.states
    if points_of is not None:
        states = points_of.transform(trajectories.select(points_of.variables).states)
    maps = [each.feature_map for each in analyses.analyses]
    fold = analyses.fold[rows.row[rows.first]]
    moved = tuple(
        _moved(
            trajectories,
            rows,
            known,
            each.variables_used if asked is None else asked,
            settings,
            fold[rows.unit] != k,
        )
        for k, each in enumerate(maps)
    )
    return EvaluationStudy(
        trajectories=trajectories,
        variables=variables,
        rows=rows,
        known=known,
        taken=known.of_taken(rows.level),
        points=rows.at(states),
        basis=lambda k: _of_states(
            rows, _states_with_features(trajectories, maps[k], asked, moved[k]), settings.segments
        ),
        fold=fold,
        counts=_samples(
            rows, settings.bootstraps, np.random.default_rng(seeds_of(analyses.seed)[1])
        ),
        discount=discount,
        weight_limit=settings.weight_limit,
        moved=moved,
    )


def basis_with(
    study: EvaluationStudy, k: int, fitted: FittedFeatureMap, more: Trajectories, segments: int
) -> Basis:
    """In the k-th fold: of what a map uses, its features, what treatment moves, and further
    variables, which `more` holds."""
    used = study.trajectories.select(fitted.variables_used)
    states = [used.states]
    if fitted.kind != "identity":
        own = study.trajectories.select(fitted.variables)
        states.append(fitted.transform(own.states))
    new = [name for name in more.variables if name not in used.variables]
    states.append(more.select(new).states)
    moved = [name for name in study.moved[k] if name not in (*used.variables, *new)]
    states.append(study.trajectories.select(moved).states)
    return _of_states(study.rows, np.concatenate(states, axis=2), segments)


def _check(trajectories: Trajectories, policy: AnyPolicy) -> None:
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


def discount_of(policy: AnyPolicy, settings: EvaluationSettings) -> float:
    if settings.discount is not None:
        return settings.discount
    own = policy.settings if isinstance(policy, LearnedPolicy) else PolicySettings()
    return own.discount


def _variables(
    trajectories: Trajectories, policy: AnyPolicy, settings: EvaluationSettings
) -> tuple[str, ...]:
    if settings.variables is not None:
        return settings.variables
    return _used(policy) if isinstance(policy, LearnedPolicy) else trajectories.variables


def _used(policy: AnyPolicy) -> tuple[str, ...]:
    if isinstance(policy, LearnedPolicy):
        return policy.feature_map.variables_used
    return tuple(policy.variables)


def _moved(
    trajectories: Trajectories,
    rows: ValueRows,
    known: Propensities,
    variables: tuple[str, ...],
    settings: EvaluationSettings,
    training: NDArray[np.bool_],
) -> tuple[str, ...]:
    if not settings.moved or settings.variables is not None:
        return ()
    return moved_by_treatment(trajectories, rows, known.given, training, variables)


def _basis(
    trajectories: Trajectories,
    rows: ValueRows,
    variables: tuple[str, ...],
    moved: tuple[str, ...],
    policy: AnyPolicy,
    segments: int,
) -> tuple[Floats, Basis]:
    """Of the variables and, for a learned policy, of its features: they join the variables."""
    points = rows.at(trajectories.select(variables).states)
    states = trajectories.select((*variables, *moved)).states
    if isinstance(policy, LearnedPolicy):
        features = policy.feature_map.transform(trajectories.select(policy.variables).states)
        points = rows.at(features)
        if policy.feature_map.kind != "identity":
            states = np.concatenate([states, features], axis=2)
    return points, _of_states(rows, states, segments)


def _states_with_features(
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    variables: tuple[str, ...] | None,
    moved: tuple[str, ...],
) -> Floats:
    """(n, T + 1, ..): the variables that a map uses and, where these are others, its features;
    and what treatment moves."""
    names = fitted.variables_used if variables is None else variables
    states = trajectories.select((*names, *moved)).states
    if fitted.kind == "identity":
        return states
    features = fitted.transform(trajectories.select(fitted.variables).states)
    return np.concatenate([states, features], axis=2)


def _of_states(rows: ValueRows, states: Floats, segments: int) -> Basis:
    here, ahead = rows.at(states), rows.after(states)
    basis = piecewise_basis(np.concatenate([here, ahead]), segments)
    now = basis(here)
    return Basis(now, basis(ahead), now[rows.first])


def _samples(rows: ValueRows, count: int, random: np.random.Generator) -> Floats:
    """(B, N): subjects are drawn; all trajectories of a subject come together."""
    drawn = random.integers(0, rows.subjects, (count, rows.subjects))
    times = np.zeros((count, rows.subjects))
    np.add.at(times, (np.arange(count)[:, None], drawn), 1.0)
    return times[:, rows.cluster]
