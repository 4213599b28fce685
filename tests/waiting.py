"""Waiting for what runs elsewhere: one way, that fails when the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def wait_until(
    condition: Callable[[], bool], seconds: float = 240.0, *, told: Callable[[], object] = str
) -> None:
    """Return once the condition holds; fail with what is `told` when the time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} seconds: {told()}"
        time.sleep(0.02)


def finish(app: Any, seconds: float = 240.0) -> Any:
    """The driven page once nothing that it started is at work; fails when the time is up.

    What has ended may have started something after it.
    """
    from dashboard.session import Key

    def idle() -> bool:
        return not any(job.active for job in app.at.session_state[Key.JOBS].values())

    rested = 0
    while rested < 2:  # between two jobs of one press nothing is at work for a moment
        wait_until(idle, seconds, told=lambda: app.text)
        page = app.run()
        rested = rested + 1 if idle() else 0
    return page
