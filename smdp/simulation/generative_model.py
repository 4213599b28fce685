"""The paper's simulated trial: 64 state variables of which 4 matter, and noise of three kinds.

    S^1 ~ N(0, 0.25 I),  A^t ~ Bernoulli(1/2),  and for i = 1 .. 16
    S^{t+1}_{4i-3}, S^{t+1}_{4i-2} ~ N{(1 - A^t) g(S^t_i), 0.01 (1 - A^t) + 0.25 A^t}
    S^{t+1}_{4i-1}, S^{t+1}_{4i}   ~ N{A^t g(S^t_i), 0.01 A^t + 0.25 (1 - A^t)}
    U^t ~ N{(1 - A^t) [2 (g_1 + g_2) - (g_3 + g_4)] + A^t [2 (g_3 + g_4) - (g_1 + g_2)], 0.01}

with g_j = g(S^t_j); the second argument of N is a variance. m noise variables are added: floor(m/3)
that evolve like S but do not affect the utility (D), ceil(m/3) white (W), and the rest constant in
time (C).

With K actions instead of two (`actions`), each variable has 2K children in place of four, two for
each action, which follow it after that action and are noise after the others; with G_a the sum of
g over the a-th pair of S_1 .. S_2K, the utility of action a is 2 G_a minus the mean of the other
G_b. The variables 1 .. 2K are all that matters. K = 2 is the paper's model.

Reference: Wang, Laber & Witkiewitz, section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import SettingError
from smdp.settings import require_whole

Model = Literal["linear", "quad", "exp"]

STATES = 64
INITIAL_SD = 0.5
PRECISE_SD = 0.1

LINKS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "linear": lambda u: u,
    "quad": lambda u: np.minimum(u**2, 3.0),
    # The truncation first: exp of a large value would overflow on its way to 3.
    "exp": lambda u: np.exp(np.minimum(u, np.log(3.0))),
}


@dataclass(frozen=True)
class GenerativeModel:
    """The transition law for n subjects at once; it carries no random state of its own."""

    model: Model
    noise: int = 0
    actions: int = 2  # K

    def __post_init__(self) -> None:
        if self.model not in LINKS:
            names = " or ".join(map(repr, LINKS))
            raise SettingError(f"The setting 'model' must be {names}. Got {self.model!r} instead.")
        require_whole("noise", self.noise, 0)
        require_whole("actions", self.actions, 2)
        most = STATES // 2
        if self.actions > most:
            raise SettingError(
                f"The setting 'actions' must be at most {most}, two of the {STATES} state "
                f"variables for each. Got {self.actions!r} instead."
            )

    @property
    def dependent(self) -> int:
        return self.noise // 3

    @property
    def white(self) -> int:
        return -(-self.noise // 3)

    @property
    def constant(self) -> int:
        return self.noise - self.dependent - self.white

    @property
    def true_variables(self) -> tuple[str, ...]:
        """The smallest set of variables that induces a sufficient decision process."""
        return self.variables[: 2 * self.actions]

    @property
    def variables(self) -> tuple[str, ...]:
        counts = (("S", STATES), ("D", self.dependent), ("W", self.white), ("C", self.constant))
        return tuple(f"{kind}{j + 1}" for kind, count in counts for j in range(count))

    def initial(
        self, subjects: int, signal: np.random.Generator, noise: np.random.Generator
    ) -> NDArray[np.float64]:
        """(n, p): the first states. Two generators, so that noise does not change the signal."""
        s = INITIAL_SD * signal.standard_normal((subjects, STATES))
        return np.hstack([s, INITIAL_SD * noise.standard_normal((subjects, self.noise))])

    def step(
        self,
        states: NDArray[np.float64],  # (n, p)
        actions: NDArray[np.int64],  # (n,)
        signal: np.random.Generator,
        noise: np.random.Generator,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Utilities (n,) and next states (n, p)."""
        links = LINKS[self.model](states[:, : 2 * self.actions])
        mean = self.mean_utilities(links)[actions, np.arange(len(states))]
        utilities = mean + PRECISE_SD * signal.standard_normal(len(states))
        own, rest = states[:, :STATES], states[:, STATES:]
        following = [
            self._evolve(own, actions, signal),
            self._evolve(rest[:, : self.dependent], actions, noise),
            INITIAL_SD * noise.standard_normal((len(states), self.white)),
            rest[:, self.dependent + self.white :],
        ]
        return utilities, np.hstack(following)

    def mean_utilities(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        """(K, ..): of each action, from g(S1) .. g(S2K), (.., 2K)."""
        sums = links.reshape(*links.shape[:-1], self.actions, 2).sum(axis=-1)
        others = [np.delete(sums, a, axis=-1).sum(axis=-1) for a in range(self.actions)]
        return 2 * np.moveaxis(sums, -1, 0) - np.array(others) / (self.actions - 1)

    def _evolve(
        self,
        values: NDArray[np.float64],
        actions: NDArray[np.int64],
        random: np.random.Generator,
    ) -> NDArray[np.float64]:
        """The next values of variables 1 .. d: variable j follows variable ceil(j / 2K)."""
        j = np.arange(values.shape[1])
        children = 2 * self.actions
        # Of each 2K, the first two follow their parent after action 0, the next after action 1, ..
        follows = (j % children // 2)[None, :] == actions[:, None]
        mean = np.where(follows, LINKS[self.model](values[:, j // children]), 0.0)
        return mean + np.where(follows, PRECISE_SD, INITIAL_SD) * random.standard_normal(mean.shape)


def simulate(
    model: Model,
    *,
    noise: int = 0,
    subjects: int = 30,
    times: int = 90,
    seed: int = 0,
    actions: int = 2,
) -> Trajectories:
    """A trial with known randomisation probability 1/K, no missing values and equal lengths.

    The states S1 .. S64, actions and utilities are the same for a seed whatever the `noise`.
    For missing values, gaps and dropout see `smdp.simulation.missing_data`.
    """
    law = GenerativeModel(model, noise, actions)
    for name, value, least in (("subjects", subjects, 1), ("times", times, 1), ("seed", seed, 0)):
        require_whole(name, value, least)
    randomise, signal, other = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)
    )
    taken = randomise.integers(0, actions, (subjects, times))
    states = np.empty((subjects, times + 1, len(law.variables)))
    utilities = np.empty((subjects, times))
    states[:, 0] = law.initial(subjects, signal, other)
    for t in range(times):
        utilities[:, t], states[:, t + 1] = law.step(states[:, t], taken[:, t], signal, other)
    return Trajectories(
        states=states,
        actions=taken.astype(np.int64),
        utilities=utilities,
        valid=np.ones((subjects, times), dtype=bool),
        available=np.ones((subjects, times), dtype=bool),
        probabilities=np.full((subjects, times, actions), 1 / actions),
        variables=law.variables,
        subjects=tuple(str(i + 1) for i in range(subjects)),
        action_labels=tuple(str(a) for a in range(actions)),
    )
