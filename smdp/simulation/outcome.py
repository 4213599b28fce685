"""What a policy earns in the simulated model: the mean utility a step on fresh trajectories."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from smdp.errors import DataError
from smdp.independence.inputs import check_seed
from smdp.settings import require_whole
from smdp.simulation.generative_model import GenerativeModel, Model
from smdp.text import listing


class TreatmentRule(Protocol):
    """What can be simulated: a rule from states with these variables, in this order, to actions."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    def recommend(self, states: NDArray[np.float64], /) -> ArrayLike: ...


def simulated_outcome(
    policy: TreatmentRule,
    model: Model,
    *,
    noise: int = 0,
    subjects: int = 1000,
    times: int = 90,
    seed: int = 0,
    actions: int = 2,
) -> float:
    """The mean utility a step when `subjects` new people are treated by the policy.

    The random numbers of S1 .. S64 are the same for a seed whatever the policy and the noise, so
    that policies are compared on the same people, and are never those of `simulate`.
    """
    law = GenerativeModel(model, noise, actions)
    check_seed(seed)
    for name, value in (("subjects", subjects), ("times", times)):
        require_whole(name, value, 1)
    absent = [name for name in policy.variables if name not in law.variables]
    if absent:
        raise DataError(
            f"The policy needs the variable {listing(absent)}, which the model with {noise} noise "
            "variables does not have.",
            "Simulate with the noise that the policy was learned with.",
        )
    columns = [law.variables.index(name) for name in policy.variables]
    quiet = GenerativeModel(model, 0, actions)
    if set(policy.variables) <= set(quiet.variables):
        law = quiet  # noise that nobody looks at is not drawn
    signal, other = (
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(9, k))) for k in range(2)
    )
    states = law.initial(subjects, signal, other)
    total = 0.0
    for _ in range(times):
        chosen = np.asarray(policy.recommend(states[:, columns]))
        if chosen.shape != (subjects,) or not np.isin(chosen, range(actions)).all():
            raise DataError(
                f"The policy did not choose one of the {actions} actions for every subject.",
                "Simulate a policy that always recommends an action, 0 or above.",
            )
        utilities, states = law.step(states, chosen.astype(np.int64), signal, other)
        total += float(utilities.mean())
    return total / times
