"""What the program understood and did, in words and small tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.exclude import unobserved_variables
from smdp.data.measured import outcome_kind, outcomes
from smdp.data.outcome import OutcomeKind
from smdp.data.prepare import CompletedStudy, PreparedData
from smdp.data.problem import Problem
from smdp.data.rescale import LOW_LEVEL
from smdp.data.study import Cell, Study
from smdp.data.variables import KINDS
from smdp.text import listing, number, percent, plural

#: What is said of an observational study from the first page on.
OBSERVED = (
    "what treatment seems to do may come from who was treated, and when, so read it as an "
    "association."
)


def describe_study(study: Study) -> list[str]:
    """Who, when, what was done, what is measured and what counts: a sentence each."""
    return [
        _who(study),
        " ".join(study.notes),
        _treatment(study),
        _states(study),
        _utility(study),
    ]


def describe_people(study: Study) -> list[str]:
    """The same without treatment and outcome: who, when, and what was measured."""
    return [_who(study), " ".join(study.notes), _states(study)]


def _who(study: Study) -> str:
    shortest, longest = int(study.lengths.min()), int(study.lengths.max())
    span = f"{longest}" if shortest == longest else f"{shortest} to {longest}"
    rows = int(study.present.sum())
    text = f"{plural(len(study.subjects), 'subject')} with {span} decisions each, {rows:,} rows."
    gaps = int(study.on_grid.sum()) - rows
    return text + (f" {plural(gaps, 'decision')} without a row (gaps)." if gaps else "")


def _treatment(study: Study) -> str:
    shares = action_shares(study)
    parts = [f"{label} ({percent(share)})" for label, share in shares.items()]
    text = f"Action '{study.roles.action}' has {len(parts)} levels: {', '.join(parts)}."
    unavailable = int((study.present & ~study.available).sum())
    if unavailable:
        share = percent(unavailable / study.present.sum())
        text += f" At {unavailable:,} decisions ({share}) no action could be taken."
    unknown = int((study.present & study.available & (study.actions < 0)).sum())
    if unknown:
        text += f" The action is missing at {plural(unknown, 'decision')}, which are not used."
    return text + f" {_chance(study)}"


def _chance(study: Study) -> str:
    """Who decided: chance, with which probabilities, or people and circumstances."""
    roles = study.roles
    known = np.isfinite(study.probabilities).all(axis=2) & study.available
    if known.any():
        mean = study.probabilities[known].mean(axis=0)
        pairs = [f"{a}: {p:.2f}" for a, p in zip(action_names(study), mean, strict=True)]
        told = f"known ({', '.join(pairs)} on average)."
        if roles.randomised:
            return f"Randomisation probabilities are {told}"
        return f"Observed, not randomised; the probabilities of treatment count as {told}"
    if roles.assignment == "observed":
        return f"Observed, not randomised: {OBSERVED} Probabilities will be estimated."
    who = "Randomised, by your account. " if roles.randomised else ""
    return f"{who}Randomisation probabilities are not given; they will be estimated."


def action_names(study: Study) -> list[str]:
    """The actions' labels; a bare number says which column it is a value of."""
    column = study.roles.action
    return [f"{column} = {a}" if a.isdigit() else a for a in study.action_labels]


def action_shares(study: Study) -> dict[str, float]:
    """Each action's share of the decisions at which one was taken."""
    taken = study.actions[study.actions >= 0]
    counts = np.bincount(taken, minlength=len(study.action_labels)) / max(len(taken), 1)
    return dict(zip(study.action_labels, map(float, counts), strict=True))


def _states(study: Study) -> str:
    one_each = {v.belongs_to: v.whole_kind or v.kind for v in study.variables}
    kinds = pd.Series(list(one_each.values())).value_counts()
    parts = [f"{kinds[k]} {k}" for k in (*KINDS, "vector") if k in kinds]
    share = study.missing.sum() / max(study.on_grid.sum() * len(study.variables), 1)
    text = f"{plural(len(one_each), 'state variable')} ({', '.join(parts)})"
    text += f"; {percent(share, 1)} of their values are missing."
    return text + _look_back(study.roles)


def _look_back(roles: ColumnRoles) -> str:
    if roles.action_lags > roles.lags:
        actions = plural(roles.action_lags, "earlier action")
        states = f", {plural(roles.lags, 'earlier value')} of the states" if roles.lags else ""
        return f" Look-back: {actions}{states}."
    if roles.lags:
        return f" Look-back: {plural(roles.lags, 'earlier value')} of states and action."
    return ""


