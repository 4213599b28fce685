"""What treatment did in the trial: on average, for whom, when, and how long after.

Effects on the outcome that follows a decision, at the decisions with a choice, by the weighted and
centred estimating equations of `smdp.evaluation.centred_effects`: as differences for outcomes that
are measured, as ratios for yes/no outcomes (of risks) and for counts (of means), with differences
beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.outcome import OUTCOME_KINDS, OutcomeKind, recognise_outcome
from smdp.data.prepare import CompletedStudy, PreparedData, every_decision
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.evaluation.centred_effects import (
    CentredFit,
    CentredRows,
    Scale,
    fit_centred,
    given_and_centred,
    products,
)
from smdp.evaluation.learning_probabilities import seem_to_have_learned
from smdp.evaluation.value_rows import ValueRows, value_rows
from smdp.propensity import propensities
from smdp.result import Result
from smdp.settings import require
from smdp.text import listing, plain_number, plural

#: The term of the effect at the mean of the moderators, and of that where all of them are 0.
AVERAGE, INTERCEPT = "average", "intercept"
#: Of a numerator: what each decision's own probabilities are.
OWN: Literal["own"] = "own"
#: The share of the people who have decisions at the ends of what is told over time.
GOING_ON = 0.2
#: Effects on outcomes after so many further decisions.
LONGEST_LAG = 3
#: Variables whose effects are looked at one by one; texts and vectors have too many numbers.
MOST_ONE_BY_ONE = 60
MOST_LEVELS = 12
POINTS = 41
FEW_PEOPLE = 5
#: Of so many people that should get an action, by chance one in 150 times nobody does.
EXPECTED = 5
#: Of squares: columns that differ by less than a millionth say the same.
REPEATED = 1e-12
LEARNED = (
    "The probabilities of treatment seem to have been learned during the study from the data of "
    "several people. Ordinary errors are then too small."
)


@dataclass(frozen=True, eq=False, repr=False)
class TrialSummary(Result):
    """`effects`: action, against, term, estimate, lower, upper, standard_error, p_value.

    On the `scale` "linear" estimates are differences of the outcome, on "ratio" logarithms of
    ratios. The term "average" is the effect at the mean of the moderators; each moderator's own
    term is by how much the effect changes with one unit of it; "intercept" is the effect where all
    of them are 0. `differences`: the same as differences, where effects are ratios.
    `standardised`: average effects in standard deviations of the outcome. `by_variable`: the effect
    at values of one variable after the other, with the p-value of its change and that for the
    family of all variables (Holm). `over_time`: by decision or by the variable `time`. `delayed`:
    on the outcome of the next decisions. `learned`: the probabilities of treatment seem to have
    been learned from several people.
    """

    effects: pd.DataFrame
    controls: tuple[str, ...]
    moderators: tuple[str, ...]
    subjects: int
    decisions: int
    coverage: float
    estimated: float  # the share of decisions whose probabilities were estimated
    notes: tuple[str, ...]
    kind: OutcomeKind = "continuous"
    scale: Scale = "linear"
    sign: int = 1  # -1: of the outcome itself, of which less is better, not of the utility
    numerator: tuple[float, ...] = ()  # of each action, the reference first; () for each its own
    freedom: int = 0
    outcome_sd: float = float("nan")
    standardised: pd.DataFrame | None = None
    differences: pd.DataFrame | None = None
    by_variable: pd.DataFrame | None = None
    over_time: pd.DataFrame | None = None
    time: str = ""  # "" for the decision number
    delayed: pd.DataFrame | None = None
    learned: bool = False


def trial_summary(
    data: Trajectories | PreparedData | CompletedStudy,
    *,
    moderators: Sequence[str] = (),
    controls: Sequence[str] = (),
    coverage: float = 0.95,
    numerator: float | Literal["own"] | None = None,
    reference: str | None = None,
    kind: OutcomeKind | None = None,
    time: str = "",
    each_decision: bool = True,
) -> TrialSummary:
    """The effect of each action against a `reference`, at the decisions with a choice.

    Of prepared data every decision with an outcome counts, whether or not a next state follows, the
    outcome is as it was measured and variables are in their own units; with `each_decision=False`,
    or of trajectories, their valid transitions. `controls` are state variables that predict the
    outcome: they narrow the intervals. `moderators` (controls too, by themselves) are those with
    which the effect may change.
    `numerator`: of the weights, for each action but the reference a constant; None: the mean of
    its probabilities; "own": each decision's own ones, so that there are no weights. `reference`:
    the label of an action, None for the first. `kind` of the outcome: None as the roles say, or
    else as it is recognised. `time`: the variable over which the effect is drawn, "" for the
    decision number.
    """
    for name, names in (("moderators", moderators), ("controls", controls)):
        require(not isinstance(names, str), name, "a list of variables", names)
    require(0.5 <= coverage < 1, "coverage", "a share of at least 0.5, below 1", coverage)
    require(kind in (None, *OUTCOME_KINDS), "kind", f"one of {OUTCOME_KINDS}", kind)
    trajectories, sign = _decisions(data, each_decision)
    study = _TrialDecisions.of(
        trajectories, tuple(controls), tuple(moderators), reference, numerator
    )
    if kind is None and each_decision and not isinstance(data, Trajectories):
        kind = data.study.roles.outcome.kind
    kind, sign = _recognised(kind, sign, study.utility[study.choice])
    outcome, scale, notes = _outcome(sign * study.utility, kind, study)
    centred = numerator == OWN

    def fit(f: NDArray[np.float64], also: NDArray[np.float64], how: Scale = scale) -> CentredFit:
        return study.fit(outcome, f, also, how, always_centred=centred)

    own = study.columns(tuple(moderators))
    main = fit(own, own)
    tell = _Teller(study.actions, study.against, coverage)
    with_zero = each_decision and bool(moderators)
    means = study.means(own)
    effects = tell.terms(main, study.names(tuple(moderators)), with_zero, means)
    differences = None
    if scale == "ratio":
        plain = fit(own, own, "linear")
        differences = tell.terms(plain, study.names(tuple(moderators)), with_zero, means)
    by_variable, left_out = _one_by_one(study, fit, tell)
    sd = float(outcome[study.choice].std(ddof=1))
    learned = seem_to_have_learned(
        trajectories, study.rows.take(study.choice), study.given[study.choice]
    )
    return TrialSummary(
        effects=effects,
        controls=tuple(controls),
        moderators=tuple(moderators),
        subjects=study.centred_rows.subjects,
        decisions=int(study.choice.sum()),
        coverage=coverage,
        estimated=study.estimated,
        notes=(*study.notes, *notes, *left_out),
        kind=kind,
        scale=scale,
        sign=sign,
        numerator=() if centred else tuple(study.centred_rows.numerator[0]),
        freedom=main.freedom,
        outcome_sd=sd,
        standardised=_standardised(effects if scale == "linear" else differences, sd),
        differences=differences,
        by_variable=by_variable,
        over_time=_over_time(study, fit, tell, time),
        time=time,
        delayed=_delayed(study, outcome, scale, tell, always_centred=centred),
        learned=learned,
    )


def _decisions(
    data: Trajectories | PreparedData | CompletedStudy, each: bool
) -> tuple[Trajectories, int]:
    """What counts, and the sign with which its utility is the outcome itself."""
    if isinstance(data, Trajectories):
        return data, 1
    if not each and isinstance(data, PreparedData):
        return data.trajectories, 1
    completed = data.completed if isinstance(data, PreparedData) else data
    return every_decision(completed), data.study.roles.outcome_sign


def _recognised(
    kind: OutcomeKind | None, sign: int, utility: NDArray[np.float64]
) -> tuple[OutcomeKind, int]:
    found = kind or recognise_outcome(sign * utility)
    if found == "yes/no" and sign > 0 and utility.max() <= 0 and utility.min() == -1:
        sign = -1  # trajectories alone do not say that less is better
    return found, sign


def _outcome(
    values: NDArray[np.float64], kind: OutcomeKind, study: _TrialDecisions
) -> tuple[NDArray[np.float64], Scale, tuple[str, ...]]:
    """The outcome as it is estimated, on which scale, and what is to be known of that."""
    seen = values[study.choice]
    if seen.min() == seen.max():
        raise DataError(
            f"The outcome is always {seen[0]:g}, so that no effect on it can be estimated.",
            "Check the column of the outcome.",
        )
    if kind == "continuous":
        return values, "linear", ()
    if kind == "yes/no":
        low, high = seen.min(), seen.max()
        if len(np.unique(seen)) > 2:
            raise DataError(
                f"The outcome has {len(np.unique(seen))} different values, so it is not yes/no.",
                "Choose another kind of outcome.",
            )
        values = (values - low) / (high - low)
    elif seen.min() < 0:
        raise DataError(
            f"The outcome is {seen.min():g} somewhere, and a count cannot be negative.",
            "Choose another kind of outcome, or say that less of it is better.",
        )
    taken, seen = study.centred_rows.taken[study.choice], values[study.choice]
    means = [seen[taken == k].mean() for k in range(len(study.labels))]
    never = [f"'{label}'" for label, mean in zip(study.labels, means, strict=True) if mean <= 0]
    if never:
        what = "was never yes" if kind == "yes/no" else "was always 0"
        note = (
            f"Under {listing(never)} the outcome {what}, so that a ratio would be 0 or infinite: "
            "effects are differences here."
        )
        return values, "linear", (note,)
    people = len(np.unique(study.rows.subject[study.choice & (values > 0)]))
    if people < FEW_PEOPLE:
        had = "had a yes" if kind == "yes/no" else "had more than 0"
        who = "1 person" if people == 1 else f"{people} people"
        return values, "ratio", (f"Only {who} ever {had}: the ratio rests on so few.",)
    return values, "ratio", ()


@dataclass(frozen=True, eq=False)
class _TrialDecisions:
    """The decisions with a choice, the reference first among the actions.

    Where each decision's own probabilities are the numerator, also those without one whose
    probabilities are known all the same (`CentredRows`).
    """

    trajectories: Trajectories
    rows: ValueRows
    states: NDArray[np.float64]  # (R, p)
    labels: tuple[str, ...]  # K, the reference first
    centred_rows: CentredRows
    given: NDArray[np.float64]  # (R, K), in the order of the trajectories' labels
    utility: NDArray[np.float64]  # (R,)
    used: tuple[str, ...]  # controls and moderators
    estimated: float
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        trajectories: Trajectories,
        controls: tuple[str, ...],
        moderators: tuple[str, ...],
        reference: str | None,
        numerator: float | Literal["own"] | None,
    ) -> _TrialDecisions:
        labels = trajectories.action_labels
        first = labels[0] if reference in (None, "") else reference
        require(first in labels, "reference", f"one of {', '.join(labels)}", first)
        used = tuple(dict.fromkeys((*controls, *moderators)))
        rows = value_rows(trajectories, used, following=False)
        known = propensities(trajectories, rows, used)
        chance = rows.available & (known.given > 0).all(axis=1)
        notes = (*rows.notes, *known.notes)
        decided = int(rows.available.sum() - chance.sum())
        if decided:
            notes += (f"{decided:,} decisions were left out at which an action had probability 0.",)
        notes += _never_given(rows, known.given, labels, chance)
        if not chance.any():
            raise DataError(
                "At no decision had every action a chance, so effects cannot be estimated.",
                "Check the column of probabilities.",
            )
        kept, given = chance, known.given
        if numerator == OWN:
            closed = _closed(trajectories, rows, rows.utility[chance])
            given = np.where(closed[:, None], rows.at(trajectories.probabilities), given)
            kept = chance | closed
        rows, given, chance = rows.take(kept), given[kept], chance[kept]
        order = [labels.index(first), *(k for k in range(len(labels)) if labels[k] != first)]
        place = np.argsort(order)
        taken, chances = place[np.maximum(rows.at(trajectories.actions), 0)], given[:, order]
        counted = _numerator(numerator, chances)
        weight = np.zeros(len(taken))
        share = (counted[chance] / chances[chance], taken[chance, None])
        weight[chance] = np.take_along_axis(*share, axis=1)[:, 0]
        return cls(
            trajectories=trajectories,
            rows=rows,
            states=np.asfortranarray(rows.at(trajectories.states)),
            labels=tuple(labels[k] for k in order),
            centred_rows=CentredRows(taken, weight, counted, rows.subject),
            given=given,
            utility=rows.utility,
            used=used,
            estimated=known.estimated,
            notes=notes,
        )

    @property
    def actions(self) -> tuple[str, ...]:
        return self.labels[1:]

    @property
    def against(self) -> str:
        return self.labels[0]

    @property
    def choice(self) -> NDArray[np.bool_]:
        """(R,)"""
        return self.centred_rows.choice

    def means(self, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        """At the decisions with a choice."""
        return np.asarray(self.centred_rows.of_choice(columns).mean(axis=0))

    def places(self, names: tuple[str, ...]) -> list[int]:
        wholes = self.trajectories.wholes
        single = {name: (j,) for j, name in enumerate(self.trajectories.variables)}
        return [j for name in names for j in (wholes | single)[name]]

    def names(self, names: tuple[str, ...]) -> list[str]:
        return [self.trajectories.variables[j] for j in self.places(names)]

    def columns(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """(R, ..): these variables at the decisions."""
        return np.asfortranarray(self.states[:, self.places(names)])

    def fit(
        self,
        outcome: NDArray[np.float64],
        moderators: NDArray[np.float64],
        also: NDArray[np.float64],
        scale: Scale,
        *,
        always_centred: bool,
        kept: NDArray[np.bool_] | None = None,
    ) -> CentredFit:
        """Controls are those asked for and `also`; moderators are centred at their means."""
        control, centred_rows = self.columns(self.used), self.centred_rows
        if kept is not None:
            control, also = control[kept], also[kept]
            moderators, outcome = moderators[kept], outcome[kept]
            centred_rows = centred_rows.take(kept)
        g, f = _with_intercept(control, centred_rows), _with_intercept(moderators, centred_rows)
        for column in _with_intercept(also, centred_rows).T[1:]:
            wider = np.hstack([g, column[:, None]])
            # Whoever adjusts for the day has adjusted for the decision number too.
            if not _repeats_itself(_squares(centred_rows.of_choice(wider))):
                g = wider
        _check_design(g, f, self.used, centred_rows)
        return fit_centred(outcome, g, f, centred_rows, scale, always_centred=always_centred)


def _closed(
    trajectories: Trajectories, rows: ValueRows, seen: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Decisions without a choice of known probabilities, and an outcome such as others have."""
    known = np.isfinite(rows.at(trajectories.probabilities)).all(axis=1)
    usual = (rows.utility >= seen.min()) & (rows.utility <= seen.max())
    return np.asarray(~rows.available & known & usual)


