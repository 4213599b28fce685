"""Policies made by hand, for tests of what is done with a policy once it is learned."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.layers import Layer
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import QFunction
from smdp.policy.support import Support


def map_of(
    layers: Sequence[Layer],
    variables: Sequence[str],
    activation: str = "arctan",
    centre: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
) -> FittedFeatureMap:
    p, q = len(variables), len(layers[-1].bias)
    weights = layers[0].weights if len(layers) == 1 else np.zeros((q, p))
    names = [f"feature {k + 1}" for k in range(q)]
    return FittedFeatureMap(
        kind="adnn",
        variables=tuple(variables),
        layers=tuple(layers),
        activation=activation,
        centre=np.zeros(p) if centre is None else np.array(centre, dtype=float),
        scale=np.ones(p) if scale is None else np.array(scale, dtype=float),
        weights=pd.DataFrame(weights, index=names, columns=list(variables)),
        column_norms=pd.Series(np.linalg.norm(layers[0].weights, axis=0), index=list(variables)),
        steps=pd.DataFrame(),
        candidates=pd.DataFrame(),
        settings=FeatureMapSettings(),
        seed=0,
    )


def policy_of(
    feature_map: FittedFeatureMap,
    q: QFunction,
    resampled: Sequence[QFunction] = (),
    *,
    actions: Sequence[str] = ("nothing", "treatment"),
    support: Support | None = None,
    settings: PolicySettings | None = None,
) -> LearnedPolicy:
    model = "linear" if len(q.layers) == 1 else "neural"
    return LearnedPolicy(
        feature_map=feature_map,
        q=q,
        resampled=tuple(resampled),
        action_labels=tuple(actions),
        settings=settings or PolicySettings(model=model),  # type: ignore[arg-type]
        seed=0,
        convergence=pd.DataFrame({"iteration": [1], "change": [0.0], "switched": [0.0]}),
        converged=True,
        support=support,
    )


def random_layers(sizes: Sequence[int], random: np.random.Generator) -> tuple[Layer, ...]:
    return tuple(
        Layer(random.normal(0, 1 / np.sqrt(sizes[k]), (sizes[k + 1], sizes[k])),
              random.normal(0, 0.3, sizes[k + 1]))
        for k in range(len(sizes) - 1)
    )  # fmt: skip


def random_policy(
    variables: Sequence[str],
    *,
    seed: int = 0,
    features: int = 2,
    hidden: Sequence[int] = (),  # of the Q-function
    map_hidden: Sequence[int] = (),
    activation: str = "arctan",
    actions: Sequence[str] = ("nothing", "treatment"),
    resamples: int = 12,
    unused: Sequence[int] = (),
    centre: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
    pessimism: float | None = None,
    reference: str = "",
) -> LearnedPolicy:
    """Random networks; the refits differ from the Q-function by a little noise."""
    settings = None
    if pessimism is not None:
        settings = PolicySettings(
            model="pessimistic", pessimism=pessimism, reference=reference, bootstraps=resamples
        )
    random = np.random.default_rng(seed)
    layers = list(random_layers([len(variables), *map_hidden, features], random))
    layers[0].weights[:, list(unused)] = 0
    sizes = [features, *hidden, len(actions)]
    own = random_layers(sizes, random)
    middle, spread = random.normal(0, 0.2, features), random.uniform(0.5, 1.5, features)
    refits = [
        QFunction(middle, spread, tuple(
            Layer(layer.weights + random.normal(0, 0.15, layer.weights.shape),
                  layer.bias + random.normal(0, 0.15, layer.bias.shape))
            for layer in own
        ))
        for _ in range(resamples)
    ]  # fmt: skip
    points = random.normal(0, 1, (120, features)).round(1)
    tried = random.integers(0, len(actions), 120)
    taken = np.where(points[:, 0] < -0.5, 0, tried)  # one action only on the one side
    support = Support(points, taken, len(actions), 15, radius=0.5 * features)
    return policy_of(
        map_of(layers, variables, activation, centre, scale),
        QFunction(middle, spread, own),
        refits,
        actions=actions,
        support=support,
        settings=settings,
    )


def trajectories_of(
    states: np.ndarray, variables: Sequence[str], actions: Sequence[str] = ("nothing", "treatment")
) -> Trajectories:
    """One subject for each row of states (n, T + 1, p), everyone always available."""
    n, times, _ = states.shape
    return Trajectories(
        states=states,
        actions=np.zeros((n, times - 1), dtype=np.int64),
        utilities=np.zeros((n, times - 1)),
        valid=np.ones((n, times - 1), dtype=bool),
        available=np.ones((n, times - 1), dtype=bool),
        probabilities=np.full((n, times - 1, len(actions)), 1 / len(actions)),
        variables=tuple(variables),
        subjects=tuple(f"s{i}" for i in range(n)),
        action_labels=tuple(actions),
    )