def _utility(study: Study) -> str:
    seen = outcomes(study)
    if isinstance(study.roles.utility, NextValue):
        return utility_meaning(study.roles, outcome_kind(study))
    here = study.roles.outcome_sign * seen[study.present]
    missing = int(np.isnan(here).sum())
    low, high, mean = (float(f(here)) for f in (np.nanmin, np.nanmax, np.nanmean))
    text = utility_meaning(study.roles, outcome_kind(study))
    text += f" It goes from {number(low)} to {number(high)}, with a mean of {number(mean)}."
    return text + (f" Missing in {missing:,} of {len(here):,} rows." if missing else "")


def utility_meaning(roles: ColumnRoles, kind: OutcomeKind | None = None) -> str:
    """What a number of utility counts, for where such numbers are shown."""
    called = roles.outcome_name
    following = isinstance(roles.utility, NextValue)
    what = f"the next value of '{called.column}'" if following else f"'{called.column}'"
    about = [each for each in (called.unit and f"in {called.unit}", kind) if each]
    text = f"Outcome: {what}{f' ({listing(about)})' if about else ''}; {called.better}"
    return f"{text}." if called.sign > 0 else f"{text}, so the utility is minus it."


def variable_table(study: Study) -> pd.DataFrame:
    """One row for each state variable: type, range, mean, unique values, missing.

    Also its label and its unit, where some variable has one.
    """
    rows = []
    said = [name for name in ("label", "unit") if any(getattr(v, name) for v in study.variables)]
    inside = study.on_grid
    for j, variable in enumerate(study.variables):
        seen = study.values[:, :, j][np.isfinite(study.values[:, :, j])]
        numbers = seen if variable.kind != "nominal" else seen[:0]  # its codes are names
        rows.append(
            {
                "variable": variable.in_words,
                **{name: getattr(variable, name) for name in said},
                "type": variable.whole_kind or variable.kind,
                "lowest": numbers.min() if len(numbers) else np.nan,
                "mean": numbers.mean() if len(numbers) else np.nan,
                "highest": numbers.max() if len(numbers) else np.nan,
                "unique values": len(np.unique(seen)),
                "missing": int(study.missing[:, :, j].sum()),
                "missing (%)": round(100 * study.missing[:, :, j].sum() / inside.sum(), 1),
            }
        )
    return pd.DataFrame(rows)


def missing_problems(study: Study) -> list[Problem]:
    """What will stand in the way of imputing: variables that some subjects lack entirely."""
    lacking: dict[int, list[str]] = {}
    for i, columns in unobserved_variables(study).items():
        for j in columns:
            lacking.setdefault(j, []).append(study.subjects[i])
    return [
        Problem(
            "warning",
            study.variables[j].name,
            f"{len(who)} of {plural(len(study.subjects), 'subject')} {_have(len(who))} no value at "
            f"all of '{study.variables[j].name}' ({listing(who)}); it cannot be imputed for "
            f"{'that one' if len(who) == 1 else 'them'}.",
            f"Keep everybody and do without the variable: take '{study.variables[j].name}' out of "
            "the roles' states. Or keep the variable and do without "
            f"{'that subject' if len(who) == 1 else 'these subjects'}: set unobserved='exclude'.",
            concerns="unobserved",
        )
        for j, who in lacking.items()
    ]


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def blocked_by(problems: list[Problem]) -> str:
    """Why nothing can be imputed yet."""
    names = listing([f"'{p.about}'" for p in problems])
    return f"Not yet: some subjects have no value at all of {names}."


def exclusion_table(completed: CompletedStudy) -> pd.DataFrame:
    """Who was left out and why."""
    rows = [(e.subject, e.reason) for e in completed.exclusions]
    return pd.DataFrame(rows, columns=["subject", "reason"])


def describe_completed(completed: CompletedStudy) -> list[str]:
    """What was left out and what was filled in, including what that does not say."""
    everyone, kept = len(completed.arranged.subjects), len(completed.study.subjects)
    out = [e.subject for e in completed.exclusions]
    origin = completed.origin
    cells = int((origin != Cell.ABSENT).sum())
    inside = int((origin == Cell.IMPUTED).sum())
    outside = int((origin == Cell.EXTRAPOLATED).sum())
    settings = completed.settings
    who = f"{kept} of {everyone} subjects are kept"
    who += f"; left out: {listing(out)}." if out else "; nobody is left out."
    what = (
        f"{inside:,} of {cells:,} state values ({percent(inside / cells, 1)}) are imputed between "
        f"a subject's own observations and {outside:,} ({percent(outside / cells, 1)}) are "
        f"extrapolated, by local polynomials of degree {settings.degree} over the nearest "
        f"{percent(settings.span)} of the observations."
    )
    words = how_words_are_filled(completed.study)
    caution = (
        "An imputed value is a smooth guess, not a measurement: later steps treat it as known, so "
        "their uncertainty is understated where much is missing."
    )
    return [who, what, *([words] if words else []), caution]


