"""Why the neural policy abstains so often: what the spread of its refits consists of.

Usage: python bench/abstaining.py [--datasets 8] [--designs students linear quad] [--first 1]

At fixed states, the difference Q(s, 1) - Q(s, 0) of networks learned from fresh studies of the same
design (students: 30 people, 28 reports; the paper's models: 30 people, 90 decisions; the variables
that matter, discount 0.9):

- its deviation between studies, one network each: the true error of one network;
- between networks from other random starts on one study: the share that is no fact of the study;
- the bootstrap error of one network, as it was before, and that of the mean of several starts.

"covers": how often the interval +-1.96 errors holds the truth, a network learned from a study of
SUBJECTS_OF_TRUTH people. "abstains": the share of the states at which the one-sided bound at .05
leaves no recommendation. "wrong": of the recommendations made, those whose action is the worse one.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.feature_map.identity import identity_feature_map
from smdp.policy.decision_rows import decision_rows
from smdp.policy.learned_policy import resamples
from smdp.policy.policy_settings import PolicySettings
from smdp.policy.q_function import q_function
from smdp.policy.q_neural import _one_thread, _Training
from smdp.simulation.basics_like import basics_like
from smdp.simulation.generative_model import simulate

DESIGNS = ("students", "linear", "quad")
OF_STUDENTS = ("weekend", "stress", "quit_attempts", "burden", "cigs")
OF_PAPER = ("S1", "S2", "S3", "S4")
DISCOUNT = 0.9
STATES = 200
STARTS = 10
REFITS = 20
SUBJECTS_OF_TRUTH = 1500
STEPS_OF_TRUTH = 16_000
STARTS_OF_TRUTH = 4
SEED_OF_TRUTH = 90_001
SEED_OF_STATES = 90_002

Floats = NDArray[np.float64]


def study(design: str, seed: int, subjects: int = 30) -> Trajectories:
    if design != "students":
        return simulate(design, seed=seed, subjects=subjects).select(OF_PAPER)  # type: ignore[arg-type]
    frame = basics_like(seed, subjects=subjects, missing=False)
    names, people = list(OF_STUDENTS), frame["student"].unique()
    shape = (len(people), -1)
    states = frame[names].to_numpy(float).reshape(*shape, len(names))
    actions = frame["module"].to_numpy(np.int64).reshape(shape)[:, :-1]
    yes = np.ones(actions.shape, dtype=bool)
    return Trajectories(
        states=states,
        actions=actions,
        utilities=-states[:, 1:, names.index("cigs")],
        valid=yes,
        available=yes,
        probabilities=np.full((*actions.shape, 2), 0.5),
        variables=OF_STUDENTS,
        subjects=tuple(map(str, people)),
        action_labels=("0", "1"),
    )


def differences(
    trajectories: Trajectories, counts: Floats, settings: PolicySettings, seed: int, at: Floats
) -> Floats:
    """(M, states): Q(s, 1) - Q(s, 0) of a network for each row of counts."""
    fitted = identity_feature_map(trajectories)
    rows = decision_rows(trajectories, fitted, settings.discount)
    with _one_thread():
        training = _Training(rows, counts, settings, seed, 0)
        training.run(lambda share: None)
    found = [q_function(rows, layers)(fitted.transform(at)) for layers in training.networks()]
    return np.stack([each[:, 1] - each[:, 0] for each in found])


def of_one(design: str, seed: int, at: Floats) -> tuple[Floats, Floats]:
    """Networks from random starts on one study, and networks on samples of its people."""
    own = study(design, seed)
    settings = PolicySettings(model="neural", discount=DISCOUNT)
    rows = decision_rows(own, identity_feature_map(own), DISCOUNT)
    every = np.ones((STARTS, rows.subjects), dtype=np.int64)
    starts = differences(own, every, settings, seed, at)
    again = differences(own, resamples(rows, REFITS, seed), settings, seed + 10_000, at)
    return starts, again


def truth(design: str, at: Floats) -> Floats:
    subjects = SUBJECTS_OF_TRUTH if design == "students" else SUBJECTS_OF_TRUTH // 3
    own = study(design, SEED_OF_TRUTH, subjects)
    settings = PolicySettings(model="neural", discount=DISCOUNT, steps=STEPS_OF_TRUTH)
    every = np.ones((STARTS_OF_TRUTH, subjects), dtype=np.int64)
    return differences(own, every, settings, 1, at).mean(axis=0)


def states_of(design: str) -> Floats:
    drawn = study(design, SEED_OF_STATES, 100)
    every = drawn.states[:, :-1].reshape(-1, drawn.states.shape[-1])
    return every[np.random.default_rng(3).choice(len(every), STATES, replace=False)]


def estimators(starts: Floats, again: Floats) -> dict[str, tuple[Floats, Floats]]:
    """By name: estimates and errors (D, states), from starts (D, M, ..) and refits (D, B, ..).

    Those tried, all of them reported.
    """
    spread = again.std(axis=1, ddof=1)
    found = {"one network, deviation of the refits (what is done)": (starts[:, 0], spread)}
    for count in (3, 5, 10):
        mean, own = starts[:, :count].mean(axis=1), starts[:, :count].var(axis=1, ddof=1)
        less = (1 - 1 / count) * own
        share = 1 - less.mean(axis=1) / np.square(spread).mean(axis=1)
        scale = np.sqrt(np.clip(share, 1 / count, 1))[:, None]
        apart = np.sqrt(np.maximum(np.square(spread) - less, np.square(spread) / count))
        found[f"mean of {count} starts, deviation of the refits"] = mean, spread
        found[f"mean of {count} starts, less what starts differ by, one share"] = (
            mean,
            spread * scale,
        )
        found[f"mean of {count} starts, the same state by state"] = mean, apart
    found["mean of the refits, their deviation"] = again.mean(axis=1), spread
    return found


def report(design: str, starts: Floats, again: Floats, true: Floats) -> None:
    count = starts.shape[1]
    of_starts = starts.var(axis=1, ddof=1).mean()
    of_sample = starts.mean(axis=1).var(axis=0, ddof=1).mean() - of_starts / count
    of_refits = again.var(axis=1, ddof=1).mean()
    print(
        f"{design}, {len(starts)} studies: true differences {np.abs(true).mean():.2f} on average; "
        f"deviation of one network {np.sqrt(of_sample + of_starts):.2f}, of which by the start "
        f"{np.sqrt(of_starts):.2f} and by the sample {np.sqrt(max(0.0, of_sample)):.2f}; "
        f"of the refits {np.sqrt(of_refits):.2f}"
    )
    print("| estimate and error | rms error | mean error claimed | covers | abstains | wrong |")
    print("|---|---|---|---|---|---|")
    for name, (estimate, error) in estimators(starts, again).items():
        said = np.abs(estimate) > ONE_SIDED * error
        wrong = (np.sign(estimate) != np.sign(true))[said].mean() if said.any() else np.nan
        print(
            f"| {name} | {np.sqrt(np.square(estimate - true).mean()):.2f} | {error.mean():.2f} | "
            f"{(np.abs(estimate - true) <= TWO_SIDED * error).mean():.2f} | "
            f"{1 - said.mean():.2f} | {wrong:.2f} |",
            flush=True,
        )


ONE_SIDED, TWO_SIDED = 1.645, 1.96


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--datasets", type=int, default=8)
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=DESIGNS)
    parser.add_argument("--first", type=int, default=1)
    chosen = parser.parse_args()
    for design in chosen.designs:
        at = states_of(design)
        seeds = range(chosen.first, chosen.first + chosen.datasets)
        starts, again = zip(*(of_one(design, seed, at) for seed in seeds), strict=True)
        report(design, np.stack(starts), np.stack(again), truth(design, at))


if __name__ == "__main__":
    main()
