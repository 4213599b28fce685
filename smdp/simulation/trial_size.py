"""How many people a micro-randomised trial needs, by formula.

Continuous outcomes: Liao, Klasnja, Tewari and Murphy (2016), "Sample size calculations for
micro-randomized trials in mHealth", Statistics in Medicine 35, 1944-1971, as the R package
MRTSampleSize. Yes/no outcomes: Cohn, Qian and Murphy (2023), "Sample size considerations for
micro-randomized trials with binary proximal outcomes", Statistics in Medicine 42, 2777-2796, as
MRTSampleSizeBinary. Two actions; effect, availability and baseline are the same all day.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.errors import SettingError
from smdp.settings import Settings, require, setting

Shape = Literal["constant", "linear", "quadratic"]
Vector = NDArray[np.float64]

#: No trial is larger; what would need more is refused.
MOST_PEOPLE = 1_000_000
#: Liao et al. describe the outcome without treatment by a quadratic curve over days.
CONTINUOUS_CONTROLS = 3
PARAMETERS: dict[Shape, int] = {"constant": 1, "linear": 2, "quadratic": 3}

_SHAPES = {
    "constant": "The same on all days",
    "linear": "A straight line over days",
    "quadratic": "Up and down again (or down and up)",
}


@dataclass(frozen=True)
class TrialSizeSettings(Settings):
    """A trial as it is planned (`smdp.trial_size`)."""

    outcome: Literal["continuous", "yes/no"] = setting(
        "continuous",
        "Outcome after each decision",
        help="A number, such as steps in the next half hour, or yes/no, such as smoked or not.",
        choices={"continuous": "A number", "yes/no": "Yes or no"},
        control="radio",
    )
    days: int = setting(42, "Days", help="How long each person takes part.", least=1, most=3650)
    decisions: int = setting(
        5,
        "Decisions a day",
        help="How often a day it is decided at random whether to treat.",
        least=1,
        most=1440,
    )
    probability: float = setting(
        0.5,
        "Probability of treatment",
        help="With which each decision is for treatment. 0.5 needs the fewest people.",
        above=0,
        below=1,
        control="number",
    )
    effect_shape: Shape = setting(
        "constant",
        "Effect over the study",
        help="The same on all days; rising or falling steadily; or rising while the app is new and "
        "falling as people tire of it. The more freely it may change, the more people it takes.",
        choices=_SHAPES,
        control="select",
    )
    effect: float = setting(
        0.1,
        "Average standardised effect",
        help="The mean over days of: outcome with treatment minus outcome without, divided by the "
        "standard deviation of the outcome. 0.1 is small and usual for single messages.",
        above=0,
        control="number",
        given=(0.0, 3.0),
    )
    effect_first: float = setting(
        0.0,
        "Standardised effect on the first day",
        help="Often 0 for skills that take practice, and more than the average for what wears off.",
        control="number",
        given=(-3.0, 3.0),
    )
    ratio: float = setting(
        1.2,
        "Average risk ratio",
        help="How many times as likely 'yes' is with treatment as without. 1 is no effect. The "
        "geometric mean over days.",
        above=0,
        control="number",
        given=(0.0, 20.0),
    )
    ratio_first: float = setting(
        1.0,
        "Risk ratio on the first day",
        help="1: treatment does nothing on the first day.",
        above=0,
        control="number",
        given=(0.0, 20.0),
    )
    effect_peak: int = setting(
        28,
        "Day of the largest effect",
        help="The day on which the curve turns; for an effect that starts above its average, the "
        "day of the smallest.",
        least=1,
        most=36500,
    )
    baseline: float = setting(
        0.3,
        "Probability of yes without treatment, first day",
        help="Among people who are available and not treated, on the first day.",
        above=0,
        below=1,
        control="number",
    )
    baseline_last: float | None = setting(
        None,
        "Probability of yes without treatment, last day",
        help="If it changes during the study: by the same percentage each day.",
        empty="0: as on the first",
        above=0,
        below=1,
        control="number",
    )
    availability_shape: Shape = setting(
        "constant",
        "Availability over the study",
        help="People are available when they may be treated: not driving, not asleep, app on. "
        "Often it falls as people lose interest.",
        choices=_SHAPES,
        control="select",
    )
    availability: float = setting(
        0.7,
        "Average availability",
        help="The share of decisions at which a person is available. Half of it needs about twice "
        "as many people.",
        above=0,
        most=1.0,
        control="number",
    )
    availability_first: float = setting(
        0.7,
        "Availability on the first day",
        help="The share of the first day's decisions at which a person is available.",
        above=0,
        most=1.0,
        control="number",
    )
    availability_turn: int = setting(
        28,
        "Day on which availability turns",
        help="The day of the lowest availability, or of the highest where it rises first.",
        least=1,
        most=36500,
    )
    power: float = setting(
        0.8,
        "Power",
        help="The probability that the trial finds the effect if it is as large as said above.",
        above=0,
        below=1,
        control="number",
    )
    level: float = setting(
        0.05,
        "Significance level",
        help="The probability that the trial finds an effect where there is none.",
        above=0,
        below=1,
        control="number",
    )
    people: int | None = setting(
        None,
        "People you can have",
        help="If the number is fixed: the power of a trial with so many.",
        empty="0: as many as needed",
        least=1,
        most=MOST_PEOPLE,
    )

    @property
    def parameters(self) -> tuple[int, int]:
        """Of the effect, and of the outcome without treatment."""
        effect = PARAMETERS[self.effect_shape]
        if self.outcome == "continuous":
            return effect, CONTINUOUS_CONTROLS
        # The curve without treatment must be able to hold the centred effect (Cohn et al.).
        changes = self.baseline_last is not None and self.baseline_last != self.baseline
        return effect, max(effect, 2 if changes else 1)

    def check(self) -> None:
        require(self.power > self.level, "power", f"above the level, {self.level:g}", self.power)
        if self.outcome == "yes/no":
            flat = self.effect_shape == "constant" or self.ratio_first == 1
            require(not (self.ratio == 1 and flat), "ratio", "other than 1 (no effect)", self.ratio)
        for name in ("effect_shape", "availability_shape"):
            needed = PARAMETERS[getattr(self, name)]
            if self.days < needed:
                raise SettingError(
                    f"The setting '{name}' cannot be '{getattr(self, name)}' with {self.days} "
                    f"day{'s' if self.days > 1 else ''}.",
                    f"Plan at least {needed} days, or choose a simpler shape.",
                )
        if self.people is not None and self.people <= sum(self.parameters):
            raise SettingError(
                f"The setting 'people' is {self.people}, but the test has {sum(self.parameters)} "
                f"parameters ({self.parameters[0]} of the effect).",
                f"Plan at least {sum(self.parameters) + 1} people, or a simpler effect.",
            )


@dataclass(frozen=True, eq=False)
class TrialSize:
    """`needed` people give at least the power asked for; `power` is that of `people`.

    `curve`: people and power. `days`: day, effect (standardised, or the risk ratio), availability,
    and for yes/no outcomes baseline and treated, the probabilities of yes.
    """

    settings: TrialSizeSettings
    needed: int
    people: int
    power: float
    curve: pd.DataFrame
    days: pd.DataFrame


def trial_size(settings: TrialSizeSettings | None = None) -> TrialSize:
    """The number of people for the power asked for, and the power by number of people."""
    asked = settings or TrialSizeSettings()
    days, each = _by_day(asked), _noncentrality_of_one(asked)
    least = sum(asked.parameters) + 1
    needed = people_needed(each, *asked.parameters, asked.power, asked.level)
    people = asked.people or needed
    last = max(int(1.6 * needed), people, least + 10)
    grid = np.unique(np.append(np.linspace(least, last, 120).astype(int), [needed, people]))
    curve = [power_of(int(n), each, *asked.parameters, asked.level) for n in grid]
    power = power_of(people, each, *asked.parameters, asked.level)
    shown = pd.DataFrame({"people": grid, "power": curve})
    return TrialSize(asked, needed, people, power, shown, days)


def power_of(people: int, each: float, effect: int, controls: int, level: float) -> float:
    """Of the F test; `each` is what one person adds to its noncentrality."""
    from scipy.stats import f, ncf

    left = people - effect - controls
    require(left > 0, "people", f"more than the {effect + controls} parameters", people)
    # Its complement, 1 - ncf.cdf, is no number for some noncentralities above 1,000.
    return float(ncf.sf(f.isf(level, effect, left), effect, left, people * each))


def people_needed(each: float, effect: int, controls: int, power: float, level: float) -> int:
    """The smallest number that has the power."""
    low, high = effect + controls, MOST_PEOPLE
    if power_of(high, each, effect, controls, level) < power:
        raise SettingError(
            f"The effect is so small that more than {MOST_PEOPLE:,} people would be needed.",
            "Plan for a larger effect, more days, decisions or availability, or less power.",
        )
    while high - low > 1:
        middle = (low + high) // 2
        enough = power_of(middle, each, effect, controls, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def noncentrality_continuous(
    effect: Vector, availability: Vector, probability: Vector | float, design: Vector
) -> float:
    """Of one person: standardised effects, one row of `design` for each decision."""
    weighted = design.T * availability
    fitted = np.linalg.solve(weighted @ design, weighted @ effect)
    information = (weighted * (probability * (1 - probability))) @ design
    return float(fitted @ information @ fitted)


def noncentrality_yes_no(
    coefficients: Vector,
    baseline: Vector,
    availability: Vector,
    probability: Vector | float,
    design: Vector,
) -> float:
    """Of one person: log risk ratios are `design` @ `coefficients`."""
    log_ratio, p = design @ coefficients, probability
    common = availability * p * (1 - p) * baseline * np.exp(p * log_ratio)
    spread = np.exp(p * log_ratio) * ((1 - p) * np.exp(-log_ratio) + p - baseline)
    bread = (design.T * common) @ design
    meat = (design.T * (common * spread)) @ design
    pull = bread @ coefficients
    return float(pull @ np.linalg.solve(meat, pull))


def over_days(shape: Shape, days: int, mean: float, first: float, turn: int) -> Vector:
    """A value for each day with this mean, starting at `first`, turning on day `turn`."""
    day = np.arange(days, dtype=float)
    if shape == "constant":
        return np.full(days, mean)
    if shape == "linear":
        return np.asarray(first + (mean - first) * day / day.mean())
    bend = day**2 - 2 * (turn - 1) * day
    # Never 0: that would take a turn between two days.
    return np.asarray(first + (mean - first) * bend / bend.mean())


def _by_day(asked: TrialSizeSettings) -> pd.DataFrame:
    """The curves, each value possible."""
    table = pd.DataFrame({"day": np.arange(1, asked.days + 1)})
    available = over_days(
        asked.availability_shape,
        asked.days,
        asked.availability,
        asked.availability_first,
        asked.availability_turn,
    )
    _refuse(available, (available <= 0) | (available > 1 + 1e-12), "availability", "0 to 100 %")
    shape, peak = asked.effect_shape, asked.effect_peak
    if asked.outcome == "continuous":
        table["effect"] = over_days(shape, asked.days, asked.effect, asked.effect_first, peak)
    else:
        logs = over_days(shape, asked.days, np.log(asked.ratio), np.log(asked.ratio_first), peak)
        table["effect"] = np.exp(logs)
    table["availability"] = available
    if asked.outcome == "yes/no":
        last = asked.baseline_last or asked.baseline
        table["baseline"] = np.geomspace(asked.baseline, last, asked.days)
        treated = (table["baseline"] * table["effect"]).to_numpy()
        table["treated"] = treated
        _refuse(treated, treated >= 1, "ratio", "below 100 % (probability of yes when treated)")
    return table


def _refuse(values: Vector, wrong: NDArray[np.bool_], name: str, must: str) -> None:
    if wrong.any():
        day = int(np.argmax(wrong))
        raise SettingError(
            f"The setting '{name}' gives {100 * values[day]:.1f} % on day {day + 1}; it must be "
            f"within {must}.",
            "Change its average, its first value, or its shape.",
        )


def _noncentrality_of_one(asked: TrialSizeSettings) -> float:
    days = _by_day(asked)
    # Scaled to 0 .. 1: the test is the same, and its matrices are well conditioned.
    day = np.linspace(0, 1, asked.days)
    design = np.vander(day, PARAMETERS[asked.effect_shape], increasing=True)
    available, effect = days["availability"].to_numpy(), days["effect"].to_numpy()
    if asked.outcome == "continuous":
        one = noncentrality_continuous(effect, available, asked.probability, design)
    else:
        coefficients = np.linalg.lstsq(design, np.log(effect), rcond=None)[0]
        baseline = days["baseline"].to_numpy()
        one = noncentrality_yes_no(coefficients, baseline, available, asked.probability, design)
    return asked.decisions * one


def grant_sentence(size: TrialSize) -> str:
    """What a grant application says of the size."""
    asked = size.settings
    shape = {
        "constant": "constant",
        "linear": "linear in days",
        "quadratic": "quadratic in days",
    }
    changing = asked.effect_shape != "constant"
    turns = f" and its turning point on day {asked.effect_peak}"
    if asked.outcome == "continuous":
        what = f"an average standardised proximal effect of {asked.effect:g}"
        start, paper = f"{asked.effect_first:g}", "Liao et al., 2016"
    else:
        last = f" (changing to {asked.baseline_last:g})" if asked.baseline_last else ""
        what = (
            f"an average risk ratio of {asked.ratio:g} where the probability of the outcome "
            f"without treatment is {asked.baseline:g}{last}"
        )
        start, paper = f"{asked.ratio_first:g}", "Cohn et al., 2023"
    effect = f"{shape[asked.effect_shape]} effect"
    if changing:
        effect += f" with {start} on the first day"
    if asked.effect_shape == "quadratic":
        effect += turns
    available = f"average availability of {100 * asked.availability:g} %"
    if asked.availability_shape != "constant":
        available += f" ({shape[asked.availability_shape]})"
    times = "once a day" if asked.decisions == 1 else f"{asked.decisions} times a day"
    return (
        f"Each participant is randomised {times} for {asked.days} days, to treatment with "
        f"probability {asked.probability:g}. With {size.people:,} participants the trial has "
        f"{100 * size.power:.1f} % power to detect {what} ({effect}), at a two-sided significance "
        f"level of {asked.level:g} and an {available} ({paper}). Participants who drop out have "
        "to be recruited in addition."
    )
