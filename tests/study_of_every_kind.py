"""A trial with variables of every kind: unequal lengths, gaps, missing values, three actions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.data.column_roles import ColumnRoles, StateVariable

ACTIONS = ("none", "walk", "relax")
WEATHER = ("sun", "rain", "snow", "fog", "hail", "dust")
CHEERFUL = ("good", "sleep", "friends", "music", "happy")
TIRED = ("tired", "work", "boss", "headache", "late")
USUAL = ("the", "today", "and", "was", "home")


def table_of_every_kind(people: int = 36, decisions: int = 26, seed: int = 5) -> pd.DataFrame:
    """What helps depends on the weather, on a vector of movements and on what was written."""
    random = np.random.default_rng(seed)
    rows = []
    for who in range(people):
        length = int(random.integers(decisions // 2, decisions + 1))
        weather, mood = "sun", 0.0
        move = random.normal(size=3)
        home = str(random.choice(["town", "village", "city"]))
        for t in range(1, length + 1):
            if random.random() > 0.3:
                weather = str(random.choice(WEATHER, p=[0.4, 0.3, 0.2, 0.08, 0.01, 0.01]))
            move = 0.6 * move + 0.8 * random.normal(size=3)
            mood = 0.5 * mood + random.normal()
            available = random.random() > 0.1
            action = int(random.integers(3)) if available else 0
            effect = (0.0, 2.0 * (weather == "sun") - 1.0, 1.5 * (mood < 0) - 0.5)[action]
            outcome = effect + 0.8 * move[0] - 0.8 * move[2] + 0.9 * mood + random.normal() * 0.5
            row = {
                "id": f"p{who:02d}",
                "day": t,
                "treatment": ACTIONS[action],
                "free": int(available),
                "weather": weather,
                "home": home,
                "move_x": round(move[0], 3),
                "move_y": round(move[1], 3),
                "move_z": round(move[2], 3),
                "diary": _text(mood, random),
                "stress": round(float(np.clip(random.normal(5, 2), 0, 10)), 1),
                "score": round(outcome, 3),
            }
            gone = random.random(4)
            row |= {"weather": None} if gone[0] < 0.08 else {}
            row |= {"move_y": None} if gone[1] < 0.08 else {}
            row |= {"diary": None} if gone[2] < 0.1 else {}
            row |= {"stress": None} if gone[3] < 0.08 else {}
            if t in (1, length) or random.random() > 0.06:  # else the decision has no row
                rows.append(row)
    return pd.DataFrame(rows)


def roles_of_every_kind(**more: object) -> ColumnRoles:
    return ColumnRoles(
        subject="id",
        time="day",
        action="treatment",
        states=[
            StateVariable("weather", "nominal"),
            StateVariable("home", "nominal"),
            StateVariable("move_x", group="movement"),
            StateVariable("move_y", group="movement"),
            StateVariable("move_z", group="movement"),
            StateVariable("diary", "text"),
            StateVariable("stress", "continuous", 0, 15),
        ],
        utility="score",
        available="free",
        action_levels={name: name for name in ACTIONS},
        **more,  # type: ignore[arg-type]
    )


def _text(mood: float, random: np.random.Generator) -> str:
    own = CHEERFUL if mood + 0.5 * random.normal() > 0 else TIRED
    words = [*random.choice(own, 3), *random.choice(USUAL, 2)]
    random.shuffle(words)
    return " ".join(words).capitalize() + "."
