"""How much results move when what is missing is drawn several times instead of fitted once.

A missing value of a person's variable is drawn as

    m*(t) + r,    m* the local polynomial of (m(s) + r_s, s seen), r and r_s among the residuals,

m being the fit to what was seen (as in `smdp.data.impute`) and the residuals this person's own,
enlarged by sqrt{n / (n - k)} for the k = (degree + 1) / span parameters of the fit: m* varies as
the fit itself is uncertain, r as values do around it. All that a person lacks at one decision has
the residuals of one other decision of hers, so that variables stay together; with fewer than five
seen values, those of everybody. Nominal variables are drawn from the person's own levels. A text
without words stays one. What is fitted to one person cannot know why a value is missing: drawing
shows the uncertainty if values are missing at random, given what was seen of the person around it.

With estimates b_1 .. b_M and their variances,

    within = mean of variances, between = var(b), total = within + (1 + 1/M) between.

References: Rubin (1987), "Multiple imputation for nonresponse in surveys"; Little & Rubin (2019).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.exclude import varies_over_time
from smdp.data.impute import fitted_limits, is_whole
from smdp.data.local_polynomial import local_polynomial
from smdp.data.preparation_settings import RescalingSettings
from smdp.data.prepare import CompletedStudy, finish
from smdp.errors import DataError
from smdp.evaluation.trial_effects import trial_summary
from smdp.evaluation.whole_analysis import WholeAnalysis, analysed_anew
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.plain_data import fingerprint
from smdp.progress import Cancelled, Progress, between, silent
from smdp.result import Content, Result
from smdp.screening import screen
from smdp.validation.imputation_settings import ImputationDrawsSettings
from smdp.validation.missingness import MissingPatterns, missing_patterns, seen_values

Floats = NDArray[np.float64]
#: With fewer seen values a person has no residuals of her own.
FEWEST_SEEN = 5


@dataclass(frozen=True, eq=False, repr=False)
class ImputationDraw(Content):
    """What was found with the values drawn for the `number`-th time; 0: as they were fitted."""

    number: int
    kept: tuple[str, ...]
    effects: pd.DataFrame  # action, against, estimate, standard_error; empty if not known
    dimension: int = 0  # of the map, 0 if none was asked for
    used: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ImputationDraws(Result):
    """`fitted`: with the values as they were fitted; `draws`: none where nothing is missing."""

    fitted: ImputationDraw
    draws: tuple[ImputationDraw, ...]
    patterns: MissingPatterns
    variables: tuple[str, ...]
    filled: int  # cells that are drawn
    cells: int  # of all
    settings: ImputationDrawsSettings
    how: WholeAnalysis
    seed: int
    data: str
    complete: bool = True

    @property
    def kept(self) -> pd.DataFrame:
        """A row for each variable: kept with fitted values, and in how many of the draws."""
        total = len(self.draws)
        rows = [
            {
                "variable": name,
                "as_fitted": name in self.fitted.kept,
                "kept": sum(name in each.kept for each in self.draws),
                "of": total,
                "share": sum(name in each.kept for each in self.draws) / total if total else np.nan,
            }
            for name in self.variables
        ]
        columns = ["variable", "as_fitted", "kept", "of", "share"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.sort_values(["as_fitted", "share"], ascending=False, kind="stable")

    @property
    def effects(self) -> pd.DataFrame:
        """A row for each treatment: its average effect as fitted, and combined over draws.

        `missing_share`: of the total variance, what comes from not knowing the missing values.
        """
        rows = []
        for place, own in enumerate(self.fitted.effects.to_dict("records")):
            known = [each.effects.iloc[place] for each in self.draws if len(each.effects)]
            row = {k: own[k] for k in ("action", "against", "estimate", "standard_error")}
            if len(known) > 1:
                estimates = np.array([each["estimate"] for each in known], dtype=float)
                within = float(np.mean([each["standard_error"] ** 2 for each in known]))
                between = float(estimates.var(ddof=1))
                more = (1 + 1 / len(known)) * between
                row |= {
                    "combined": float(estimates.mean()),
                    "combined_error": float(np.sqrt(within + more)),
                    "least": float(estimates.min()),
                    "most": float(estimates.max()),
                    "between": float(np.sqrt(between)),
                    "within": float(np.sqrt(within)),
                    "missing_share": more / (within + more) if within + more > 0 else 0.0,
                }
            rows.append(row)
        columns = ["action", "against", "estimate", "standard_error", "combined", "combined_error",
                   "least", "most", "between", "within", "missing_share"]  # fmt: skip
        return pd.DataFrame(rows, columns=columns)

    @property
    def each(self) -> pd.DataFrame:
        """A row for each draw, the first with values as they were fitted."""
        return pd.DataFrame(
            [
                {
                    "draw": one.number or "as fitted",
                    "kept": ", ".join(one.kept),
                    "dimension": one.dimension,
                    "used": ", ".join(one.used),
                    **{
                        f"effect of {row['action']}": row["estimate"]
                        for row in one.effects.to_dict("records")
                    },
                    "notes": " ".join(one.notes),
                }
                for one in (self.fitted, *self.draws)
            ]
        )


class DrawsCancelled(Cancelled):
    """The work was stopped; `finished` holds the draws that are done, None without any."""

    finished: ImputationDraws | None

    def __init__(self, finished: ImputationDraws | None) -> None:
        super().__init__("Drawing the missing values was stopped.")
        self.finished = finished


def repeat_imputation(
    completed: CompletedStudy,
    rescaling: RescalingSettings | None = None,
    how: WholeAnalysis | None = None,
    settings: ImputationDrawsSettings = ImputationDrawsSettings(),  # noqa: B008 - frozen
    *,
    effects: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    earlier: ImputationDraws | None = None,
) -> ImputationDraws:
    """What is kept, and the average effect of treatment, with missing values drawn several times.

    `effects`: what else `trial_summary` is told. `earlier`: finished draws are taken from there, if
    they were made in the same way from the same data. Stopped by `progress`, it raises
    `DrawsCancelled` with those that are finished.
    """
    check_seed(seed)
    how, progress = how or WholeAnalysis(), progress or silent
    told = dict(effects or {})
    progress(0.0, "Looking at what is missing")
    patterns = missing_patterns(completed, seed=seed)
    empty = ImputationDraws(
        fitted=ImputationDraw(0, (), pd.DataFrame()),
        draws=(),
        patterns=patterns,
        variables=tuple(finish(completed, rescaling).trajectories.wholes),
        filled=int(_drawn_cells(completed).sum()),
        cells=int(completed.study.on_grid.sum()) * len(completed.study.variables),
        settings=settings,
        how=how,
        seed=seed,
        data=fingerprint((completed, rescaling, told)),
        complete=False,
    )
    wanted = settings.draws if empty.filled else 0
    done = {each.number: each for each in _kept(earlier, empty) if each.number <= wanted}
    left = [k for k in range(wanted + 1) if k not in done]
    before, total = len(done), wanted + 1

    def own_progress(place: int) -> Progress:
        start = before + place
        prefix = f"Draw {start} of {wanted}: " if start else "As fitted: "
        return between(progress, start / total, (start + 1) / total, prefix)

    def finished() -> ImputationDraws:
        draws = tuple(done[k] for k in sorted(done) if k)
        return replace(empty, fitted=done[0], draws=draws, complete=len(draws) == wanted)

    shared = (completed, rescaling, how, settings, told, seed)
    try:
        for found in each(_analysed, left, *shared, progress=own_progress):
            done[found.number] = found
    except Cancelled as stop:
        raise DrawsCancelled(finished() if 0 in done else None) from stop
    progress(1.0, "The missing values were drawn")
    return finished()


def _kept(earlier: ImputationDraws | None, asked: ImputationDraws) -> Sequence[ImputationDraw]:
    if earlier is None:
        return ()
    again = replace(earlier.settings, draws=asked.settings.draws) == asked.settings
    bare = replace(earlier, fitted=asked.fitted, draws=(), complete=False, settings=asked.settings)
    return (earlier.fitted, *earlier.draws) if again and bare == asked else ()


def _analysed(
    number: int,
    completed: CompletedStudy,
    rescaling: RescalingSettings | None,
    how: WholeAnalysis,
    settings: ImputationDrawsSettings,
    told: Mapping[str, Any],
    seed: int,
    progress: Progress = silent,
) -> ImputationDraw:
    own = completed
    if number:
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(22, number)))
        own = drawn_study(completed, random)
    notes: tuple[str, ...] = ()
    effects = pd.DataFrame(columns=["action", "against", "estimate", "standard_error"])
    try:
        every = trial_summary(own, **told).effects
        average = every[every["term"] == "average"]
        effects = average[list(effects.columns)].reset_index(drop=True)
    except DataError as error:
        notes = (f"The effect is not known: {error.problem}",)
    trajectories = finish(own, rescaling).trajectories
    if settings.repeated == "features":
        whole = analysed_anew(trajectories, replace(how, policies=(), seeds=how.seeds[:2]),
                              progress=progress)  # fmt: skip
        used = whole.feature_map.wholes_used
        dimension = whole.feature_map.dimension if used else 0
        return ImputationDraw(
            number, whole.selected, effects, dimension, used, (*notes, *whole.notes)
        )
    if how.screening is None:
        return ImputationDraw(number, tuple(trajectories.wholes), effects, notes=notes)
    found = screen(trajectories, how.screening, seed=how.seeds[0], progress=progress)
    return ImputationDraw(number, found.selected, effects, notes=notes)


def _drawn_cells(completed: CompletedStudy) -> NDArray[np.bool_]:
    """(n, R, p): cells that were filled in and can be drawn."""
    own = completed.study
    found = np.isnan(seen_values(completed)) & own.on_grid[:, :, None]
    found &= np.broadcast_to(varies_over_time(own), found.shape)
    for j, variable in enumerate(own.variables):
        if variable.whole_kind == "text":
            found[:, :, j] = False
    return np.asarray(found)


def drawn_study(completed: CompletedStudy, random: np.random.Generator) -> CompletedStudy:
    """The same study with what was missing drawn once."""
    own, wanted = completed.study, _drawn_cells(completed)
    seen = seen_values(completed)
    values = own.values.copy()
    pooled = _pooled(completed, seen) if wanted.any() else []
    holed = replace(own, values=seen)
    limits = [fitted_limits(holed, j) for j in range(len(own.variables))]
    whole = [is_whole(holed, j) for j in range(len(own.variables))]
    for i in np.flatnonzero(wanted.any(axis=(1, 2))):
        length = int(own.lengths[i])
        lent = random.integers(0, max(length, 1), length)  # whose residuals a decision gets
        for j in np.flatnonzero(wanted[i].any(axis=0)):
            at = np.flatnonzero(wanted[i, :, j])
            series = seen[i, :length, j]
            there = np.flatnonzero(np.isfinite(series))
            if own.variables[j].kind == "nominal":
                values[i, at, j] = random.choice(series[there], len(at))
                continue
            fitted = _fit(completed, series, np.arange(length))
            residuals = _residuals(completed, series, fitted)
            if len(there) < FEWEST_SEEN:
                residuals = pooled[j]
            noise = residuals - residuals.mean() if len(residuals) else np.zeros(1)
            again = np.full(length, np.nan)
            again[there] = fitted[there] + random.choice(noise, len(there))
            curve = _fit(completed, again, at)
            own_lent = np.isfinite(series[lent[at]]) & (len(there) >= FEWEST_SEEN)
            place = np.searchsorted(there, lent[at][own_lent])
            jump = random.choice(noise, len(at))
            jump[own_lent] = noise[place]
            found = np.clip(curve + jump, *limits[j])
            values[i, at, j] = np.rint(found) if whole[j] else found
    return replace(completed, study=replace(own, values=values))


def _fit(completed: CompletedStudy, series: Floats, at: NDArray[np.int64]) -> Floats:
    settings = completed.settings
    seen = series[np.isfinite(series)]
    if seen.min() == seen.max():
        return np.full(len(at), seen[0])
    times = np.arange(len(series))
    return local_polynomial(times, series, at, span=settings.span, degree=settings.degree)


def _residuals(completed: CompletedStudy, series: Floats, fitted: Floats) -> Floats:
    """Of what was seen, enlarged for what the fit took."""
    there = np.isfinite(series)
    count = int(there.sum())
    taken = min((completed.settings.degree + 1) / completed.settings.span, count - 1)
    larger = np.sqrt(count / max(count - taken, 1.0))
    return np.asarray((series - fitted)[there] * larger)


def _pooled(completed: CompletedStudy, seen: Floats) -> list[Floats]:
    """For each variable the residuals of all people who have their own."""
    own, found = completed.study, []
    for j in range(seen.shape[2]):
        parts = []
        for i in range(len(seen)):
            series = seen[i, : int(own.lengths[i]), j]
            if np.isfinite(series).sum() >= FEWEST_SEEN and own.variables[j].kind != "nominal":
                fitted = _fit(completed, series, np.arange(len(series)))
                parts.append(_residuals(completed, series, fitted))
        found.append(np.concatenate(parts) if parts else np.zeros(1))
    return found