def _never_given(
    rows: ValueRows,
    given: NDArray[np.float64],
    labels: tuple[str, ...],
    chance: NDArray[np.bool_],
) -> tuple[str, ...]:
    """A note on each action that nobody got at times when, by its probabilities, many should."""
    notes: tuple[str, ...] = ()
    times = rows.time[chance]
    for k, label in enumerate(labels):
        expected = np.bincount(times, given[chance, k])
        got = np.bincount(times, rows.level[chance] == k)
        never = int(((got == 0) & (expected >= EXPECTED)).sum())
        if never:
            notes += (
                f"Nobody got '{label}' at {plural(never, 'decision time')} at which, by its "
                f"probabilities, {EXPECTED} people or more would have: what is said of them rests "
                "on other times. If it could not be given then, its probability there is 0.",
            )
    return notes


def _with_intercept(columns: NDArray[np.float64], rows: CentredRows) -> NDArray[np.float64]:
    wide = np.empty((len(columns), 1 + columns.shape[1]), order="F")
    wide[:, 0] = 1
    if columns.shape[1]:
        np.subtract(columns, rows.of_choice(columns).mean(axis=0), out=wide[:, 1:])
    return wide


def _numerator(
    numerator: float | Literal["own"] | None, chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    if numerator == OWN:
        return chances
    mean = chances.mean(axis=0)
    if numerator is not None:
        others = chances.shape[1] - 1
        must = f"between 0 and {1 / others:g}" if others > 1 else "between 0 and 1"
        good = isinstance(numerator, int | float) and 0 < numerator * others < 1
        require(good, "numerator", must, numerator)
        mean = np.array([1 - others * float(numerator), *[float(numerator)] * others])
    return np.broadcast_to(mean, chances.shape)


@dataclass(frozen=True)
class _Teller:
    """Estimates with their intervals as tables."""

    actions: tuple[str, ...]
    against: str
    coverage: float

    def terms(
        self, fit: CentredFit, moderators: list[str], with_zero: bool, means: NDArray[np.float64]
    ) -> pd.DataFrame:
        p = 1 + len(moderators)
        points = np.eye(p)
        names = [AVERAGE, *moderators]
        if with_zero:
            points = np.vstack([points, np.concatenate([[1.0], -means])])
            names.append(INTERCEPT)
        tables = []
        for k, action in enumerate(self.actions):
            table = self.at(fit, k, points)
            table.insert(0, "action", action)
            table.insert(1, "against", self.against)
            table.insert(2, "term", names)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)

    def at(self, fit: CentredFit, k: int, points: NDArray[np.float64]) -> pd.DataFrame:
        from scipy.special import stdtr, stdtrit

        estimate, error = fit.along(k, points)
        width = float(stdtrit(fit.freedom, 0.5 + self.coverage / 2)) * error
        with np.errstate(divide="ignore", invalid="ignore"):
            p_value = 2 * stdtr(fit.freedom, -np.abs(estimate / error))
        return pd.DataFrame(
            {
                "estimate": estimate,
                "lower": estimate - width,
                "upper": estimate + width,
                "standard_error": error,
                "p_value": p_value,
            }
        )


