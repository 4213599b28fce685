"""A synthetic study in the image of BASICS-Mobile. No real person is in it.

Thirty students who smoke answer a short report every afternoon and evening for 14 days (28
reports). After each report a coin decides between an informational module (`module` 0) and a
treatment module (`module` 1). The utility is minus the cigarettes of the *next* report, so 28
reports give 27 decisions with an outcome.

The truth that was planted
--------------------------
With every value taken from one report, `cigs` of the next report is normal with deviation 1.1
about the mean below, rounded, and at least 0; 17 or more is reported as "a pack", 20.

    1.0 + 0.25 cigs + 0.15 urge + 0.20 drinks + 0.40 stress + 2.5 weekend + 0.20 dependence
        + 0.80 quit_attempts - module * effect
    effect = exp(-0.40 burden) * (7.5 weekend + 0.80 (10 - stress) + 1.20 quit_attempts) - 2.0

- Treatment helps most on weekends, at low stress, and for students with earlier quit attempts.
- It wears off: each treatment raises `burden` by about 1.6, a larger burden shrinks the benefit,
  and burden falls back by 40 % from one report to the next. A treatment that has worn out costs
  two cigarettes (a nuisance), so treating always is not the best policy.
- `alcohol_urge` acts only through later `drinks`; `mood` follows stress and causes nothing.
- `age`, `female`, `sleep`, `confidence` and `peers` are pure noise.

The next report depends on the present one and on the module only: the 15 state variables are
Markov, but for `weekend`, which follows the calendar. Students start on different weekdays, so at
every report some are in their weekend and some are not.

What is missing
---------------
About one in ten cells of the self reports: whole reports missed, more often in the evening and
under high stress, and single questions skipped. Whether a report is missed depends on the very
stress that it would have shown: this is missing not at random, and no imputation can undo it.
Two students stopped answering after two reports. Baseline, weekend and module are always known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from smdp.settings import require

BASELINE = ("age", "female", "dependence", "quit_attempts")
SELF_REPORTS = (
    "stress",
    "urge",
    "mood",
    "sleep",
    "alcohol_urge",
    "drinks",
    "confidence",
    "peers",
    "burden",
    "cigs",
)
STATES = (*BASELINE, "weekend", *SELF_REPORTS)
NOISE = ("age", "female", "sleep", "confidence", "peers")

DAYS = 14
REPORTS = 2 * DAYS
DROPOUTS = 2
REPORTS_BEFORE_DROPOUT = 2
DEFAULT_SEED = 2014

_WARM_UP = 14  # a week before the study, so that the first report is like any other

Values = NDArray[np.float64]
State = dict[str, Values]
Assign = Callable[[pd.DataFrame], ArrayLike]


def basics_like(
    seed: int = DEFAULT_SEED,
    *,
    subjects: int = 30,
    missing: bool = True,
    assign: Assign | None = None,
) -> pd.DataFrame:
    """The synthetic study, one row for each student and report.

    `missing=False` gives the same students before any answer is lost. `assign` chooses the modules
    from the state variables of one report (a row for each student) instead of the coin: with it,
    what a policy would have done can be read from the truth.
    """
    require(subjects > DROPOUTS, "subjects", f"more than {DROPOUTS}", subjects)
    of_students, of_gaps = np.random.default_rng(seed).spawn(2)
    frame = _complete_study(subjects, of_students, assign)
    if missing:
        _lose_answers(frame, subjects, of_gaps)
    frame.attrs["synthetic"] = True
    return frame


def treatment_effect(state: Mapping[str, Values] | pd.DataFrame) -> Values:
    """How many cigarettes fewer a treatment module brings, on average, by the next report."""
    stress, quits, weekend, burden = (
        np.asarray(state[name], dtype=float)
        for name in ("stress", "quit_attempts", "weekend", "burden")
    )
    benefit = 7.5 * weekend + 0.80 * (10 - stress) + 1.20 * quits
    return np.exp(-0.40 * burden) * benefit - 2.0


def _complete_study(subjects: int, rng: np.random.Generator, assign: Assign | None) -> pd.DataFrame:
    baseline = _draw_baseline(subjects, rng)
    first_weekday = rng.integers(0, 7, subjects)  # 0 is Monday
    state = {**baseline, **_typical_reports(subjects)}
    rows = []
    for report in range(1 - _WARM_UP, REPORTS + 1):
        day = (report + 1) // 2
        state["weekend"] = ((first_weekday + day - 1) % 7 >= 5).astype(float)
        module = np.zeros(subjects, dtype=np.int64)
        if report >= 1:
            row = _as_rows(report, day, state)
            coin = rng.integers(0, 2, subjects)
            module = coin if assign is None else np.asarray(assign(row[list(STATES)]), np.int64)
            rows.append(row.assign(module=module))
        state = {**baseline, **_next_reports(state, module.astype(float), rng)}
    return pd.concat(rows).sort_values(["student", "report"], ignore_index=True)


def _as_rows(report: int, day: int, state: State) -> pd.DataFrame:
    subjects = len(state["cigs"])
    width = max(2, len(str(subjects)))
    frame = pd.DataFrame(
        {
            "student": [f"S{i:0{width}d}" for i in range(1, subjects + 1)],
            "report": report,
            "day": day,
            "period": "afternoon" if report % 2 else "evening",
        }
    )
    for name in STATES:
        frame[name] = state[name].astype(np.int64)
    return frame


def _draw_baseline(subjects: int, rng: np.random.Generator) -> State:
    return {
        "age": rng.integers(18, 26, subjects).astype(float),
        "female": rng.integers(0, 2, subjects).astype(float),
        "dependence": _whole(rng.normal(4.5, 2.5, subjects), 0, 10),
        "quit_attempts": _whole(rng.negative_binomial(2, 0.42, subjects), 0, 8),
    }


def _typical_reports(subjects: int) -> State:
    start = dict.fromkeys(SELF_REPORTS, 5.0) | {"sleep": 7.0, "drinks": 1.0, "burden": 0.0}
    return {name: np.full(subjects, value) for name, value in start.items()}


def _next_reports(now: State, module: Values, rng: np.random.Generator) -> State:
    subjects = len(module)

    def noise(deviation: float) -> Values:
        return rng.normal(0.0, deviation, subjects)

    weekend = now["weekend"]
    effect = treatment_effect(now)
    expected_cigs = (
        1.0
        + 0.25 * now["cigs"]
        + 0.15 * now["urge"]
        + 0.20 * now["drinks"]
        + 0.40 * now["stress"]
        + 2.5 * weekend
        + 0.20 * now["dependence"]
        + 0.80 * now["quit_attempts"]
        - module * effect
    )
    expected_drinks = 0.2 + 0.2 * now["alcohol_urge"] + 1.0 * weekend
    return {
        "stress": _whole(2.0 + 0.65 * now["stress"] - 0.8 * weekend + noise(1.9), 0, 10),
        "urge": _whole(
            0.6 + 0.5 * now["urge"] + 0.2 * now["stress"] + 0.2 * now["dependence"] + noise(1.4),
            0,
            10,
        ),
        "mood": _whole(4.8 + 0.4 * now["mood"] - 0.35 * now["stress"] + noise(1.3), 0, 10),
        "sleep": _whole(4.9 + 0.3 * now["sleep"] + noise(1.1), 3, 11),
        "alcohol_urge": _whole(1.2 + 0.5 * now["alcohol_urge"] + 1.5 * weekend + noise(1.5), 0, 10),
        "drinks": _whole(rng.poisson(expected_drinks), 0, 10),
        "confidence": _whole(2.0 + 0.6 * now["confidence"] + noise(1.5), 0, 10),
        "peers": _whole(1.2 + 0.5 * now["peers"] + noise(1.3), 0, 6),
        "burden": _whole(0.6 * now["burden"] + 1.6 * module + noise(0.6), 0, 8),
        "cigs": _with_packs(_whole(expected_cigs + noise(1.1), 0, 20)),
    }


def _whole(values: NDArray[np.float64] | NDArray[np.int64], low: int, high: int) -> Values:
    return np.clip(np.rint(values), low, high).astype(float)


def _with_packs(cigs: Values) -> Values:
    """People round large counts: whoever smoked nearly a pack says 20."""
    return np.where(cigs >= 17, 20.0, cigs)


def _lose_answers(frame: pd.DataFrame, subjects: int, rng: np.random.Generator) -> None:
    """Blank self reports in place: missed reports, skipped questions, two who stop answering."""
    evening = (frame["period"] == "evening").to_numpy()
    stress = frame["stress"].to_numpy()
    log_odds = -3.15 + 0.9 * evening + 0.30 * (stress - 5)
    missed = rng.random(len(frame)) < 1 / (1 + np.exp(-log_odds))
    skipped = rng.random((len(frame), len(SELF_REPORTS))) < 0.03

    stopped = rng.choice(subjects, DROPOUTS, replace=False)
    student = np.arange(len(frame)) // REPORTS
    of_dropout = np.isin(student, stopped)
    early = (frame["report"] <= REPORTS_BEFORE_DROPOUT).to_numpy()
    lost = missed[:, None] | skipped
    lost[of_dropout & ~early] = True
    lost[of_dropout & early] = False

    names = list(SELF_REPORTS)
    frame[names] = frame[names].astype(float).mask(lost)
