"""A first guess of what each column is, from its name and its values; always correctable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_datetime64_any_dtype

from smdp.data.arrange import guess_kind
from smdp.data.checks import MOST_ACTIONS
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.columns import (
    flags,
    is_text,
    level_text,
    numbers,
    sorted_levels,
    two_words,
    unique_finite,
)
from smdp.data.decisions import parse_dates
from smdp.data.leaks import find_leaks_of
from smdp.data.nominal import MOST_KEPT
from smdp.data.text_embedding import words_of
from smdp.data.variables import Kind
from smdp.errors import DataError
from smdp.text import shorten

Role = Literal[
    "subject", "time", "action", "state", "utility", "available", "probability", "ignore"
]
ROLES: tuple[Role, ...] = (
    "subject", "time", "action", "state", "utility", "available", "probability", "ignore",
)  # fmt: skip

_START, _END = r"(^|[_.\s-])", r"($|[_.\s-]|\d)"
# Words that names are made of, the most telling first.
SUBJECT = ("subject", "participant", "patient", "student", "person", "record_id", "subj", "user",
           "userid", "respondent", "client", "pid", "id", "case", "proband",
           "teilnehmer")  # fmt: skip
TIME = ("time", "datetime", "timestamp", "decision", "decision_number", "report", "occasion",
        "beep", "date", "visit", "wave", "observation", "obs", "t", "index", "day", "week",
        "session", "datum", "zeit", "zeitpunkt", "tag")  # fmt: skip
ACTION = ("action", "treatment", "treat", "treated", "trt", "arm", "intervention", "module",
          "send", "sent", "prompt", "suggestion", "message", "a", "dose", "randomized",
          "randomised", "condition", "therapy", "behandlung")  # fmt: skip
AVAILABLE = ("available", "availability", "avail", "eligible", "reachable")
PROBABILITY = ("prob", "probability", "propensity", "rand_prob", "randprob", "pi")
UTILITY = ("utility", "reward", "outcome", "response", "proximal", "y", "u")
#: Of these, as a part of a name they say more often when something was measured.
UTILITY_AS_WHOLE_NAME = ("response",)
BOOKKEEPING = ("include", "included", "excluded", "analysis", "complete", "flag", "valid",
               "comment", "comments", "note", "notes", "redcap", "row")  # fmt: skip
HARM = ("cigs", "cig", "cigarettes", "smoked", "smoking", "drinks", "alcohol", "pain", "symptoms",
        "craving", "relapse", "binge", "use")  # fmt: skip
#: Texts of fewer words on average are names or codes.
FEWEST_WORDS = 3
#: Of the rows, at most, that have the time of another one.
MOST_DOUBLED = 0.1
#: With more columns, what may be known only after the decision is not taken for a state.
MANY_COLUMNS = 20
GOOD = ("steps", "activity", "exercise", "mood", "wellbeing", "adherence", "sleep")


def named(names: Iterable[str], words: tuple[str, ...]) -> list[str]:
    """The names made of one of these words: whole names in the words' order, then the others."""
    pattern = re.compile(f"{_START}({'|'.join(words)}){_END}", re.IGNORECASE)
    place = {word: i for i, word in enumerate(words)}
    matches = [name for name in names if pattern.search(name)]
    return sorted(matches, key=lambda name: place.get(name.lower(), len(words)))


@dataclass(frozen=True)
class ColumnGuess:
    """One column's guessed role, type and the reason in words.

    `doubt`: of a column that is left out for it, why it looks as if known only after the decision.
    """

    column: str
    role: Role
    kind: Kind | None
    why: str
    doubt: str = ""


@dataclass(frozen=True)
class RoleGuess:
    """Every column's guess, and a utility that is a state's next value where no column is one."""

    columns: tuple[ColumnGuess, ...]
    next_value: NextValue | None

    def first(self, role: Role) -> str | None:
        return next((c.column for c in self.columns if c.role == role), None)


