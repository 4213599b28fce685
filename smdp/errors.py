"""What went wrong, in words a researcher can act on.

Every message names the column or setting, the offending value, and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable


class SmdpError(Exception):
    """Base of all errors meant for people: what is wrong, and what to do about it."""

    def __init__(self, problem: str, remedy: str = "") -> None:
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


def shorten(value: object, limit: int = 60) -> str:
    """The value as text for a message: one line, never longer than `limit`."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def listing(items: Iterable[object], limit: int = 5) -> str:
    """'a, b, c and 4 more': a readable list for a message."""
    values = [shorten(item) for item in items]
    head = ", ".join(values[:limit])
    return head if len(values) <= limit else f"{head} and {len(values) - limit} more"
