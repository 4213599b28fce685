"""Leaving out subjects who have too little to analyse, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.preparation_settings import CompletionSettings
from smdp.data.study import Study
from smdp.errors import DataError, SettingError
from smdp.text import listing

Cause = Literal["by hand", "single row", "too much missing", "empty series"]


@dataclass(frozen=True)
class Exclusion:
    """One subject who was left out, and why."""

    subject: str
    cause: Cause
    missing_share: float
    limit: float | None = None  # of the share, where too much is missing
    variables: tuple[str, ...] = ()  # of which there is no value at all, where series are empty

    @property
    def reason(self) -> str:
        """The cause in words, with this subject's own numbers."""
        if self.cause == "by hand":
            return "left out by hand"
        if self.cause == "single row":
            return "has a single row, so no step from one decision to the next"
        if self.cause == "empty series":
            return f"has no value at all of {listing(self.variables)}"
        assert self.limit is not None
        found, limit = _percentages(self.missing_share, self.limit)
        return f"{found} of the values that change over time are missing (limit {limit})"


def varies_over_time(study: Study) -> NDArray[np.bool_]:
    """(p,): whether the variable takes more than one value within some subject.

    The others are baseline variables: constant within every subject.
    """
    observed = ~np.isnan(study.values)
    highest = np.where(observed, study.values, -np.inf).max(axis=1)
    lowest = np.where(observed, study.values, np.inf).min(axis=1)
    varies: NDArray[np.bool_] = (highest > lowest).any(axis=0)
    return varies


def missing_shares(study: Study) -> NDArray[np.float64]:
    """(n,): the share of missing state cells in each subject's own trajectory, gaps included.

    Counted over the variables that vary over time, for baseline variables would dilute it; over
    all variables if every one is a baseline variable.
    """
    counted = varies_over_time(study)
    if not counted.any():
        counted = np.ones_like(counted)
    cells = study.lengths * counted.sum()
    missing = study.missing[:, :, counted].sum(axis=(1, 2))
    return np.where(cells > 0, missing / np.maximum(cells, 1), 1.0)


def unobserved_variables(study: Study) -> dict[int, list[int]]:
    """Subjects (by index) who have no value at all of some variables, with these variables."""
    lacking: dict[int, list[int]] = {}
    for index, column in np.argwhere(np.isnan(study.values).all(axis=1)).tolist():
        lacking.setdefault(index, []).append(column)
    return lacking


def exclude(study: Study, settings: CompletionSettings) -> tuple[Study, tuple[Exclusion, ...]]:
    """The study without the subjects who cannot be analysed, and who they are.

    Left out are those named in `also_exclude`, those with a single row (no transition), those
    with a share of missing state values above `exclude_above` and, with `unobserved="exclude"`,
    those without a single value of some variable. The grid ends with the longest remaining
    trajectory.
    """
    unknown = [name for name in settings.also_exclude if name not in study.subjects]
    if unknown:
        raise SettingError(
            f"The setting 'also_exclude' names subjects that are not in the data: "
            f"{listing(unknown)}.",
            f"Correct them or take them off; the subjects are: {listing(study.subjects)}.",
        )
    shares = missing_shares(study)
    lacking = unobserved_variables(study) if settings.unobserved == "exclude" else {}
    cases = [
        _case(study, index, float(shares[index]), settings, lacking.get(index, []))
        for index in range(len(shares))
    ]
    excluded = tuple(case for case in cases if case is not None)
    keep = np.array([case is None for case in cases], dtype=bool)
    if not keep.any():
        who = listing([f"{case.subject}: {case.reason}" for case in excluded], 3)
        raise DataError(
            f"Every subject would be left out ({who}).",
            "Raise the limit on missing values ('exclude_above'), leave out fewer by hand "
            "('also_exclude'), or leave out the state variables that are missing most.",
        )
    return _only(study, keep), excluded


def _case(
    study: Study, index: int, share: float, settings: CompletionSettings, lacking: list[int]
) -> Exclusion | None:
    """The subject as one who is left out, None if it is not."""
    subject = study.subjects[index]
    if subject in settings.also_exclude:
        return Exclusion(subject, "by hand", share)
    if study.present[index].sum() < 2:
        return Exclusion(subject, "single row", share)
    if share > settings.exclude_above:
        return Exclusion(subject, "too much missing", share, limit=settings.exclude_above)
    if lacking:
        names = tuple(study.variables[j].name for j in lacking)
        return Exclusion(subject, "empty series", share, variables=names)
    return None


def _percentages(share: float, limit: float) -> tuple[str, str]:
    """Both as percentages, with as many decimals as it takes to tell them apart."""
    for decimals in range(5):
        texts = f"{100 * share:.{decimals}f} %", f"{100 * limit:.{decimals}f} %"
        if texts[0] != texts[1]:
            break
    return texts


def _only(study: Study, keep: NDArray[np.bool_]) -> Study:
    """The study with these subjects only, its grid cut at the longest of them."""
    end = int(study.lengths[keep].max())
    return replace(
        study,
        subjects=tuple(name for name, kept in zip(study.subjects, keep, strict=True) if kept),
        values=study.values[keep, :end],
        present=study.present[keep, :end],
        actions=study.actions[keep, :end],
        utilities=study.utilities[keep, :end],
        available=study.available[keep, :end],
        probabilities=study.probabilities[keep, :end],
        times=study.times[keep, :end],
        lengths=study.lengths[keep],
    )
