"""What went wrong, in words a researcher can act on.

Every message names the column or setting, the offending value, and the remedy.
"""

from __future__ import annotations

import re

from smdp.text import shorten

LONGEST_NAME, LONGEST_MESSAGE = 120, 1_500
#: Not what stands between two names: a quote that opens has no letter before it.
_LONG_NAME = re.compile(rf"(?<!\w)'([^']{{{LONGEST_NAME},}})'")


class SmdpError(Exception):
    """Base of all errors meant for people: what is wrong, and what to do about it.

    `concerns`: what the remedy is about, by a name that never changes, so that a program can say
    where to find it on its screen.
    """

    def __init__(self, problem: str, remedy: str = "", concerns: str = "") -> None:
        problem, remedy = bounded(problem), bounded(remedy)
        super().__init__(f"{problem} {remedy}".strip())
        self.problem = problem
        self.remedy = remedy
        self.concerns = concerns

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        return type(self), (self.problem, self.remedy, self.concerns)


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
