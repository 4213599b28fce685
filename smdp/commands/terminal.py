"""What the commands say: lines on standard output, a progress bar where somebody watches."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

from smdp.progress import facts_of

BAR = 24
SECONDS_BETWEEN = 0.1
TOO_EARLY = 0.03  # share done before which the time left cannot be told


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


class ProgressBar:
    """A `Progress` that draws one line on standard error if that is a terminal, else nothing."""

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        shown: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty() if shown is None else shown
        self._clock = clock
        self._began, self._drawn = clock(), float("-inf")

    def __call__(self, share: float, message: str) -> None:
        now = self._clock()
        if not self._shown or (now - self._drawn < SECONDS_BETWEEN and share < 1):
            return
        self._drawn = now
        share = min(max(share, 0.0), 1.0)
        full = round(BAR * share)
        known = facts_of(message).get("seconds_left")
        left = self._left(share, now - self._began, known)
        text = f"[{'#' * full}{'-' * (BAR - full)}] {100 * share:3.0f} %{left}  {message}"
        width = max(20, shutil.get_terminal_size().columns - 1)
        self._stream.write(f"\r{text[:width].ljust(width)}")
        self._stream.flush()

    def end(self) -> None:
        """Leave the line; what follows starts a new one."""
        if self._shown and self._drawn > float("-inf"):
            self._stream.write("\n")
            self._stream.flush()

    def _left(self, share: float, spent: float, known: float | None) -> str:
        if known is None and not TOO_EARLY <= share < 1:
            return ""
        seconds = round(spent * (1 - share) / share if known is None else known)
        return f"  {seconds // 60}:{seconds % 60:02d} left"
