"""What each column of the two synthetic sample studies means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

ORIGIN = "synthetic: made by a computer, no real person"

Role = Literal[
    "subject", "time", "state", "action", "utility", "availability", "probability", "not used"
]
Measure = Literal["text", "whole number", "yes/no", "number", "date and time"]


@dataclass(frozen=True)
class Column:
    """One column: its short label, what it holds, and which values it may have."""

    name: str
    label: str
    measure: Measure
    range: str
    role: Role
    meaning: str
    value_labels: tuple[tuple[int, str], ...] = ()


NO_YES = ((0, "no"), (1, "yes"))

BASICS_COLUMNS = (
    Column("student", "Student", "text", "S01 to S30", "subject", "Code of a made-up student"),
    Column("report", "Report number", "whole number", "1 to 28", "time", "Two reports a day"),
    Column("day", "Day of study", "whole number", "1 to 14", "not used", "Follows from report"),
    Column(
        "period",
        "Time of day",
        "text",
        "afternoon, evening",
        "not used",
        "Odd reports: afternoon; even reports: evening",
    ),
    Column("age", "Age", "whole number", "18 to 25", "state", "Years, at baseline"),
    Column("female", "Female", "yes/no", "0 to 1", "state", "1 = female, at baseline", NO_YES),
    Column(
        "dependence",
        "Nicotine dependence",
        "whole number",
        "0 to 10",
        "state",
        "Sum score at baseline; 10 = strongest",
    ),
    Column(
        "quit_attempts",
        "Quit attempts",
        "whole number",
        "0 to 8",
        "state",
        "Earlier attempts to quit smoking, at baseline",
    ),
    Column(
        "weekend",
        "Weekend",
        "yes/no",
        "0 to 1",
        "state",
        "1 = the report falls on a Saturday or Sunday",
        NO_YES,
    ),
    Column("stress", "Stress", "whole number", "0 to 10", "state", "Now; 10 = most stressed"),
    Column("urge", "Urge to smoke", "whole number", "0 to 10", "state", "Now; 10 = strongest"),
    Column("mood", "Mood", "whole number", "0 to 10", "state", "Now; 10 = best"),
    Column("sleep", "Sleep", "whole number", "3 to 11", "state", "Hours in the last 24"),
    Column(
        "alcohol_urge", "Urge to drink", "whole number", "0 to 10", "state", "Now; 10 = strongest"
    ),
    Column("drinks", "Drinks", "whole number", "0 to 10", "state", "Since the last report"),
    Column(
        "confidence",
        "Confidence",
        "whole number",
        "0 to 10",
        "state",
        "In being able to quit; 10 = certain",
    ),
    Column(
        "peers", "Smokers nearby", "whole number", "0 to 6", "state", "People smoking in company"
    ),
    Column(
        "burden",
        "Burden of modules",
        "whole number",
        "0 to 8",
        "state",
        "How tiresome the modules have become; 8 = most",
    ),
    Column(
        "cigs",
        "Cigarettes",
        "whole number",
        "0 to 20",
        "state",
        "Smoked since the last report; the utility is minus its next value",
    ),
    Column(
        "module",
        "Module",
        "whole number",
        "0 to 1",
        "action",
        "Given after the report, by a coin (probability 1/2)",
        ((0, "informational"), (1, "treatment")),
    ),
)

_PROBABILITY_MEANING = "Known chance of this action; empty where the person was not available"

WALKING_COLUMNS = (
    Column("person", "Person", "text", "P01 to P24", "subject", "Code of a made-up person"),
    Column("time", "Slot", "date and time", "09:00 or 18:00", "time", "Two slots a day"),
    Column("age", "Age", "whole number", "45 to 75", "state", "Years, at baseline"),
    Column("pain", "Pain", "whole number", "0 to 10", "state", "Now; 10 = worst"),
    Column("mood", "Mood", "whole number", "1 to 7", "state", "Now; 7 = best"),
    Column("fatigue", "Fatigue", "whole number", "0 to 10", "state", "Now; 10 = most tired"),
    Column("sleep", "Sleep", "whole number", "3 to 11", "state", "Hours in the last 24"),
    Column("rain", "Rain", "yes/no", "0 to 1", "state", "1 = it rains", NO_YES),
    Column(
        "available",
        "Available",
        "yes/no",
        "0 to 1",
        "availability",
        "1 = an action could be taken",
        NO_YES,
    ),
    Column(
        "action",
        "Action",
        "text",
        "none, message, call",
        "action",
        "What the lottery chose; empty where the person was not available",
    ),
    Column("prob_none", "Chance of none", "number", "0 to 1", "probability", _PROBABILITY_MEANING),
    Column(
        "prob_message",
        "Chance of message",
        "number",
        "0 to 1",
        "probability",
        _PROBABILITY_MEANING,
    ),
    Column("prob_call", "Chance of call", "number", "0 to 1", "probability", _PROBABILITY_MEANING),
    Column(
        "outcome_walked",
        "Minutes walked",
        "whole number",
        "0 to 180",
        "utility",
        "In the three hours after the slot",
    ),
)


def dictionary_table(study: str, columns: tuple[Column, ...]) -> pd.DataFrame:
    """The dictionary of one study as a table, one row for each column."""
    return pd.DataFrame(
        {
            "study": study,
            "column": [c.name for c in columns],
            "label": [c.label for c in columns],
            "type": [c.measure for c in columns],
            "range": [c.range for c in columns],
            "role": [c.role for c in columns],
            "meaning": [_with_values(c) for c in columns],
            "origin": ORIGIN,
        }
    )


def _with_values(column: Column) -> str:
    if not column.value_labels or column.value_labels == NO_YES:
        return column.meaning
    values = ", ".join(f"{code} = {label}" for code, label in column.value_labels)
    return f"{column.meaning}: {values}"
