"""Keep, refit or withdraw: by rules that were fixed before the new data were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import quantile
from smdp.validation.likeness import Likeness
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.sufficiency import MapHolds
from smdp.validation.worth import VALUE

Decision = Literal["keep", "refit", "withdraw", "cannot tell"]
#: What a reason is about, in the order in which reasons are looked at.
About = Literal["gain", "people", "map", "prediction"]
#: The reasons that can ask for a refit share its level.
REFIT_REASONS = 3


@dataclass(frozen=True)
class Ground:
    """One thing that was looked at: what it speaks for, or that it could not be looked at.

    `speaks_for`: "" where it speaks for nothing.
    """

    about: About
    speaks_for: Decision | Literal[""]
    checked: bool
    why_not: str = ""


@dataclass(frozen=True)
class Verdict:
    """On one policy. `gain_lower`, `gain_upper`: one-sided limits of the gain over what was done,
    at the level of withdrawing; `margin`: in the outcome's units.
    """

    policy: str
    decision: Decision
    reasons: tuple[Ground, ...]
    gain: float
    gain_lower: float
    gain_upper: float
    margin: float

    def reason(self, about: About) -> Ground:
        return next(each for each in self.reasons if each.about == about)


def judge(
    policy: str,
    settings: NewDataSettings,
    *,
    value: PolicyValue | None,
    why_no_value: str,
    spread: float,
    people: Likeness | None,
    why_no_people: str,
    map_holds: MapHolds | None,
    why_no_map: str,
    beside: pd.DataFrame | None,
    gain_comparable: bool,
    why_not_beside: str,
) -> Verdict:
    """The rules of `NewDataSettings`. `spread`: the outcome's standard deviation there."""
    gain, lower, upper = _gain(value, settings.withdraw_level)
    margin = settings.margin * spread
    reasons = (
        _of_gain(value, why_no_value, lower, upper, margin),
        _of_people(people, why_no_people, settings),
        _of_map(map_holds, why_no_map, settings),
        _of_prediction(beside, gain_comparable, why_not_beside, settings),
    )
    return Verdict(policy, _decision(reasons), reasons, gain, lower, upper, margin)


def share_of_level(settings: NewDataSettings) -> float:
    """The level of each reason for a refit."""
    return settings.refit_level / REFIT_REASONS


def _decision(reasons: Sequence[Ground]) -> Decision:
    spoken = [each.speaks_for for each in reasons]
    for decision in ("withdraw", "refit", "cannot tell"):
        if decision in spoken:
            return decision
    return "keep" if "keep" in spoken else "cannot tell"


def _gain(value: PolicyValue | None, level: float) -> tuple[float, float, float]:
    if value is None or not bool(value.gain["trusted"]):
        estimate = float("nan") if value is None else float(value.gain["estimate"])
        return estimate, float("nan"), float("nan")
    own = value.gain
    width = quantile(float(own["effective"]), 1 - 2 * level) * float(own["standard_error"])
    estimate = float(own["estimate"])
    return estimate, estimate - width, estimate + width


def _of_gain(
    value: PolicyValue | None, why_not: str, lower: float, upper: float, margin: float
) -> Ground:
    if value is None:
        return Ground("gain", "cannot tell", False, why_not)
    if not bool(value.gain["trusted"]):
        return Ground("gain", "cannot tell", False, str(value.gain["reason"]))
    if upper < 0:
        return Ground("gain", "withdraw", True)
    return Ground("gain", "keep" if lower > -margin or lower >= 0 else "cannot tell", True)


def _of_people(found: Likeness | None, why_not: str, settings: NewDataSettings) -> Ground:
    if found is None:
        return Ground("people", "", False, why_not)
    moved = found.p_value <= share_of_level(settings)
    return Ground("people", "refit" if moved else "", True)


def _of_map(found: MapHolds | None, why_not: str, settings: NewDataSettings) -> Ground:
    if found is None:
        return Ground("map", "", False, why_not)
    least = settings.least_share
    if found.first.share == found.first.share:  # known
        least = min(least, found.first.share)
    lost = found.p_value <= share_of_level(settings) and found.kept.high < least
    return Ground("map", "refit" if lost else "", True)


def _of_prediction(
    beside: pd.DataFrame | None, gain_comparable: bool, why_not: str, settings: NewDataSettings
) -> Ground:
    """Value and gain share the level of this reason."""
    if beside is None:
        return Ground("prediction", "", False, why_not)
    level = share_of_level(settings) / 2
    differ, checked = False, False
    for row in beside.to_dict("records"):
        if row["what"] != VALUE and not gain_comparable:
            continue
        error = row["standard_error"]
        if not error > 0:  # NaN where one of them has no interval
            continue
        checked = True
        differ |= abs(row["difference"]) > quantile(row["effective"], 1 - level) * error
    if not checked:
        return Ground("prediction", "", False, "One of the two has no interval.")
    return Ground("prediction", "refit" if differ else "", True)
