"""How long work reports where it is, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Called with the share done (0 to 1) and what is being done; it may raise `Cancelled`.
Progress = Callable[[float, str], None]


class Message(str):
    """What is being done, in words, with facts beside them for those who must not read words."""

    facts: dict[str, Any]

    def __new__(cls, text: str, **facts: Any) -> Message:
        message = super().__new__(cls, text)
        message.facts = facts
        return message


class Cancelled(Exception):
    """Raised by a `Progress` callable to stop the work; nothing already done is lost.

    `finished`: where a part of the work is a result of its own, that result.
    """

    finished: object = None


def silent(share: float, message: str) -> None:
    """A `Progress` that says nothing."""


def part_of(progress: Progress, k: int, total: int) -> Progress:
    """The progress of the k-th of several pieces of work of about the same length."""
    return lambda share, message: progress((k + share) / total, message)


def between(progress: Progress, start: float, end: float, prefix: str = "") -> Progress:
    """The progress of a part of the work that takes the shares from `start` to `end`."""
    return lambda share, message: progress(
        start + share * (end - start), reworded(message, f"{prefix}{message}")
    )


def facts_of(message: str) -> dict[str, Any]:
    """The facts beside a message, none for a plain text."""
    return message.facts if isinstance(message, Message) else {}


def reworded(message: str, text: str, **more: Any) -> Message:
    """Other words with the same facts, and more of them."""
    return Message(text, **facts_of(message), **more)
