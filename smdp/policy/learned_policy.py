"""A learned policy: how it is learned, what it recommends, by which margin, and where it does not.

    Q(s, a) = E{U + gamma max_b Q(S', b) | S = s, A = a},  b over the actions possible in S'

by Q-learning on the features of a trial: `smdp.policy.q_linear` or `smdp.policy.q_neural`. The
refits are on samples of the subjects, drawn with replacement.

Reference: Wang, Laber & Witkiewitz, supplement, "Q-learning".
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.policy.decision_rows import DecisionRows, decision_rows
from smdp.policy.decision_rule import (
    NO_ACTION,
    Advice,
    allowed_actions,
    best_actions,
    cautious_values,
    decide,
)
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import FittedQ, QFunction
from smdp.policy.q_linear import linear_q
from smdp.policy.support import Support, support_of
from smdp.progress import Progress, silent
from smdp.result import Result
from smdp.settings import require

States: TypeAlias = ArrayLike | pd.DataFrame
UNAVAILABLE = NO_ACTION

#: Of the intervals of parameters.
COVERAGE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class LearnedPolicy(Result):
    """The greedy policy of a Q-function on a feature map. Plain data; computed with numpy alone.

    `convergence` has a row for each iteration: `change`, the root mean square change of the
    Q-values at the trial's next states, in the utility's units, and `switched`, the share of those
    states in which another action became the best.
    """

    feature_map: FittedFeatureMap
    q: QFunction
    resampled: tuple[QFunction, ...]  # refitted on resampled subjects; the errors come from these
    action_labels: tuple[str, ...]  # K
    settings: PolicySettings
    seed: int
    convergence: pd.DataFrame  # iteration, change, switched
    converged: bool
    notes: tuple[str, ...] = ()
    support: Support | None = None  # where the actions were tried; None: not known, not checked

    @property
    def kind(self) -> Literal["linear", "pessimistic", "neural"]:
        return self.settings.model

    @property
    def is_linear(self) -> bool:
        """Whether the Q-function has a parameter for each feature."""
        return self.kind != "neural"

    @property
    def reference(self) -> int | None:
        """The action that a pessimistic policy falls back on in doubt; None of any other policy."""
        if self.kind != "pessimistic":
            return None
        return reference_action(self.settings, self.action_labels)

    @property
    def variables(self) -> tuple[str, ...]:
        """The state variables, in the order in which arrays of states have them."""
        return self.feature_map.variables

    def q_values(self, states: States) -> NDArray[np.float64]:
        """(..., K)."""
        return self.q(self.feature_map.transform(states))

    def recommend(
        self, states: States, available: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """(...,): the action with the largest Q-value, -1 where none may be chosen.

        Also -1 where a variable that the features need is missing. `available`: (...,) whether
        there is a choice, or (..., K) which actions may be chosen. See `decide` for the rule that
        abstains where the trial does not say enough.
        """
        features = self.feature_map.transform(states)
        values = self.q(features)
        allowed = allowed_actions(available, values.shape)
        if self.reference is not None:
            refitted = self._refitted(features, values.shape)
            values = cautious_values(values, refitted, self.reference, self.settings.pessimism)
        return best_actions(values, allowed)

    def margin(self, states: States) -> NDArray[np.float64]:
        """(...,): best minus second best Q-value."""
        ordered = np.sort(self.q_values(states), axis=-1)
        return np.asarray(ordered[..., -1] - ordered[..., -2])

    def decide(self, states: States, available: NDArray[np.bool_] | None = None) -> Advice:
        """Recommendations with their margins and errors, and where there is none, the reason."""
        features = self.feature_map.transform(states)
        values = self.q(features)
        refitted = self._refitted(features, values.shape)
        preferred = None
        if self.reference is not None:
            preferred = cautious_values(values, refitted, self.reference, self.settings.pessimism)
        if self.support is None:
            shares, distance = np.full(values.shape, np.nan), np.full(values.shape[:-1], np.nan)
        else:
            shares, distance = self.support((features - self.q.centre) / self.q.scale)
        return decide(
            values,
            refitted,
            allowed_actions(available, values.shape),
            shares,
            distance,
            level=self.settings.abstain_level,
            least_share=self.settings.least_share,
            preferred=preferred,
        )

    def _refitted(
        self, features: NDArray[np.float64], shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """(B, .., K): the Q-values of the refits."""
        found = np.empty((len(self.resampled), *shape))
        for b, q in enumerate(self.resampled):
            found[b] = q(features)
        return found

    @property
    def parameters(self) -> pd.DataFrame:
        """action x (intercept, features) of a linear Q-function, in units of standardised features.

        A weight is what Q gains with one standard deviation of the feature (over the trial's
        decisions); the intercept is Q at the mean features.
        """
        return pd.DataFrame(
            self.parameter_draws[0],
            index=pd.Index(self.action_labels, name="action"),
            columns=["intercept", *self.feature_map.features],
        )

    @property
    def parameter_draws(self) -> NDArray[np.float64]:
        """(1 + B, K, 1 + q): the parameters, then those of the refits."""
        if not self.is_linear:
            raise SettingError(
                "A neural Q-function has no parameters for each feature.",
                "Learn a policy with the setting 'model' at 'linear', or look at its Q-values.",
            )
        every = [q.layers[0] for q in (self.q, *self.resampled)]
        return np.stack([np.column_stack([each.bias, each.weights]) for each in every])

    @property
    def parameter_intervals(self) -> pd.DataFrame:
        """action, parameter, estimate, lower, upper: 95 % by the bootstrap's standard error.

        NaN without refits.
        """
        draws = self.parameter_draws
        estimate = self.parameters
        error = np.full(estimate.shape, np.nan)
        if len(draws) > 2:
            error = draws[1:].std(axis=0, ddof=1)
        width = NormalDist().inv_cdf(0.5 + COVERAGE / 2) * error
        return pd.DataFrame(
            {
                "action": np.repeat(self.action_labels, estimate.shape[1]),
                "parameter": np.tile(list(estimate.columns), len(estimate)),
                "estimate": estimate.to_numpy().ravel(),
                "lower": (estimate.to_numpy() - width).ravel(),
                "upper": (estimate.to_numpy() + width).ravel(),
            }
        )


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
    if settings.model == "pessimistic":
        reference_action(settings, trajectories.action_labels)  # refused before the work
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


def reference_action(settings: PolicySettings, labels: tuple[str, ...]) -> int:
    """The action in doubt: the one that is named, or the first."""
    if not settings.reference:
        return 0
    known = f"'' or one of {', '.join(map(repr, labels))}"
    require(settings.reference in labels, "reference", known, settings.reference)
    return labels.index(settings.reference)


def _fit(
    rows: DecisionRows,
    samples: NDArray[np.int64],
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> FittedQ:
    if settings.model != "neural":
        return linear_q(rows, samples, settings, seed, progress)
    from smdp.policy.q_neural import neural_q  # torch: seconds that a linear policy does without

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
