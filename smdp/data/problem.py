"""What is wrong or remarkable with a table, listed for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from smdp.errors import bounded

Severity = Literal["error", "warning", "note"]

#: A condition on rows, for a formula: of those of a person at one time, it is true for the first.
FIRST_OF_TWINS = "is_missing(time_since_last()) or time_since_last() > 0"


@dataclass(frozen=True)
class Problem:
    """One finding: what it is about, what was found, and what to do about it.

    `concerns`: what the remedy is about, as in `smdp.errors.SmdpError`.
    """

    severity: Severity
    about: str
    message: str
    remedy: str = ""
    concerns: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", bounded(self.message))
        object.__setattr__(self, "remedy", bounded(self.remedy))

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()


def counted(problems: Iterable[Problem]) -> str:
    """'1 error and 2 warnings'; empty if there are none, notes not counted."""
    found = [problem.severity for problem in problems]
    counts = {kind: found.count(kind) for kind in ("error", "warning")}
    return " and ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n)
