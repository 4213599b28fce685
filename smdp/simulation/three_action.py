"""A synthetic walking study with three actions. No real person is in it.

Twenty-four people recover from a knee operation. At 09:00 and at 18:00 a lottery with known
probabilities decides between nothing, a text message and a telephone call; `outcome_walked` is
the minutes walked in the three hours that follow. People stay for 22 to 30 slots, a few slots have
no row at all, and at some the person could not be reached (`available` 0: no action, no lottery).

The truth that was planted
--------------------------
    outcome_walked = 26 - 1.5 fatigue - 5 rain + 9 [message and pain <= 4] + 12 [call and mood <= 3]
                     + noise with deviation 6, at least 0

So a message helps when pain is low, a call when mood is low, and either does nothing otherwise.
Walking more than 20 minutes raises the pain of the next slot a little, and pain raises fatigue.
`age` and `sleep` are pure noise.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.settings import require

ACTIONS = ("none", "message", "call")
WALKING_STATES = ("age", "pain", "mood", "fatigue", "sleep", "rain")

_FIRST_MONDAY = np.datetime64("2024-03-04T00:00")
_SLOT_HOURS = (9, 18)
_SELF_REPORTS = ("pain", "mood", "fatigue", "sleep")


def three_action(seed: int = 24, *, subjects: int = 24) -> pd.DataFrame:
    """The synthetic study, one row for each person and slot that has one."""
    require(subjects >= 1, "subjects", "at least 1", subjects)
    rng = np.random.default_rng(seed)
    width = max(2, len(str(subjects)))
    people = [_one_person(f"P{i:0{width}d}", rng) for i in range(1, subjects + 1)]
    frame = pd.concat(people, ignore_index=True)
    frame.attrs["synthetic"] = True
    return frame


def _one_person(person: str, rng: np.random.Generator) -> pd.DataFrame:
    slots = int(rng.integers(22, 31))
    first_day = int(rng.integers(0, 28))
    age = int(rng.integers(45, 76))
    pain, mood, fatigue, sleep = 5.0, 4.0, 5.0, 7.0
    walked = 20.0
    rows = []
    for slot in range(slots):
        pain = _whole(1.2 + 0.7 * pain + 0.04 * (walked - 20) + rng.normal(0, 1.5), 0, 10)
        mood = _whole(1.6 + 0.6 * mood + rng.normal(0, 1.2), 1, 7)
        fatigue = _whole(1.4 + 0.4 * fatigue + 0.25 * pain + rng.normal(0, 1.3), 0, 10)
        sleep = _whole(7 + rng.normal(0, 1.2), 3, 11)
        rain = int(rng.random() < 0.3)
        available = int(rng.random() < 0.92)
        chances = _chances(fatigue)
        action = ACTIONS[int(rng.choice(3, p=chances))] if available else None
        walked = _minutes(pain, mood, fatigue, rain, action, rng)
        rows.append(
            {
                "person": person,
                "time": _slot_time(first_day, slot),
                "age": age,
                "pain": pain,
                "mood": mood,
                "fatigue": fatigue,
                "sleep": sleep,
                "rain": rain,
                "available": available,
                "action": action,
                **{
                    f"prob_{name}": chance if available else np.nan
                    for name, chance in zip(ACTIONS, chances, strict=True)
                },
                "outcome_walked": walked,
            }
        )
    return _with_gaps(pd.DataFrame(rows), rng)


def _chances(fatigue: float) -> tuple[float, float, float]:
    """The trial's own rule: tired people are called less often."""
    return (0.6, 0.3, 0.1) if fatigue >= 6 else (0.4, 0.35, 0.25)


def _minutes(
    pain: float,
    mood: float,
    fatigue: float,
    rain: int,
    action: str | None,
    rng: np.random.Generator,
) -> float:
    helped = 9 * (action == "message" and pain <= 4) + 12 * (action == "call" and mood <= 3)
    expected = 26 - 1.5 * fatigue - 5 * rain + helped
    return _whole(expected + rng.normal(0, 6), 0, 180)


def _slot_time(first_day: int, slot: int) -> np.datetime64:
    hours = 24 * (first_day + slot // 2) + _SLOT_HOURS[slot % 2]
    return (_FIRST_MONDAY + np.timedelta64(hours, "h")).astype("datetime64[s]")


def _with_gaps(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Skip up to two slots, never the first or the last, and blank some answers and outcomes."""
    skipped = rng.choice(np.arange(1, len(frame) - 1), int(rng.integers(0, 3)), replace=False)
    frame = frame[~frame.index.isin(skipped)].reset_index(drop=True)
    names = list(_SELF_REPORTS)
    lost: NDArray[np.bool_] = rng.random((len(frame), len(names))) < 0.06
    frame[names] = frame[names].mask(lost)
    frame["outcome_walked"] = frame["outcome_walked"].mask(rng.random(len(frame)) < 0.02)
    return frame


def _whole(value: float, low: int, high: int) -> float:
    return float(np.clip(np.rint(value), low, high)) + 0.0  # never minus zero
