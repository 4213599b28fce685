"""A synthetic study in the image of BASICS-Mobile. No real person is in it.

Thirty students who smoke answer a short report every afternoon and evening for 14 days (28
reports). After each report a coin decides between an informational module (`module` 0) and a
treatment module (`module` 1). The utility is minus the cigarettes of the *next* report, so 28
reports give 27 decisions with an outcome.

The truth that was planted
--------------------------
With every value taken from one report, `cigs` of the next report is normal about the mean below,
with a deviation of 2.5 cigarettes, rounded, and at least 0; 17 or more is reported as "a pack", 20.

    0.5 + 0.25 cigs + 0.30 urge + 0.30 drinks + 0.15 stress + 1.0 weekend + 0.30 dependence
        + 0.30 quit_attempts + own level - module * effect
    effect = 1.0 weekend + 0.30 (5 - stress) + 0.30 quit_attempts - 0.30 burden

- Treatment helps most on weekends, at low stress, and for students with earlier quit attempts.
- It wears off: each treatment raises `burden` by about 1.6, burden shrinks the benefit, and it
  falls back by 40 % from one report to the next. Given always, treatment does nothing on average,
  and where its benefit is used up it is a nuisance.
- `alcohol_urge` acts only through later `drinks`; `mood` follows stress and causes nothing.
- `age`, `female`, `sleep`, `confidence` and `peers` are pure noise.

Students differ in their own levels, of the cigarettes and of each answer but drinks and burden:
`OWN_LEVEL` has the deviations of what is added for one student at every report. Own levels are
independent of each other and of the baseline, and they are not in the table.

The effects are of the size that trials and diary studies report, and were chosen once:
sample_data/README.md has them in standard deviations, with their sources. None is above 0.5.

Given a student's own levels, the next report depends on the present one and on the module only,
but for `weekend`, which follows the calendar. Students start on different weekdays, so at every
report some are in their weekend and some are not.

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

#: Cigarettes more at the next report for each point, without treatment.
MAIN_EFFECTS = {
    "cigs": 0.25,
    "urge": 0.30,
    "drinks": 0.30,
    "stress": 0.15,
    "weekend": 1.0,
    "dependence": 0.30,
    "quit_attempts": 0.30,
}
#: Cigarettes fewer that treatment brings for each point; `treatment_effect` adds a constant.
MODERATORS = {"weekend": 1.0, "stress": -0.30, "quit_attempts": 0.30, "burden": -0.30}
CIGS_DEVIATION = 2.5  # of the next cigarettes, given the report, the module and the own level
#: Deviation between students of what is added to one student's answer at every report.
OWN_LEVEL = {
    "stress": 0.7,
    "urge": 0.7,
    "mood": 0.7,
    "sleep": 0.4,
    "alcohol_urge": 0.7,
    "confidence": 0.7,
    "peers": 0.4,
    "cigs": 1.5,
}

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
    reports: int = REPORTS,
) -> pd.DataFrame:
    """The synthetic study, one row for each student and report.

    `missing=False` gives the same students before any answer is lost. `reports`: of each student;
    more of them show what becomes of a policy in the long run. `assign` chooses the modules
    from the state variables of one report (a row for each student) instead of the coin: with it,
    what a policy would have done can be read from the truth.
    """
    require(subjects > DROPOUTS, "subjects", f"more than {DROPOUTS}", subjects)
    of_students, of_gaps = np.random.default_rng(seed).spawn(2)
    frame = _complete_study(subjects, reports, of_students, assign)
    if missing:
        _lose_answers(frame, subjects, of_gaps)
    frame.attrs["synthetic"] = True
    return frame


def treatment_effect(state: Mapping[str, Values] | pd.DataFrame) -> Values:
    """How many cigarettes fewer a treatment module brings, on average, by the next report."""
    return 1.5 + _weighed(state, MODERATORS)


def standardised_effects(frame: pd.DataFrame) -> pd.DataFrame:
    """The planted effects in deviations of the next cigarettes, for the students in `frame`.

    A row for treatment on average, then one for each variable: "effect" on the next cigarettes
    without treatment, and "moderation", how much more treatment lowers them, both in units of
    `CIGS_DEVIATION` (what is left when all is known) for one deviation of the variable in
    `frame`, or from 0 to 1 for `weekend`.
    """
    names = list(dict.fromkeys([*MAIN_EFFECTS, *MODERATORS]))
    step = frame[names].std(ddof=0)
    step["weekend"] = 1.0
    table = pd.DataFrame({"effect": MAIN_EFFECTS, "moderation": MODERATORS}).reindex(names)
    table = table.mul(step, axis=0).fillna(0.0)
    table.loc["module"] = [-float(treatment_effect(frame).mean()), 0.0]
    return table.loc[["module", *names]] / CIGS_DEVIATION


def _weighed(state: Mapping[str, Values] | pd.DataFrame, weights: Mapping[str, float]) -> Values:
    parts = [weight * np.asarray(state[name], dtype=float) for name, weight in weights.items()]
    return np.sum(parts, axis=0)


def _complete_study(
    subjects: int, reports: int, rng: np.random.Generator, assign: Assign | None
) -> pd.DataFrame:
    baseline = _draw_baseline(subjects, rng)
    own = {name: rng.normal(0.0, deviation, subjects) for name, deviation in OWN_LEVEL.items()}
    first_weekday = rng.integers(0, 7, subjects)  # 0 is Monday
    state = {**baseline, **_typical_reports(subjects)}
    rows = []
    for report in range(1 - _WARM_UP, reports + 1):
        day = (report + 1) // 2
        state["weekend"] = ((first_weekday + day - 1) % 7 >= 5).astype(float)
        module = np.zeros(subjects, dtype=np.int64)
        if report >= 1:
            row = _as_rows(report, day, state)
            coin = rng.integers(0, 2, subjects)
            module = coin if assign is None else np.asarray(assign(row[list(STATES)]), np.int64)
            rows.append(row.assign(module=module))
        state = {**baseline, **_next_reports(state, own, module.astype(float), rng)}
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


def _next_reports(now: State, own: State, module: Values, rng: np.random.Generator) -> State:
    def around(name: str, mean: Values, deviation: float) -> Values:
        return mean + own[name] + rng.normal(0.0, deviation, len(module))

    weekend, stress = now["weekend"], now["stress"]
    urge = 1.1 + 0.4 * now["urge"] + 0.2 * stress + 0.2 * now["dependence"]
    alcohol_urge = 1.2 + 0.4 * now["alcohol_urge"] + 1.5 * weekend
    drinks = 0.2 + 0.2 * now["alcohol_urge"] + 1.0 * weekend
    burden = 0.6 * now["burden"] + 1.6 * module + rng.normal(0.0, 0.6, len(module))
    cigs = 0.5 + _weighed(now, MAIN_EFFECTS) - module * treatment_effect(now)
    return {
        "stress": _whole(around("stress", 3.1 + 0.4 * stress - 0.5 * weekend, 1.8), 0, 10),
        "urge": _whole(around("urge", urge, 1.6), 0, 10),
        "mood": _whole(around("mood", 4.8 + 0.4 * now["mood"] - 0.35 * stress, 1.3), 0, 10),
        "sleep": _whole(around("sleep", 4.9 + 0.3 * now["sleep"], 1.1), 3, 11),
        "alcohol_urge": _whole(around("alcohol_urge", alcohol_urge, 1.5), 0, 10),
        "drinks": _whole(rng.poisson(drinks), 0, 10),
        "confidence": _whole(around("confidence", 3.0 + 0.4 * now["confidence"], 1.5), 0, 10),
        "peers": _whole(around("peers", 1.4 + 0.4 * now["peers"], 1.2), 0, 6),
        "burden": _whole(burden, 0, 8),
        "cigs": _with_packs(_whole(around("cigs", cigs, CIGS_DEVIATION), 0, 20)),
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
    student = np.arange(len(frame)) // (len(frame) // subjects)
    of_dropout = np.isin(student, stopped)
    early = (frame["report"] <= REPORTS_BEFORE_DROPOUT).to_numpy()
    lost = missed[:, None] | skipped
    lost[of_dropout & ~early] = True
    lost[of_dropout & early] = False

    names = list(SELF_REPORTS)
    frame[names] = frame[names].astype(float).mask(lost)