def how_words_are_filled(study: Study) -> str:
    """What takes the place of missing levels and texts; "" if there are none."""
    nominal = [f"'{v.name}'" for v in study.variables if v.kind == "nominal"]
    texts = [f"'{each.name}'" for each in study.embeddings]
    parts = []
    if nominal:
        parts.append(
            f"A missing level of {listing(nominal, 6)} is the person's last one before; before the "
            "first one it is the one that the person has most often."
        )
    if texts:
        parts.append(f"A missing text of {listing(texts, 6)} counts as nothing written.")
    return " ".join(parts)


def describe_prepared(prepared: PreparedData) -> list[str]:
    """What the trajectories hold after the last step of preparing."""
    t = prepared.trajectories
    possible = int(sum(max(n - 1, 0) for n in prepared.completed.study.lengths))
    used = int(t.valid.sum())
    sentences = []
    levels = prepared.study.levels
    if levels is None:
        sentences.append("All variables keep their own units.")
    else:
        nominal = any(v.kind == "nominal" for v in prepared.study.variables)
        sentences.append(
            f"Every variable now takes values among the {len(levels)} levels of "
            f"'{prepared.study.reference}', from {number(levels.min())} to {number(levels.max())}"
            f"{'; levels of nominal variables are 0 or 1.' if nominal else '.'}"
        )
        merged = merged_variables(prepared)
        if merged:
            sentences.append(
                f"Rounding merged values of {listing(merged)}: their finest differences are lost."
            )
    sentences.append(
        f"{plural(len(t.subjects), 'subject')}, {len(t.wholes)} state variables and "
        f"{used:,} of {possible:,} transitions are ready for screening."
    )
    guessed = imputed_outcomes(prepared)
    if guessed:
        sentences.append(
            f"In {guessed:,} of these transitions ({percent(guessed / used)}) the utility itself "
            "rests on an imputed value, which blurs what treatment does."
        )
    return sentences


def check_prepared(prepared: PreparedData) -> list[Problem]:
    """What a reader should know before going on."""
    reference, levels = prepared.study.reference, prepared.study.levels
    if reference is None or levels is None or levels[0] <= LOW_LEVEL:
        return []
    lowest = levels[0]
    return [
        Problem(
            "warning",
            reference,
            f"The levels of '{reference}' begin at {number(lowest)}: every value "
            f"in the lower {percent(lowest)} of another variable's range has become that level.",
            "Choose a reference variable with values from 0 on, or keep own units.",
        )
    ]


def imputed_outcomes(prepared: PreparedData) -> int:
    """In how many transitions the utility is a state's next value that had to be imputed."""
    utility = prepared.completed.arranged.roles.utility
    if not isinstance(utility, NextValue):
        return 0
    column = prepared.trajectories.variables.index(utility.variable)
    guessed = prepared.imputed[:, 1:, column] != Cell.OBSERVED
    return int((guessed & prepared.trajectories.valid).sum())


def merged_variables(prepared: PreparedData) -> list[str]:
    """Variables that have fewer unique values after rescaling than before."""
    before, after = prepared.completed.study, prepared.study
    inside = before.on_grid
    return [
        v.name
        for j, v in enumerate(before.variables)
        if len(np.unique(after.values[inside, j])) < len(np.unique(before.values[inside, j]))
    ]


def rescaling_table(prepared: PreparedData) -> pd.DataFrame:
    """One row for each variable: its range before, its unique values before and after."""
    before, after = prepared.completed.study, prepared.study
    inside = before.on_grid
    rows = []
    for j, variable in enumerate(before.variables):
        own, new = before.values[inside, j], after.values[inside, j]
        low, high = after.variables[j].rescaled_from or (own.min(), own.max())
        rows.append(
            {
                "variable": variable.name,
                "type": variable.kind,
                "from": low,
                "to": high,
                "unique values before": len(np.unique(own)),
                "unique values after": len(np.unique(new)),
            }
        )
    return pd.DataFrame(rows)
