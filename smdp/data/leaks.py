"""Columns that may be known only after the decision, and so can be no state: to be asked about.

A state is what the policy sees when it decides. A copy of the outcome, or a note of how a message
was received, predicts the outcome splendidly and is not there when it is needed. No program can
know when a column was measured; it can see that one looks like it, and ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.columns import flags, is_text, level_text, levels_as_text, numbers, sorted_levels
from smdp.data.decisions import decision_index
from smdp.data.determination import (
    Codes,
    Numbers,
    beyond,
    correlations,
    equal_share,
    explained,
    explained_in_ranks,
    in_classes,
    level_explained,
    mean_explained,
    untouched,
)
from smdp.data.name_words import counterparts, says_before, word_for_after, word_for_before
from smdp.data.nominal import MOST_LEVELS
from smdp.errors import DataError
from smdp.text import percent, plural, shorten

Why = Literal[
    "equals outcome",
    "determines outcome",
    "determines later outcome",
    "determines action",
    "determines later action",
    "empty without action",
    "constant without action",
    "name",
    "counterpart",
]

#: Told after what the values say.
BY_NAME: tuple[Why, ...] = ("name", "counterpart")
EQUAL = 0.95  # of the rows
OUTCOME = 0.50  # of the outcome's variation that the outcome before leaves open
OUTCOME_ALONE = 0.90  # where there is no outcome before
JOINTLY = 0.95  # together with the other states
IN_CLASSES = 0.75
ACTION = 0.75  # of the errors in guessing the action
WITHOUT_ACTION, WITH_ACTION = 0.99, 0.80  # shares of one value
CERTAIN = 0.98  # even where the name says that it was measured before
MOST_CONTROLS = 8
FEWEST_OF_LEVEL = 20
#: Of a larger table, whole people are looked at, about so many rows: shares are known well enough.
MOST_ROWS = 12_000


@dataclass(frozen=True)
class Leak:
    """One reason to ask of a column whether it is known before the decision.

    `share`: of the rows in which it equals the outcome, of the variation that it explains, or of
    the rows without the action `level` in which it is empty or has one value only (`value`).
    `rows`: how many the share is of. `word`: of the name. `other`: the column that has it.
    """

    column: str
    why: Why
    share: float = 1.0
    rows: int = 0
    level: str = ""
    value: str = ""
    word: str = ""
    other: str = ""

    def describe(self) -> str:
        """The evidence in words, to follow the column's name."""
        share, rows = percent(self.share), plural(self.rows, "row")
        match self.why:
            case "equals outcome":
                return f"equals the outcome in {share} of {rows}"
            case "determines outcome":
                return f"explains {share} of the outcome that earlier outcomes do not"
            case "determines later outcome":
                return f"explains {share} of the next decision's outcome"
            case "determines action":
                return f"tells the action, with {share} fewer errors than a guess"
            case "determines later action":
                return f"tells the next action, with {share} fewer errors than a guess"
            case "empty without action":
                return f"is empty in {share} of the {rows} in which the action is {self.level}"
            case "constant without action":
                return (
                    f"is {self.value} in {share} of the {rows} in which the action is {self.level}"
                )
            case "name":
                return f"its name says '{self.word}'"
            case "counterpart":
                return f"its name is like '{shorten(self.other, 40)}' without '{self.word}'"


def find_leaks(frame: pd.DataFrame, roles: ColumnRoles) -> tuple[Leak, ...]:
    """Why a state is to be asked about, for all states of which the roles do not say it already."""
    return find_leaks_of(
        frame,
        [name for name in roles.state_names if name not in roles.known_before],
        beside=[name for name in roles.state_names if name in roles.known_before],
        subject=roles.subject,
        time=roles.time,
        action=roles.action,
        available=roles.available,
        outcome=roles.utility,
    )