Fit = Callable[[NDArray[np.float64], NDArray[np.float64]], CentredFit]


def _standardised(effects: pd.DataFrame | None, sd: float) -> pd.DataFrame | None:
    if effects is None or not sd > 0:
        return None
    rows = effects[effects["term"] == AVERAGE]
    sizes = rows[["estimate", "lower", "upper"]] / sd
    return pd.concat([rows[["action", "against"]], sizes], axis=1).reset_index(drop=True)


# One variable after the other.


def _one_by_one(
    study: _TrialDecisions, fit: Fit, tell: _Teller
) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """The effect at values of each variable, and a note on those by which it has no estimate."""
    tables: list[pd.DataFrame] = []
    without = []
    for name, places in study.trajectories.wholes.items():
        about = [study.trajectories.about[j] for j in places]
        if len(about) > MOST_LEVELS or about[0].whole_kind in ("text", "vector"):
            continue
        columns = study.columns((name,))
        if not np.isfinite(columns).all():
            continue
        points, told = _values_of(about, columns[study.choice])
        if len(points) < 2:
            continue
        try:
            found = fit(columns, columns)
            changes = [_p_of_change(found, k) for k in range(len(tell.actions))]
        except DataError:
            without.append(name)
            continue
        design = np.column_stack([np.ones(len(points)), points - study.means(columns)])
        for k, action in enumerate(tell.actions):
            table = tell.at(found, k, design)
            table["p_value"] = changes[k]
            table.insert(0, "action", action)
            table.insert(1, "against", tell.against)
            table.insert(2, "variable", name)
            table.insert(3, "value", told)
            tables.append(table)
        if len(tables) >= MOST_ONE_BY_ONE * len(tell.actions):
            break
    notes: tuple[str, ...] = ()
    if without:
        what = f"By {listing(without, 8)}, the effect could not be estimated"
        notes = (f"{what}: too few people, or outcomes always the same at some of its values.",)
    if not tables:
        return None, notes
    first = [float(table["p_value"].iloc[0]) for table in tables]
    for table, family in zip(tables, _holm(np.array(first)), strict=True):
        table["family_p"] = family
    return pd.concat(tables, ignore_index=True), notes


