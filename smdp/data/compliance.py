"""Who answered, when: the people with a row, and with an outcome, at each decision or day."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import NextValue
from smdp.data.decisions import parse_dates
from smdp.data.measured import outcomes
from smdp.data.name_words import name_parts
from smdp.data.over_time import Spans, spans
from smdp.data.study import Study
from smdp.data.variables import Variable
from smdp.errors import DataError
from smdp.text import percent, plural

ROW, OUTCOME, IN_STUDY = "with a row", "with the outcome", "still in the study"
ANSWERED = "of the usual rows"
DAY, DECISION = "Day in the study", "Decision number"
MOST_DAYS = 5_000
#: A state that counts these tells what was on the same day.
COUNTED = frozenset(("day", "days", "week", "weeks", "tag", "woche", "jour", "semaine"))


@dataclass(frozen=True, eq=False)
class Days:
    """The day, or week, of each row: `number` (n, R), whole numbers, NaN where there is none.

    `called`: as an axis is called.
    """

    called: str
    number: NDArray[np.float64]

    @property
    def usual(self) -> int:
        """How many rows most people have on their fullest day."""
        who, when = np.nonzero(np.isfinite(self.number))
        rows = pd.Series(when).groupby([who, self.number[who, when]]).size()
        fullest = rows.groupby(level=0).max()
        return int(fullest.mode().iloc[-1])

    @property
    def first(self) -> int:
        return int(np.nanmin(self.number))

    @property
    def spans(self) -> Spans:
        """Days taken together, from the first one on."""
        together = spans(int(np.nanmax(self.number)) - self.first + 1)
        return Spans(together.first + self.first - 1, together.last + self.first - 1)


def days_of(study: Study) -> tuple[Days, ...]:
    """The ways to say which rows are of one day, best first: by their dates, by a state of theirs.

    None where nobody has several rows on a day: then a decision is a day.
    """
    found = [Days(DAY, dated)] if (dated := _dated(study)) is not None else []
    for column, variable in enumerate(study.variables):
        if _counts_days(variable):
            found.append(Days(variable.name, study.values[:, :, column]))
    return tuple(each for each in found if _several_a_day(each.number))


def describe_days(days: Days) -> str:
    """What stands behind the shares of a day."""
    return (
        f"Usual: {plural(days.usual, 'row')}, as many as most people have on their fullest day. "
        "A person counts with a row on a day if there is at least one."
    )


def _counts_days(variable: Variable) -> bool:
    words = not COUNTED.isdisjoint(name_parts(variable.name))
    return words and not variable.whole and variable.kind != "nominal"


def _dated(study: Study) -> NDArray[np.float64] | None:
    """Days from each person's first one, which is 1; None where times are no dates."""
    who, when = np.nonzero(study.present)
    texts = pd.Series(study.times[who, when])
    if not texts.str.contains("[-./: ]", regex=True).all():  # a bare number is no date
        return None
    try:
        dates = parse_dates(texts, who)
    except DataError:
        return None
    day = pd.Series(dates.to_numpy("datetime64[D]").astype(np.int64))
    number = np.full(study.present.shape, np.nan)
    number[who, when] = day - day.groupby(who).transform("min") + 1
    return number


def _several_a_day(number: NDArray[np.float64]) -> bool:
    """Whether these are whole numbers that never fall, and that several rows of a person share."""
    seen = np.isfinite(number)
    values = number[seen]
    if not len(values) or (values != np.round(values)).any() or np.ptp(values) > MOST_DAYS:
        return False
    who = np.nonzero(seen)[0]
    same, step = np.diff(who) == 0, np.diff(values)
    return bool((step[same] >= 0).all() and (step[same] == 0).any() and (step[same] > 0).any())


def compliance_by_day(study: Study, days: Days) -> pd.DataFrame:
    """On each day, or on several together: which share of all people was observed at all, and how
    many rows there are of those that there would be if everybody had as many as is usual."""
    people, number = len(study.subjects), days.number
    who, when = np.nonzero(np.isfinite(number) & study.present)
    day = (number[who, when] - days.first).astype(np.int64)
    answered = _with_outcome(study)[who, when]
    shape = (people, int(day.max()) + 1)
    rows, with_outcome = np.zeros(shape, np.int64), np.zeros(shape, bool)
    np.add.at(rows, (who, day), 1)
    with_outcome[who[answered], day[answered]] = True
    last = np.full(people, -1)
    np.maximum.at(last, who, day)
    any_row = rows > 0
    starts = spans(shape[1]).first - 1
    shares = {
        ROW: any_row.mean(axis=0),
        OUTCOME: with_outcome.mean(axis=0),
        IN_STUDY: (np.arange(shape[1]) <= last[:, None]).mean(axis=0),
    }
    if not answered.any():
        del shares[OUTCOME]
    shares[ANSWERED] = np.minimum(rows, days.usual).mean(axis=0) / days.usual
    return pd.DataFrame(
        {
            "first day": days.spans.first,
            "last day": days.spans.last,
            **{name: _together(share, starts) for name, share in shares.items()},
        }
    )


def compliance_table(study: Study) -> pd.DataFrame:
    """At each decision, or at several together: which share of all people was observed.

    `still in the study`: those who have a row then or later.
    """
    seen = _with_outcome(study)
    together = spans(study.present.shape[1])
    shares = {
        ROW: study.present.mean(axis=0),
        OUTCOME: np.where(_possible(study), seen.mean(axis=0), np.nan),
        IN_STUDY: study.on_grid.mean(axis=0),
    }
    if not seen.any():
        del shares[OUTCOME]  # as in a study without one
    return pd.DataFrame(
        {
            "first decision": together.first,
            "last decision": together.last,
            **{name: _together(share, together.first - 1) for name, share in shares.items()},
        }
    )


def describe_compliance(study: Study) -> str:
    """How much of the study a person took part in."""
    decisions = study.present.shape[1]
    rows = study.present.mean(axis=1)
    possible = max(int(_possible(study).sum()), 1)
    answered = _with_outcome(study).sum(axis=1) / possible
    text = f"Of {plural(decisions, 'decision')}, a person has a row at {_on_average(rows)}"
    if not answered.any():
        return f"{text}."
    return f"{text}, and an observed outcome at {_on_average(answered)}."


def _on_average(shares: NDArray[np.float64]) -> str:
    lowest, mean, highest = (percent(float(f(shares))) for f in (np.min, np.mean, np.max))
    if lowest == highest:
        return mean
    return f"{mean} on average (from {lowest} to {highest})"


def _with_outcome(study: Study) -> NDArray[np.bool_]:
    return np.isfinite(outcomes(study))


def _possible(study: Study) -> NDArray[np.bool_]:
    """(R,): whether a decision can have an outcome; the last one has no next value."""
    decisions = study.present.shape[1]
    last = isinstance(study.roles.utility, NextValue)
    return np.arange(decisions) < decisions - last


def _together(share: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    known = np.isfinite(share)
    count = np.add.reduceat(known, starts, dtype=np.int64)
    total = np.add.reduceat(np.where(known, share, 0.0), starts)
    return np.divide(total, count, out=np.full(len(starts), np.nan), where=count > 0)