def find_leaks_of(
    frame: pd.DataFrame,
    columns: Sequence[str],
    *,
    beside: Sequence[str] = (),
    subject: str | None = None,
    time: str | None = None,
    action: str | None = None,
    available: str | None = None,
    outcome: str | NextValue | None = None,
) -> tuple[Leak, ...]:
    """The same for any columns, as far as the roles are known; what is not is not looked at.

    `beside`: further states, which are not asked about.
    """
    if not columns:
        return ()
    found = {name: list(_by_name(name)) for name in columns}
    frame = some_people(frame, subject)
    order = _order(frame, subject, time)
    for name, other in counterparts(str(c) for c in frame.columns).items():
        if name in found and not found[name] and not _is_lag(frame, other, name, order):
            found[name].append(Leak(name, "counterpart", word=word_for_before(other), other=other))
    if order is not None:
        series = {name: _series(frame[name], order) for name in columns}
        if action is not None:
            taken = _Action(frame, action, available, order)
            for name in columns:
                found[name] += taken.findings(name, frame[name], series[name], order)
        if outcome is not None:
            result = _Outcome(frame, outcome, order, None if action is None else taken.codes)
            for name in columns:
                found[name] += result.findings(name, series[name], order)
                if series[name] is None and is_text(frame[name]):
                    found[name] += result.of_levels(name, frame[name], order)
            # A sum of the outcome and something else: given the else, it is the outcome.
            series |= {name: _series(frame[name], order) for name in beside}
            free = {n: s for n, s in series.items() if s is not None and not found.get(n)}
            for leak in result.jointly(free):
                if leak.column in columns:
                    found[leak.column].append(leak)
    return tuple(
        leak
        for name in columns
        for leak in sorted(found[name], key=lambda leak: leak.why in BY_NAME)
        if _counts(leak)
    )