def _values_of(
    about: list[Variable], columns: NDArray[np.float64]
) -> tuple[NDArray[np.float64], list[str]]:
    """Where the effect is looked at: levels, or a standard deviation below and above the mean."""
    if about[0].whole_kind == "nominal":
        names = ["most frequent", *(v.part for v in about)]
        return np.vstack([np.zeros(len(about)), np.eye(len(about))]), names
    column = columns[:, 0]
    seen = np.unique(column)
    if len(seen) == 1:
        return np.empty((0, 1)), []
    if len(seen) == 2:
        named = dict(about[0].levels)
        return seen[:, None], [str(named.get(float(v), f"{v:g}")) for v in seen]
    mean, sd = column.mean(), column.std()
    ends = np.clip([mean - sd, mean + sd], seen[0], seen[-1])
    low, high = (plain_number(float(end)) for end in ends)
    return ends[:, None], [f"low ({low})", f"high ({high})"]


def _p_of_change(fit: CentredFit, k: int) -> float:
    """That the effect of this action does not change with any of the moderator's columns."""
    from scipy.special import fdtrc

    p = fit.estimate.shape[1]
    own = slice(k * p + 1, (k + 1) * p)
    change = fit.estimate[k, 1:]
    covariance = fit.covariance[own, own]
    try:
        size = float(change @ np.linalg.solve(covariance, change)) / len(change)
    except np.linalg.LinAlgError:
        raise DataError("The error of a change of the effect is 0.") from None
    return float(fdtrc(len(change), fit.freedom, max(size, 0.0)))