def guess_columns(frame: pd.DataFrame) -> RoleGuess:
    """What each column seems to be."""
    frame = frame.copy(deep=False)
    frame.attrs = {}  # labels of thousands of columns would be copied with each column
    names = [str(c) for c in frame.columns]
    taken: dict[str, tuple[Role, str]] = {}

    def take(role: Role, words: tuple[str, ...], fits: Callable[[str], bool]) -> str | None:
        for name in named(names, words):
            if name not in taken and fits(name):
                taken[name] = (role, f"called '{shorten(name, 30)}'")
                return name
        return None

    def take_by_name(
        role: Role, words: tuple[str, ...], fits: Callable[[str], bool] = lambda name: True
    ) -> str | None:
        """A column that is called so although its values do not fit: then the misfit is told."""
        for name in names:
            if name not in taken and name.lower() in words and fits(name):
                taken[name] = (role, f"called '{shorten(name, 30)}', but look at its values")
                return name
        return None

    subject = take("subject", SUBJECT, lambda c: _repeats(frame[c])) or _repeating(frame, names)
    if subject is not None and subject not in taken:
        taken[subject] = ("subject", "its values repeat in blocks")
    time = take("time", TIME, lambda c: _orders(frame, subject, c))
    if time is None:  # words among the times: better complain of them than take another column
        time = take_by_name("time", TIME, lambda c: is_text(frame[c]))
    if time is None:
        free = [name for name in names if name not in taken]
        time = next((c for c in free if _orders(frame, subject, c)), None)
        doubled = next((c for c in free if _nearly_orders(frame, subject, c)), None)
        if time is not None and (_is_time(frame[time]) or _counts(frame, subject, time)):
            taken[time] = ("time", "one value for each row of a subject")
        elif doubled is not None:
            time = doubled
            taken[time] = ("time", "dates, but some rows of a subject have the same")
        else:
            time = take_by_name("time", TIME)
    take("available", AVAILABLE, lambda c: _is_flag(frame[c]))
    probabilities = [c for c in named(names, PROBABILITY) if c not in taken and _is_share(frame[c])]
    taken |= dict.fromkeys(probabilities, ("probability", "a share between 0 and 1, by its name"))
    action = take("action", ACTION, lambda c: _is_action(frame, subject, c))
    action = action or take_by_name("action", ACTION)
    utility = _utility(frame, [name for name in names if name not in taken])
    if utility is not None:
        taken[utility] = ("utility", f"called '{shorten(utility, 30)}'")
        for name in names:
            if name not in taken and _repeats_values(frame[name], frame[utility]):
                taken[name] = ("ignore", f"repeats the utility '{shorten(utility, 30)}'")
    if time is not None and _share_times(frame[time]):
        for name in names:
            if name not in taken and _follows(frame[name], frame[time]):
                taken[name] = ("ignore", f"follows from '{shorten(time, 30)}', the same for all")
    guesses = tuple(_settle(frame, name, taken.get(name)) for name in names)
    next_value = None if utility or action is None else _next_value(guesses)
    if len(names) > MANY_COLUMNS:
        guesses = _without_suspects(frame, guesses, utility or next_value)
    return RoleGuess(guesses, next_value)


def guess_roles(frame: pd.DataFrame) -> ColumnRoles:
    """The guess as `ColumnRoles`, or an error that says which role no column seems to have."""
    guess = guess_columns(frame)
    found = {role: guess.first(role) for role in ("subject", "time", "action")}
    utility = guess.first("utility") or guess.next_value
    missing = [role for role, name in found.items() if name is None]
    missing += [] if utility else ["utility"]
    if missing:
        raise DataError(
            f"No column looks like the {' or the '.join(missing)}.",
            "Give the roles with ColumnRoles(...).",
        )
    probabilities = [c.column for c in guess.columns if c.role == "probability"]
    return ColumnRoles(
        subject=str(found["subject"]),
        time=str(found["time"]),
        action=str(found["action"]),
        states=[StateVariable(c.column, c.kind) for c in guess.columns if c.role == "state"],
        utility=utility or "",
        available=guess.first("available"),
        probability=match_probabilities(frame, str(found["action"]), probabilities),
    )


