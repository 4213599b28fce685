"""What went wrong, in words a researcher can act on.

Every message names the column or setting, the offending value, and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST_NAME, LONGEST_MESSAGE = 120, 1_500
_LONG_NAME = re.compile(f"'([^']{{{LONGEST_NAME},}})'")


class SmdpError(Exception):
    """Base of all errors meant for people: what is wrong, and what to do about it."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        problem, remedy = bounded(problem), bounded(remedy)
        super().__init__(f"{problem} {remedy}".strip())
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.problem, self.remedy)


class ReadError(SmdpError):
    """A file could not be read as a table."""


class DataError(SmdpError):
    """A table was read, but its content cannot be analysed as asked."""


class SettingError(SmdpError):
    """A setting has a value that it cannot have."""


def bounded(message: str) -> str:
    """A message that fits on a page, however long the names in it are."""
    if len(message) <= LONGEST_NAME:
        return message
    message = _LONG_NAME.sub(lambda name: f"'{shorten(name[1])}'", message)
    return message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 1] + "…"


def shorten(value: object, limit: int = 60) -> str:
    """The value as text for a message: one line, never longer than `limit`."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listing(items: Iterable[object], limit: int = 5) -> str:
    """'a, b, c and 4 more': a readable list for a message."""
    values = [shorten(item) for item in items]
    head = ", ".join(values[:limit])
    return head if len(values) <= limit else f"{head} and {len(values) - limit} more"