def _holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p_values)
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    found = np.empty_like(p_values)
    found[order] = np.minimum(steps, 1.0)
    return found


# When, and how long after.


def _over_time(study: _TrialDecisions, fit: Fit, tell: _Teller, time: str) -> pd.DataFrame | None:
    """A quadratic in the decision number, or in the variable `time`; a line where that is short.

    It is told as far as a fifth of the people go: beyond, it would be the course of a few.
    """
    if time:
        require(time in study.trajectories.variables, "time", "a state variable of numbers", time)
        along = study.columns((time,))[:, 0]
    else:
        along = study.rows.time.astype(float) + 1
    chosen = along[study.choice]
    seen = np.unique(chosen)
    if len(seen) < 3:
        return None
    middle, span = chosen.mean(), chosen.std()
    ends = pd.Series(chosen).groupby(study.rows.subject[study.choice])
    low = ends.min().quantile(GOING_ON, interpolation="lower")
    high = ends.max().quantile(1 - GOING_ON, interpolation="higher")
    reached = seen[(seen >= low) & (seen <= high)]
    seen = reached if len(reached) >= 3 else seen
    grid = seen if len(seen) <= POINTS else np.linspace(seen[0], seen[-1], POINTS)
    for degree in (2, 1):
        powers = np.arange(1, degree + 1)
        columns = ((along - middle) / span)[:, None] ** powers
        points = ((grid - middle) / span)[:, None] ** powers
        try:
            found = fit(columns, columns)
            changes = [_p_of_change(found, k) for k in range(len(tell.actions))]
        except DataError:
            continue
        design = np.column_stack([np.ones(len(grid)), points - study.means(columns)])
        tables = []
        for k, action in enumerate(tell.actions):
            table = tell.at(found, k, design)
            table["p_value"] = changes[k]
            table.insert(0, "action", action)
            table.insert(1, "against", tell.against)
            table.insert(2, "at", grid)
            tables.append(table)
        return pd.concat(tables, ignore_index=True)
    return None