def match_probabilities(
    frame: pd.DataFrame, action: str, columns: list[str]
) -> str | dict[str, str | float] | None:
    """One column for two actions; for more, each level's column by the level in its name."""
    levels = sorted_levels({level_text(v) for v in frame[action].dropna().unique()})
    if len(columns) == 1 and len(levels) == 2:
        return columns[0]
    by_level: dict[str, str | float] = {}
    for level in levels:
        ending = re.compile(f"{_START}{re.escape(level)}$", re.IGNORECASE)
        match = next((c for c in columns if ending.search(c)), None)
        if match is not None:
            by_level[level] = match
    return by_level if len(by_level) >= len(levels) - 1 > 0 else None


def _utility(frame: pd.DataFrame, names: list[str]) -> str | None:
    """The one column that is called an outcome; where several are, nobody is guessed wrongly."""
    fitting = [name for name in named(names, UTILITY) if _varies(frame[name])]
    whole = [name for name in fitting if name.lower() in UTILITY]
    parts = tuple(word for word in UTILITY if word not in UTILITY_AS_WHOLE_NAME)
    found = whole or named(fitting, parts)
    alike = [name for name in found if not _repeats_values(frame[name], frame[found[0]])]
    return found[0] if whole or (found and not alike) else None


def _without_suspects(
    frame: pd.DataFrame, guesses: tuple[ColumnGuess, ...], outcome: str | NextValue | None
) -> tuple[ColumnGuess, ...]:
    """The guess, without states that may be known only after the decision."""
    first = {guess.role: guess.column for guess in reversed(guesses)}
    leaks = find_leaks_of(
        frame,
        [guess.column for guess in guesses if guess.role == "state"],
        subject=first.get("subject"),
        time=first.get("time"),
        action=first.get("action"),
        available=first.get("available"),
        outcome=outcome,
    )
    why = {leak.column: leak.describe() for leak in reversed(leaks)}
    if isinstance(outcome, NextValue):
        why.pop(outcome.variable, None)
    return tuple(
        replace(
            guess,
            role="ignore",
            kind=None,
            why=f"known before the decision? {why[name]}",
            doubt=why[name],
        )
        if (name := guess.column) in why
        else guess
        for guess in guesses
    )


def _repeats(column: pd.Series) -> bool:
    distinct = column.nunique()
    return 2 <= distinct <= len(column) / 2 and not column.isna().any()


def _repeating(frame: pd.DataFrame, names: list[str]) -> str | None:
    """The first column whose values come in unbroken blocks of two rows or more."""
    for name in names:
        column = frame[name]
        if _repeats(column) and (is_text(column) or guess_kind(numbers(column)[0]) == "ordinal"):
            blocks = int((column != column.shift()).sum())
            if blocks == column.nunique() >= 3:
                return name
    return None


def _is_time(column: pd.Series) -> bool:
    if is_datetime64_any_dtype(column):
        return True
    if is_text(column):
        try:
            parse_dates(column)
        except DataError:
            return False
        return True
    return False


def _counts(frame: pd.DataFrame, subject: str | None, name: str) -> bool:
    """Whole numbers that rise within each subject."""
    values, bad = numbers(frame[name])
    if subject is None or len(bad) or not np.all(values == np.round(values)):
        return False
    return bool((pd.Series(values).groupby(frame[subject].to_numpy()).diff().dropna() > 0).all())


def _orders(frame: pd.DataFrame, subject: str | None, name: str) -> bool:
    """Whether the column could tell a subject's rows apart in time."""
    column = frame[name]
    if subject is None or column.isna().any() or frame[[subject, name]].duplicated().any():
        return False
    if is_text(column):
        return _is_time(column)
    return is_datetime64_any_dtype(column) or bool(np.isfinite(numbers(column)[0]).all())


def _nearly_orders(frame: pd.DataFrame, subject: str | None, name: str) -> bool:
    """Dates that tell nearly all of a subject's rows apart: rows may have been entered twice."""
    if subject is None or frame[name].isna().any():
        return False
    twice = float(frame[[subject, name]].duplicated().mean())
    return twice < MOST_DOUBLED and _is_time(frame[name])


