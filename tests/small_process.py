"""Small processes whose look-back and whose change over the study are known."""

from __future__ import annotations

import numpy as np

from smdp.data.trajectories import Trajectories


def process(
    seed: int,
    *,
    people: int = 16,
    times: int = 24,
    actions: int = 2,
    back: int = 0,
    own_levels: float = 0.0,
    fall: float = 0.0,
    drift: float = 0.0,
    gaps: bool = False,
) -> Trajectories:
    """`back`: how far one must look back; `fall`: of the effect of action 1, 0.8 at first."""
    random = np.random.default_rng(seed)
    total = times + 10
    states = np.zeros((people, total + 1, 3))
    states[:, :, 2] = random.normal(size=people)[:, None]  # a baseline variable
    taken = random.integers(0, actions, (people, total))
    utilities = np.zeros((people, total))
    own = own_levels * random.normal(size=(people, 3))
    for t in range(total):
        now = states[:, t]
        before = states[:, t - back, 0] if back and t >= back else np.zeros(people)
        study = max(t - 10, 0) / times
        states[:, t + 1, 0] = (
            0.3 * now[:, 0] + 0.6 * before + own[:, 0] + random.normal(size=people)
        )
        states[:, t + 1, 1] = random.random(people) < 0.5 + 0.2 * np.tanh(now[:, 0])
        effect = 0.8 * (1 - fall * study)
        utilities[:, t] = np.sin(now[:, 0]) + 0.6 * before + effect * (taken[:, t] == 1)
        utilities[:, t] += own[:, 1] + drift * study + random.normal(size=people)
    valid = np.ones((people, times), bool)
    available = np.ones((people, times), bool)
    if gaps:
        valid = random.random(valid.shape) > 0.04
        available = random.random(valid.shape) > 0.2
        valid &= np.arange(times) < random.integers(times // 2, times + 1, people)[:, None]
    return Trajectories(
        states=states[:, 10:],
        actions=np.where(available, taken[:, 10:], -1),
        utilities=utilities[:, 10:],
        valid=valid,
        available=available,
        probabilities=np.full((people, times, actions), 1 / actions),
        variables=("mood", "weekend", "age"),
        subjects=tuple(f"p{i}" for i in range(people)),
        action_labels=tuple(f"a{k}" for k in range(actions)),
    )