def _delayed(
    study: _TrialDecisions,
    outcome: NDArray[np.float64],
    scale: Scale,
    tell: _Teller,
    *,
    always_centred: bool,
) -> pd.DataFrame | None:
    """Effects on the outcome 0, 1, .. decisions later, with the treatments between as given."""
    rows, trajectories = study.rows, study.trajectories
    last = trajectories.utilities.shape[1] - 1
    grid = np.full_like(trajectories.utilities, np.nan)
    # An outcome counts whether or not there was a choice at its own decision.
    known = trajectories.valid & np.isfinite(trajectories.utilities)
    shift = _as_estimated(study.utility, outcome)
    grid[known] = shift(trajectories.utilities[known])
    nothing = np.empty((len(outcome), 0))
    tables = []
    for lag in range(LONGEST_LAG + 1):
        later = rows.time + lag
        value = np.where(later <= last, grid[rows.row, np.minimum(later, last)], np.nan)
        kept = np.isfinite(value)
        counted = int((kept & study.choice).sum())
        if not counted:
            break
        try:
            found = study.fit(
                value, nothing, nothing, scale, always_centred=always_centred, kept=kept
            )
        except DataError:
            continue
        for k, action in enumerate(tell.actions):
            table = tell.at(found, k, np.ones((1, 1)))
            table.insert(0, "action", action)
            table.insert(1, "against", tell.against)
            table.insert(2, "later", lag)
            table["decisions"] = counted
            tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else None


