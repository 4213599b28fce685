"""What may be met in the rows of a table while it is shaped: counted, and reported."""

from __future__ import annotations

from collections.abc import Mapping

from smdp.text import plural

BY_ZERO = "division by zero"
NOT_POSITIVE = "logarithm of a number that is not positive"
NEGATIVE_ROOT = "root of a negative number"
TOO_LARGE = "a number that is too large"
INFINITE = "an infinite number"
NO_NUMBER = "text that is no number"
NO_DATE = "text that is no date"
NO_CLOCK = "text that is no time of the day"
NO_ROW = "no person or no time"
DOUBLED = "the same person and time as another row"
LEFT_OUT = "missing values left out"


def in_words(found: Mapping[str, int]) -> list[str]:
    """'3 rows: division by zero', for each."""
    return [f"{plural(rows, 'row')}: {what}" for what, rows in found.items()]