def _is_flag(column: pd.Series) -> bool:
    values, bad = flags(column)
    return not len(bad) and bool(np.isfinite(values).any())


def _is_share(column: pd.Series) -> bool:
    values, bad = numbers(column)
    seen = values[np.isfinite(values)]
    return not len(bad) and len(seen) > 0 and bool(np.all((seen >= 0) & (seen <= 1)))


def _is_action(frame: pd.DataFrame, subject: str | None, name: str) -> bool:
    levels = frame[name].nunique()
    varies = subject is None or bool((frame.groupby(subject)[name].nunique() > 1).mean() > 0.5)
    return 2 <= levels <= MOST_ACTIONS and varies


def _varies(column: pd.Series) -> bool:
    values, bad = numbers(column)
    return not len(bad) and len(unique_finite(values)) > 1


def _repeats_values(column: pd.Series, other: pd.Series) -> bool:
    if is_text(column) or is_datetime64_any_dtype(column):
        return False
    a, b = numbers(column)[0], numbers(other)[0]
    both = np.isfinite(a) & np.isfinite(b)
    return bool(both.sum() >= 10 and np.allclose(a[both], b[both]))


def _share_times(time: pd.Series) -> bool:
    """Whether nearly all rows have a time that other rows have too."""
    codes = pd.factorize(time)[0]
    rows = np.bincount(codes[codes >= 0])
    return bool(rows[rows >= 2].sum() > 0.9 * len(time))


def _follows(column: pd.Series, time: pd.Series) -> bool:
    """Whether all subjects have the same value at the same time: no test at one time sees it."""
    first = column.groupby(time.to_numpy()).transform("first")
    same = (column == first) | column.isna()
    return bool(same.all() and column.nunique() > 1)


def _settle(frame: pd.DataFrame, name: str, taken: tuple[Role, str] | None) -> ColumnGuess:
    if taken is not None:
        return ColumnGuess(name, taken[0], None, taken[1])
    column = frame[name]
    if named([name], BOOKKEEPING):
        return ColumnGuess(name, "ignore", None, "looks like bookkeeping")
    if is_datetime64_any_dtype(column):
        return ColumnGuess(name, "ignore", None, "a date")
    values, bad = numbers(column)
    if len(bad) > 0.5 * column.notna().sum():
        return _of_words(name, column)
    if not np.isfinite(values).any():
        return ColumnGuess(name, "ignore", None, "empty")
    words = two_words(column)
    why = f"{words[0]} = 0, {words[1]} = 1" if words else "a number"
    return ColumnGuess(name, "state", guess_kind(values), why)


def _of_words(name: str, column: pd.Series) -> ColumnGuess:
    """A nominal variable where a few words come again and again, a text where people wrote."""
    seen = column.dropna()
    distinct = seen.nunique()
    some = pd.Series(seen.unique()[:500])
    if _is_time(some):
        return ColumnGuess(name, "ignore", None, "a date")
    if 2 < distinct <= MOST_KEPT and distinct <= len(seen) / 5:
        return ColumnGuess(name, "state", "nominal", f"{distinct} different words")
    # By the spaces between them: names of apps and lists of tags are no sentences.
    lengths = [sum(bool(words_of(part)) for part in str(text).split()) for text in some]
    if distinct > MOST_KEPT and np.mean(lengths) >= FEWEST_WORDS:
        return ColumnGuess(name, "state", "text", "sentences in people's own words")
    why = "text; make it nominal, or recode it as numbers, to use it as a state"
    return ColumnGuess(name, "ignore", None, why)


def _next_value(guesses: tuple[ColumnGuess, ...]) -> NextValue | None:
    states = [g.column for g in guesses if g.role == "state" and g.kind not in ("nominal", "text")]
    harm, good = named(states, HARM), named(states, GOOD)
    if harm:
        return NextValue(harm[0], -1)
    return NextValue(good[0], 1) if good else None
