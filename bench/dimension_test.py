"""Size and power of the test of a dimension, with fitted networks.

Usage: python bench/dimension_test.py [--datasets 20] [--scenarios quad,exp] [--seed 7000] [--write]

Processes of known dimension. For each data set, maps of the true dimension and of one feature less
are fitted without each of five folds and tested at level 0.05 (`smdp.feature_map.normal_space`),
for what predicts (U, next state), and for closed features, which predict (U, their own next
values). Rejections of the true dimension are errors (size); those of one feature less are right
(power, on every fourth data set). Beside them, for maps of one layer, how often that form is
rejected at the true dimension.

The paper's model has 30 people with 90 decisions and S1 to S4, unless a scenario says otherwise:
{g(S1), g(S2), g(S3) + g(S4)} is sufficient, so the dimension is 3, and 4 with K = 3 actions. With
S1 to S16 it is 4 for the next state, S5 to S16 being irrelevant, and 3 for closed features; with
D1 to D4, which predict themselves and nothing else, the same. "Weak": 4 variables, 3 features, and
the state explains a tenth of the variance of everything. "Selected": on the variables that a
penalised fit on S1 to S4 and four white ones has kept. "No choice": at a fifth of the decisions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.feature_map.adnn.closed import UtilitySets, closed_and_tested
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.polish import polished
from smdp.feature_map.adnn.refit import Architecture, how_to_refit
from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.adnn.training import train
from smdp.feature_map.adnn.tuning import held_out_loss, tune
from smdp.feature_map.layers import Network
from smdp.feature_map.normal_space import dimension_test, form_test, head_probabilities
from smdp.feature_map.transitions import TrainingSets, transitions
from smdp.simulation.generative_model import simulate

LEVEL = 0.05
FIRST_SEED = 7000  # seeds from 3000 were used while the test was made
RESTARTS = 2
POWER_EVERY = 4
ALL_VARIABLES = ("S1", "S2", "S3", "S4")


@dataclass(frozen=True)
class Scenario:
    """A process and its dimension, for the next state and for closed features."""

    study: Callable[[int], Trajectories]
    dimension: int = 3
    closed: int = 3
    one_layer: bool = False
    select: bool = False


def paper(
    model: str, variables: tuple[str, ...] = ALL_VARIABLES, **more: int
) -> Callable[[int], Trajectories]:
    return lambda seed: simulate(model, seed=seed, **more).select(variables)  # type: ignore[arg-type]


def named(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind}{j + 1}" for j in range(count))


def without_choice(seed: int) -> Trajectories:
    """The exponential model; at a fifth of the decisions nothing but action 0 was possible."""
    study = simulate("exp", seed=seed).select(ALL_VARIABLES)
    forced = (study.actions == 0) & (np.random.default_rng(seed).random(study.actions.shape) < 0.4)
    given = np.array([0.3, 0.5]) / 0.8  # of what is left to choose
    return replace(
        study,
        available=~forced,
        actions=np.where(forced, -1, study.actions),
        probabilities=np.where(forced[:, :, None], np.nan, given),
    )


def tossed(
    states: NDArray[np.float64], actions: NDArray[np.int64], utilities: NDArray[np.float64]
) -> Trajectories:
    """Two actions by a coin, at every decision of S1 to S4."""
    everywhere = np.ones(actions.shape, dtype=bool)
    return Trajectories(
        states=states,
        actions=actions,
        utilities=utilities,
        valid=everywhere,
        available=everywhere,
        probabilities=np.full((*actions.shape, 2), 0.5),
        variables=ALL_VARIABLES,
        subjects=tuple(str(i + 1) for i in range(len(actions))),
        action_labels=("0", "1"),
    )


def weak(seed: int, people: int = 30, times: int = 90) -> Trajectories:
    """Four variables, features S1, S2 and S3 + S4, which explain a tenth of every outcome."""
    random = np.random.default_rng(seed)
    features = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.7, 0.7]])
    # (action, outcome, feature): every outcome follows one feature after each action.
    follows = np.eye(3)[np.array([[0, 1, 2, 0, 1], [2, 0, 1, 1, 0]])]
    share = 0.1
    states = np.empty((people, times + 1, 4))
    states[:, 0] = random.standard_normal((people, 4))
    utilities = np.empty((people, times))
    actions = random.integers(0, 2, (people, times))
    for t in range(times):
        z = states[:, t] @ features.T
        mean = np.einsum("iof,if->io", follows[actions[:, t]], np.sqrt(2) * np.sin(z) / 0.93)
        y = np.sqrt(share) * mean + np.sqrt(1 - share) * random.standard_normal((people, 5))
        utilities[:, t], states[:, t + 1] = y[:, 0], y[:, 1:]
    return tossed(states, actions, utilities)


def chain(seed: int, people: int = 30, times: int = 90) -> Trajectories:
    """The utility needs S1, whose next value needs S2, and that of S2 needs S3; S4 needs itself."""
    random = np.random.default_rng(seed)
    states = np.empty((people, times + 1, 4))
    states[:, 0] = random.standard_normal((people, 4))
    actions = random.integers(0, 2, (people, times))
    utilities = np.empty((people, times))
    for t in range(times):
        now, treated = states[:, t], actions[:, t] == 1
        noise = random.standard_normal((people, 5))
        utilities[:, t] = np.where(treated, 1.0, -0.5) * np.sin(now[:, 0]) + 0.5 * noise[:, 4]
        follows = now[:, [1, 2, 0, 3]] * np.column_stack(
            [0.8 * np.ones((people, 2)), 0.4 * treated, 0.8 * np.ones(people)]
        )
        states[:, t + 1] = follows + 0.6 * noise[:, :4]
    return tossed(states, actions, utilities)


SCENARIOS = {
    "linear": Scenario(paper("linear")),
    "quad": Scenario(paper("quad")),
    "exp": Scenario(paper("exp")),
    "linear, one layer": Scenario(paper("linear"), one_layer=True),
    "exp, one layer": Scenario(paper("exp"), one_layer=True),
    "linear, n = 20, T = 30": Scenario(paper("linear", subjects=20, times=30)),
    "exp, n = 20, T = 30": Scenario(paper("exp", subjects=20, times=30)),
    "linear, K = 3": Scenario(paper("linear", named("S", 6), actions=3), 4, 4),
    "exp, S1 to S8": Scenario(paper("exp", named("S", 8))),
    "linear, S1 to S16": Scenario(paper("linear", named("S", 16)), 4, 3),
    "exp, D1 to D4": Scenario(paper("exp", (*ALL_VARIABLES, *named("D", 4)), noise=12), 4, 3),
    "exp, no choice": Scenario(without_choice),
    "linear, selected": Scenario(
        paper("linear", (*ALL_VARIABLES, *named("W", 4)), noise=12), select=True
    ),
    "chain": Scenario(chain, 4, 3),
    "weak": Scenario(weak),
}


def fold_networks(
    sets: TrainingSets,
    dimension: int,
    settings: FeatureMapSettings,
    decays: tuple[float, ...],
    seed: np.random.SeedSequence,
) -> tuple[Architecture, float, list[Network]]:
    """Networks without each fold, as the library refits them but with fewer starts.

    The first start says which weight decay is the best on held-out people.
    """
    columns, folds = sets.rows.columns, range(sets.rows.folds)
    size = Architecture(dimension, 20 if columns <= 8 else 40, 1, tuple(range(columns)))
    shape = (dimension, size.width, size.depth)
    how = how_to_refit(settings)

    def trained(restarts: range, decays: tuple[float, ...]) -> list[tuple[ModelSpec, Network]]:
        specs = [
            ModelSpec(k, *shape, restart=restart, weight_decay=decay)
            for decay in decays
            for restart in restarts
            for k in folds
        ]
        return list(zip(specs, train(sets, specs, how, seed=seed), strict=True))

    def own_loss(spec: ModelSpec, network: Network) -> float:
        rows = sets.training(spec.dataset)
        predicted = network.predict(sets.states(spec.dataset, rows), sets.rows.head[rows])
        return float(np.square(predicted - sets.outcomes(spec.dataset, rows)).mean())

    at_once = RESTARTS if len(decays) == 1 else 1
    found = trained(range(at_once), decays)
    losses = {
        decay: sum(held_out_loss(sets, s.dataset, n) for s, n in found if s.weight_decay == decay)
        for decay in decays
    }
    best = min(decays, key=lambda decay: losses[decay])
    found = [(s, n) for s, n in found if s.weight_decay == best]
    if at_once < RESTARTS:
        found += trained(range(at_once, RESTARTS), (best,))
    networks = [
        min(((s, n) for s, n in found if s.dataset == k), key=lambda pair: own_loss(*pair))[1]
        for k in folds
    ]
    return size, best, networks


def p_values(scenario: Scenario, seed: int, power: bool) -> dict[tuple[str, int], float]:
    """By test and by how many features are missing: 0 or 1."""
    study = scenario.study(seed)
    settings = FeatureMapSettings(interpretable=scenario.one_layer)
    folds, training, testing, selecting, closing = np.random.SeedSequence(seed).spawn(5)
    rows = transitions(study, settings.folds, np.random.default_rng(folds))
    probabilities: NDArray[np.float64] = head_probabilities(study, rows)
    if scenario.select:
        only = replace(settings, penalties=(0.05,))
        (tuned,), _ = tune(TrainingSets(rows), (scenario.dimension,), only, seed=selecting)
        rows = rows.select(tuned.network.selected)
    sets = TrainingSets(rows)
    wanted = {("next state", missing): scenario.dimension - missing for missing in range(1 + power)}
    wanted |= {("closed", missing): scenario.closed - missing for missing in range(1 + power)}
    found = {}
    decays = settings.refit_weight_decays
    for (test, missing), q in wanted.items():
        on = sets if test == "next state" else UtilitySets(rows)
        size, decay, networks = fold_networks(on, q, settings, decays, training)
        decays = (decay,)  # the first map's serves the others: it is the study that is noisy
        if test == "closed":
            closed, tested = closed_and_tested(
                on,
                networks,
                size,
                decay,
                settings,
                probabilities,
                level=LEVEL,
                seed=closing,
                test_seed=testing,
            )
            on, networks = closed.sets, list(closed.networks)
        else:
            networks = list(polished(on, networks, decay))
            tested = dimension_test(on, networks, probabilities, seed=testing)
        found[test, missing] = tested.p_value
        if scenario.one_layer and not missing:
            form = form_test(on, networks, probabilities, seed=testing)
            found[f"form, {test}", 0] = form.p_value
    return found


HEADER = (
    "| process | data sets | next state: size | power | closed: size | power | "
    "form, next state | form, closed |\n|---|---|---|---|---|---|---|---|"
)
COLUMNS = (
    ("next state", 0),
    ("next state", 1),
    ("closed", 0),
    ("closed", 1),
    ("form, next state", 0),
    ("form, closed", 0),
)


def line(name: str, found: list[dict[tuple[str, int], float]]) -> str:
    cells = []
    for key in COLUMNS:
        own = [each[key] for each in found if key in each]
        cells.append(f"{sum(p <= LEVEL for p in own)} of {len(own)}" if own else "")
    return f"| {name} | {len(found)} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=20)
    parser.add_argument("--scenarios", default="", help="names, divided by semicolons")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    names = [name.strip() for name in chosen.scenarios.split(";") if name.strip()] or SCENARIOS
    lines, every = [HEADER], []
    print(HEADER)
    for name in names:
        start = perf_counter()
        found = [
            p_values(SCENARIOS[name], chosen.seed + k, power=k % POWER_EVERY == 0)
            for k in range(chosen.datasets)
        ]
        every += found
        lines.append(line(name, found))
        print(lines[-1], f"{perf_counter() - start:.0f} s", flush=True)
    lines.append(line("all", every))
    print(lines[-1])
    if chosen.write:
        setting = (__doc__ or "").partition("[--write]")[2].strip()
        text = f"# Size and power of the test of a dimension\n\n{setting}\n\n" + "\n".join(lines)
        Path(__file__).with_suffix(".md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