def _as_estimated(
    utility: NDArray[np.float64], outcome: NDArray[np.float64]
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The line that made the outcome of the utility: a sign, and for yes/no where 0 and 1 are."""
    low, high = int(utility.argmin()), int(utility.argmax())
    if utility[low] == utility[high]:
        return lambda values: values
    slope = (outcome[high] - outcome[low]) / (utility[high] - utility[low])
    return lambda values: np.asarray(outcome[low] + slope * (values - utility[low]))


def _check_design(
    controls: NDArray[np.float64],
    moderators: NDArray[np.float64],
    used: tuple[str, ...],
    rows: CentredRows,
) -> None:
    """Refuse what cannot be estimated, with a reason."""
    design = np.hstack([controls, products(given_and_centred(rows)[1], moderators)])
    design = rows.of_choice(design)
    subjects = rows.subjects
    if subjects <= design.shape[1]:
        be = "is" if subjects == 1 else "are"
        least = f"At least {design.shape[1] + 1} subjects are needed"
        raise DataError(
            f"{plural(subjects, 'subject')} {be} too few for the {design.shape[1]} coefficients of "
            "the effects.",
            f"{least}, or fewer controls and moderators." if used else f"{least}.",
        )
    scale = _sizes(design)
    still = [name for j, name in enumerate(used, 1) if j < len(scale) and scale[j] <= 1e-12]
    if still:
        raise DataError(
            f"The variable {listing(still)} never changes, so it can be no control or moderator.",
            "Leave it out.",
        )
    squares = _squares(design)
    if _repeats_itself(squares):
        q = controls.shape[1]
        repeated = _repeats_itself(squares[:q, :q])
        what = f"controls and moderators ({listing(used)})" if repeated else "actions"
        raise DataError(
            f"The effects of the {what} cannot be told apart.",
            "Leave out a variable that repeats others, or join actions that were hardly given.",
        )


def _sizes(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.maximum(columns.max(axis=0), -columns.min(axis=0)))


def _squares(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The products of all pairs, of columns of like size."""
    scale = _sizes(columns)
    scale[scale == 0] = 1
    return np.asarray(columns.T @ columns / np.outer(scale, scale))


def _repeats_itself(squares: NDArray[np.float64]) -> bool:
    """Whether, by the products of all pairs, a column is a combination of others or nearly so."""
    sizes = np.linalg.eigvalsh(squares)
    return bool(sizes[0] <= REPEATED * sizes[-1])
