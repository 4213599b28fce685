"""What is wrong or remarkable with a table, listed for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.errors import bounded

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Problem:
    """One finding: what it is about, what was found, and what to do about it."""

    severity: Severity
    about: str
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", bounded(self.message))
        object.__setattr__(self, "remedy", bounded(self.remedy))

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()
