"""How long work reports where it is, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable

#: Called with the share done (0 to 1) and what is being done; it may raise `Cancelled`.
Progress = Callable[[float, str], None]


class Cancelled(Exception):
    """Raised by a `Progress` callable to stop the work; nothing already done is lost.

    `finished`: where a part of the work is a result of its own, that result.
    """

    finished: object = None


def silent(share: float, message: str) -> None:
    """A `Progress` that says nothing."""
