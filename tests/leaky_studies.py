"""Studies to which somebody added a column that is known only after the decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.columns import level_text
from smdp.data.guess_roles import guess_roles
from smdp.data.read_table import read_table
from smdp.simulation.basics_like import basics_like
from smdp.simulation.generative_model import simulate
from smdp.simulation.missing_data import MissingData, study_roles, study_table
from smdp.simulation.samples import BASICS, WALKING, sample_file
from smdp.simulation.three_action import three_action

#: A name that says nothing.
ADDED = "x7"
Study = tuple[pd.DataFrame, ColumnRoles]


class Row:
    """What a made column is made of: by row, in the order of the table."""

    def __init__(self, frame: pd.DataFrame, roles: ColumnRoles, seed: int) -> None:
        self.frame, self.roles = frame, roles
        self.random = np.random.default_rng(seed)
        utility = roles.utility
        if isinstance(utility, NextValue):
            self.outcome = utility.sign * self.later(frame[utility.variable].astype(float))
        else:
            self.outcome = frame[utility].astype(float)
        levels = sorted({level_text(v) for v in frame[roles.action].dropna().unique()})
        text = frame[roles.action].map(level_text, na_action="ignore")
        self.action = text.map({level: i for i, level in enumerate(levels)}).astype(float)
        self.state = frame[roles.state_names[-2]].astype(float)

    def later(self, values: pd.Series) -> pd.Series:
        return values.groupby(self.frame[self.roles.subject]).shift(-1)

    def earlier(self, values: pd.Series) -> pd.Series:
        return values.groupby(self.frame[self.roles.subject]).shift(1)

    def noise(self, size: float, of: pd.Series) -> np.ndarray:
        return self.random.normal(0, size * float(of.std()), len(self.frame))

    def sum_so_far(self, values: pd.Series) -> pd.Series:
        return values.fillna(0).groupby(self.frame[self.roles.subject]).cumsum()


Mutation = Callable[[Row], pd.Series]


def copied(noise: float) -> Mutation:
    return lambda row: row.outcome + row.noise(noise, row.outcome)


def some_missing(row: Row) -> pd.Series:
    return (row.outcome + row.noise(0.2, row.outcome)).mask(row.random.random(len(row.frame)) < 0.4)


def mostly_copied(row: Row) -> pd.Series:
    shuffled = row.outcome.sample(frac=1, random_state=1).to_numpy()
    return row.outcome.where(row.random.random(len(row.frame)) < 0.85, shuffled)


def recoded_in_three(row: Row) -> pd.Series:
    third = row.outcome.rank(pct=True).mul(3).clip(upper=2.99)
    return np.floor(third).map({0.0: 2.0, 1.0: 0.0, 2.0: 1.0})


def given_only(row: Row) -> pd.Series:
    return pd.Series(row.random.integers(0, 6, len(row.frame)), dtype=float).mask(row.action == 0)


def zero_unless_given(row: Row) -> pd.Series:
    return pd.Series(row.random.integers(0, 3, len(row.frame)), dtype=float).where(
        row.action > 0, 0.0
    )


MUTATIONS: dict[str, Mutation] = {
    "outcome": copied(0),
    "outcome, noise .1": copied(0.1),
    "outcome, noise .25": copied(0.25),
    "outcome, noise .5": copied(0.5),
    "outcome, noise .8": copied(0.8),
    "outcome, other units": lambda row: 32 + 1.8 * row.outcome,
    "outcome, 40 % missing": some_missing,
    "outcome in 85 % of rows": mostly_copied,
    "logarithm": lambda row: np.log(row.outcome - row.outcome.min() + 0.5),
    "ranks": lambda row: row.outcome.rank(pct=True),
    "square": lambda row: (row.outcome - row.outcome.median()) ** 2,
    "above its median": lambda row: (row.outcome > row.outcome.median())
    .astype(float)
    .where(row.outcome.notna()),
    "three groups": recoded_in_three,
    "next outcome": lambda row: row.later(row.outcome),
    "next outcome, noise .3": lambda row: row.later(row.outcome) + row.noise(0.3, row.outcome),
    "sum with a state": lambda row: row.outcome + 3 * row.outcome.std() / row.state.std()
    * row.state,
    "mean of two outcomes": lambda row: (row.outcome + row.earlier(row.outcome)) / 2,
    "running total": lambda row: row.sum_so_far(row.outcome),
    "action recoded": lambda row: 10 - 5 * row.action,
    "action, noise .25": lambda row: row.action + row.random.normal(0, 0.25, len(row.frame)),
    "one level of the action": lambda row: (row.action == 1).astype(float)
    .where(row.action.notna()),
    "dose": lambda row: row.action.map({0: 5.0, 1: 50.0, 2: 20.0})
    + row.random.normal(0, 3, len(row.frame)),
    "next action": lambda row: row.later(row.action),
    "treatments so far": lambda row: row.sum_so_far((row.action > 0).astype(float)),
    "empty unless given": given_only,
    "zero unless given": zero_unless_given,
}  # fmt: skip


def leaky(study: Study, name: str, seed: int = 0) -> Study:
    frame, roles = study
    frame = frame.sort_values([roles.subject, roles.time], kind="stable", ignore_index=True)
    column = {**MUTATIONS, **HARMLESS}[name](Row(frame, roles, seed))
    states = [*roles.variables, StateVariable(ADDED)]
    return frame.assign(**{ADDED: column.to_numpy()}), replace(roles, states=states)


def sample(name: str) -> Study:
    frame = read_table(sample_file(f"{name}.csv"))
    return frame, guess_roles(frame)


def students(seed: int) -> Study:
    frame = basics_like(seed, subjects=20)
    return frame, guess_roles(frame)


def walkers(seed: int) -> Study:
    frame = three_action(seed, subjects=18)
    return frame, guess_roles(frame)


def simulated(model: str, actions: int, seed: int) -> Study:
    made = simulate(model, noise=6, subjects=24, times=20, seed=seed, actions=actions)
    frame = study_table(made, MissingData(values=0.05, occasions=0.05), seed=seed)
    roles = study_roles(made)
    few = [v for v in roles.variables if v.name in ("S1", "S2", "S3", "S4", "S9", "S20", "D1")]
    return frame, replace(roles, states=few, known_before=())


#: With these the bounds were set.
SAMPLES = {"students": lambda: sample(BASICS), "walking": lambda: sample(WALKING)}
#: Other people and other models, with the same kinds of columns added; no bound was set by them.
FRESH = {
    "other students": lambda: students(5),
    "other walkers": lambda: walkers(7),
    "linear": lambda: simulated("linear", 2, 3),
    "quadratic, three actions": lambda: simulated("quad", 3, 4),
    "exponential": lambda: simulated("exp", 2, 5),
}
#: Known before the decision, and no reason to ask.
HARMLESS: dict[str, Mutation] = {
    "outcome before": lambda row: row.earlier(row.outcome),
    "outcome before, noise .3": lambda row: row.earlier(row.outcome) + row.noise(0.3, row.outcome),
    "total before": lambda row: row.earlier(row.sum_so_far(row.outcome)),
    "action before": lambda row: row.earlier(row.action),
    "treatments before": lambda row: row.earlier(row.sum_so_far((row.action > 0).astype(float))),
    "a predictor": lambda row: row.outcome + row.noise(2, row.outcome),
    "noise": lambda row: pd.Series(row.random.normal(0, 1, len(row.frame))),
}