def some_people(frame: pd.DataFrame, subject: str | None) -> pd.DataFrame:
    """All rows of every k-th person of a large table; a table that is not large as it is."""
    if subject is None or len(frame) <= MOST_ROWS:
        return frame
    person, people = pd.factorize(frame[subject])
    step = -(-len(frame) // MOST_ROWS)
    if len(people) < 2 * step:
        return frame
    return frame[(person % step == 0) | (person < 0)]


def _counts(leak: Leak) -> bool:
    """Where the name says that it was measured before, only what is certain is asked about."""
    if not says_before(leak.column):
        return True
    return leak.why != "empty without action" and leak.share >= (
        EQUAL if leak.why == "equals outcome" else CERTAIN
    )


def _by_name(name: str) -> Iterator[Leak]:
    if word := word_for_after(name):
        yield Leak(name, "name", word=word)


class _Order:
    """The rows of a table by person and time, and what was before and comes after each."""

    def __init__(self, rows: NDArray[np.int64], person: NDArray[np.int64]) -> None:
        self.rows = rows
        self.person = person[rows]
        self.first = np.r_[True, self.person[1:] != self.person[:-1]]

    def before(self, values: Numbers) -> Numbers:
        return np.where(self.first, np.nan, np.r_[np.nan, values[:-1]])

    def after(self, values: Numbers) -> Numbers:
        last = np.r_[self.first[1:], True]
        return np.where(last, np.nan, np.r_[values[1:], np.nan])

    def mean_before(self, values: Numbers) -> Numbers:
        """Of all of the person's earlier values."""
        seen = pd.Series(np.isfinite(values)).groupby(self.person).cumsum().to_numpy(dtype=float)
        total = pd.Series(np.nan_to_num(values)).groupby(self.person).cumsum().to_numpy()
        with np.errstate(invalid="ignore"):
            return self.before(total / seen)

    def codes_before(self, codes: Codes) -> Codes:
        return np.where(self.first, -1, np.r_[-1, codes[:-1]])

    def codes_after(self, codes: Codes) -> Codes:
        return np.where(np.r_[self.first[1:], True], -1, np.r_[codes[1:], -1])


def _order(frame: pd.DataFrame, subject: str | None, time: str | None) -> _Order | None:
    if subject is None or time is None or not len(frame) or frame[subject].isna().any():
        return None
    person = pd.factorize(levels_as_text(frame[subject]))[0].astype(np.int64)
    try:
        decision = decision_index(person, frame[time]).index
    except DataError:  # which is told elsewhere
        return None
    return _Order(np.lexsort((decision, person)), person)


def _series(column: pd.Series, order: _Order) -> Numbers | None:
    """The numbers of a column in order; None for text, and for what never changes in a person."""
    values, bad = numbers(column)
    if len(bad) or not np.isfinite(values).any():
        return None
    values = np.where(np.isfinite(values), values, np.nan)[order.rows]
    within = pd.Series(values).groupby(order.person).nunique()
    return values if (within > 1).any() else None


def _is_lag(frame: pd.DataFrame, lag: str, of: str, order: _Order | None) -> bool:
    """Whether a column has the value that another one had at the decision before.

    Then its name says 'before' of that decision, and nothing of when the other was measured.
    """
    if order is None:
        return False
    before, now = _series(frame[lag], order), _series(frame[of], order)
    if before is None or now is None:
        return False
    share, rows = equal_share(order.before(now), before)
    return rows > 0 and share >= EQUAL


class _Outcome:
    """The outcome of each row's decision, and what was known of it before."""

    def __init__(
        self,
        frame: pd.DataFrame,
        outcome: str | NextValue,
        order: _Order,
        action: Codes | None = None,
    ) -> None:
        name = outcome.variable if isinstance(outcome, NextValue) else outcome
        values = np.where(np.isfinite(v := numbers(frame[name])[0]), v, np.nan)[order.rows]
        self.now = order.after(values) if isinstance(outcome, NextValue) else values
        self.then = order.after(self.now)
        self.action = action
        before, mean = order.before(self.now), order.mean_before(self.now)
        self.before = np.where(np.isfinite(before), before, mean)
        self.known = [self.before, mean]
        self.alone = bool((np.isfinite(self.now) & np.isfinite(self.before)).sum() < 60)

    def findings(self, name: str, series: Numbers | None, order: _Order) -> Iterator[Leak]:
        if series is None:
            return
        share, rows = equal_share(self.now, series)
        if share >= EQUAL and self._share(self.now, series, self.known, order)[0] > 0.05:
            yield Leak(name, "equals outcome", share, rows)
            return
        share, rows = self._share(self.now, series, self.known, order)
        if share >= (OUTCOME_ALONE if self.alone else OUTCOME):
            if not self._untouched(series):
                yield Leak(name, "determines outcome", share, rows)
            return
        share, rows = self._share(self.then, series, [*self.known, self.now], order)
        if share >= (OUTCOME_ALONE if self.alone else OUTCOME):
            yield Leak(name, "determines later outcome", share, rows)

    def of_levels(self, name: str, column: pd.Series, order: _Order) -> Iterator[Leak]:
        """Whether the levels of a column of words tell the outcome."""
        if column.nunique() > MOST_LEVELS:
            return
        classes = pd.factorize(column)[0].astype(np.int64)[order.rows]
        if not (pd.Series(classes).groupby(order.person).nunique() > 1).any():
            return
        past = mean_explained(self.now, in_classes(self.before))
        share = beyond(mean_explained(self.now, classes), past)
        if share >= IN_CLASSES:
            rows = int((np.isfinite(self.now) & (classes >= 0)).sum())
            yield Leak(name, "determines outcome", share, rows)

    def _share(
        self, target: Numbers, series: Numbers, known: list[Numbers], order: _Order
    ) -> tuple[float, int]:
        """The most that any way of looking at it explains, with the rows that this is from."""
        given = [] if self.alone else known
        ways = [
            explained(target, series, given),
            explained_in_ranks(target, series, given),
            explained(target, series, [*given, order.before(series)]),  # of running totals
        ]
        rows = int((np.isfinite(target) & np.isfinite(series)).sum())
        past = in_classes(self.now if target is self.then else self.before)
        there, here = in_classes(target), in_classes(series)
        one = beyond(mean_explained(target, here), mean_explained(target, past))
        other = beyond(mean_explained(series, there), mean_explained(series, past))
        for share in (one, other):
            if share >= IN_CLASSES:
                ways.append((share, rows))
        return max(ways)

    def _untouched(self, series: Numbers) -> bool:
        """Whether the action moves the outcome clearly and this not, as what was there before."""
        if self.action is None or self.alone:
            return False
        return untouched(self.now, series, self.known, self.action)

    def jointly(self, free: dict[str, Numbers]) -> Iterator[Leak]:
        """Each series with those that go with it most."""
        if self.alone or len(free) < 2:
            return
        names, every = list(free), np.column_stack(list(free.values()))
        strength = correlations(every) ** 2
        strength[:, np.isfinite(every).mean(axis=0) <= 0.5] = -1.0
        np.fill_diagonal(strength, -1.0)
        for place, name in enumerate(names):
            nearest = np.argsort(-strength[place], kind="stable")[:MOST_CONTROLS]
            controls = [every[:, i] for i in nearest if strength[place, i] >= 0]
            if not controls:
                continue
            share, rows = explained(self.now, free[name], [*self.known, *controls])
            if share >= JOINTLY and not self._untouched(free[name]):
                yield Leak(name, "determines outcome", share, rows)


class _Action:
    """The action of each row's decision, where one could be taken."""

    def __init__(
        self, frame: pd.DataFrame, action: str, available: str | None, order: _Order
    ) -> None:
        text = levels_as_text(frame[action])
        self.levels = sorted_levels({level for level in text if level is not None})
        place = {level: i for i, level in enumerate(self.levels)}
        codes = np.array([place.get(level, -1) for level in text], np.int64)
        if available is not None:
            codes = np.where(flags(frame[available])[0] == 1, codes, -1)
        self.codes: Codes = codes[order.rows]
        self.before, self.after = order.codes_before(self.codes), order.codes_after(self.codes)

    def findings(
        self, name: str, column: pd.Series, series: Numbers | None, order: _Order
    ) -> Iterator[Leak]:
        if not 2 <= len(self.levels) <= FEWEST_OF_LEVEL:
            return
        cells = column.iloc[order.rows]
        classes = self._classes(cells, series)
        if (leak := self._without(name, cells)) is not None:
            yield leak
            return
        rows = int(((self.codes >= 0) & (classes >= 0)).sum())
        share = self._share(self.codes, self.before, classes, series, order)
        if share >= ACTION:
            yield Leak(name, "determines action", share, rows)
            return
        share = self._share(self.after, self.codes, classes, series, order)
        if share >= ACTION:
            yield Leak(name, "determines later action", share, rows)

    @staticmethod
    def _classes(cells: pd.Series, series: Numbers | None) -> Codes:
        if series is not None:
            return in_classes(series)
        return pd.factorize(cells)[0].astype(np.int64)  # -1 where missing

    @staticmethod
    def _share(
        action: Codes, before: Codes, classes: Codes, series: Numbers | None, order: _Order
    ) -> float:
        past = level_explained(action, before)
        shares = [beyond(level_explained(action, classes), past)]
        if series is not None:
            rise = series - order.before(series)  # of counts of all so far
            shares.append(beyond(level_explained(action, in_classes(rise)), past))
            for each in (series, rise):
                used = np.where(action >= 0, each, np.nan)
                shares.append(beyond(mean_explained(used, action), mean_explained(used, before)))
        return max(shares)

    def _without(self, name: str, cells: pd.Series) -> Leak | None:
        """Empty, or of one value, wherever the action has one level, and not so elsewhere."""
        codes, levels = pd.factorize(cells)  # -1 where missing
        codes = np.where(codes < 0, len(levels), codes)
        for place, level in enumerate(self.levels):
            here, there = self.codes == place, (self.codes >= 0) & (self.codes != place)
            if min(here.sum(), there.sum()) < FEWEST_OF_LEVEL:
                continue
            seen = np.bincount(codes[here], minlength=len(levels) + 1)
            usual = int(seen.argmax())
            share = float(seen[usual] / here.sum())
            elsewhere = float((codes[there] == usual).mean())
            if share >= WITHOUT_ACTION and elsewhere <= WITH_ACTION:
                empty = usual == len(levels)
                why: Why = "empty without action" if empty else "constant without action"
                value = "" if empty else level_text(levels[usual])
                return Leak(name, why, share, int(here.sum()), level=level, value=value)
        return None
