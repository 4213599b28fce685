"""Screenings by person of a small simulated trial, whole and in parts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pandas as pd

from smdp.data.trajectories import Trajectories
from smdp.screening import ScreeningResult, screen
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.generative_model import simulate


@cache
def small_trajectories(variables: int = 8) -> Trajectories:
    """The utility depends on S1 to S4."""
    whole = simulate("exp", subjects=20, times=40, seed=5)
    return whole.select(tuple(f"S{k}" for k in range(1, variables + 1)))


@cache
def screened(**settings: object) -> ScreeningResult:
    return screen(small_trajectories(), ScreeningSettings(**settings), seed=1)  # type: ignore[arg-type]


def with_arrows(result: ScreeningResult, arrows: dict[tuple[str, str], float]) -> ScreeningResult:
    """The result with these arrows' p-values, those for the family four times as large."""
    rows = [(*ends, p, min(4 * p, 1.0)) for ends, p in arrows.items()]
    frame = pd.DataFrame(rows, columns=["source", "target", "p_value", "family_p"])
    return replace(result, arrows=frame)
