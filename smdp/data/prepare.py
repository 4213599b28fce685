"""From a table and its roles to complete trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.arrange import arrange
from smdp.data.column_roles import ColumnRoles
from smdp.data.exclude import Exclusion, exclude
from smdp.data.impute import impute
from smdp.data.preparation_settings import (
    CompletionSettings,
    ImputationSettings,
    PreparationSettings,
    RescalingSettings,
)
from smdp.data.rescale import rescale
from smdp.data.study import Cell, Study
from smdp.data.to_trajectories import to_trajectories
from smdp.data.trajectories import Trajectories
from smdp.progress import Progress
from smdp.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class CompletedStudy(Result):
    """A study without its excluded subjects and with every missing state value filled in.

    `arranged`: as it was before, with everybody.
    """

    arranged: Study
    exclusions: tuple[Exclusion, ...]
    study: Study
    origin: NDArray[np.uint8]  # (n, R, p), where each value of `study` comes from: codes of `Cell`
    settings: ImputationSettings


@dataclass(frozen=True, eq=False, repr=False)
class PreparedData(Result):
    """Trajectories, and how they came to be.

    `log`: one row for each thing done (step, subject, what). `imputed`: (n, T + 1, p), for each
    cell of `trajectories.states` its origin as a `Cell` code (0 observed, 1 imputed between two
    observations, 2 extrapolated, 3 after the subject's end). `study`: what the trajectories were
    cut from, rescaled if that was asked for.
    """

    trajectories: Trajectories
    log: pd.DataFrame
    imputed: NDArray[np.uint8]
    completed: CompletedStudy
    study: Study


def prepare(
    frame: pd.DataFrame,
    roles: ColumnRoles,
    settings: PreparationSettings | None = None,
    *,
    progress: Progress | None = None,
) -> PreparedData:
    """Arrange, exclude, impute, rescale: the whole way in one call."""
    settings = PreparationSettings() if settings is None else settings
    completed = complete(arrange(frame, roles), settings, progress=progress)
    return finish(completed, settings.rescaling)


def complete(
    study: Study, settings: CompletionSettings, *, progress: Progress | None = None
) -> CompletedStudy:
    """Leave out whom the settings exclude, and impute the rest."""
    kept, exclusions = exclude(study, settings)
    imputed, origin = impute(kept, settings.imputation, progress=progress)
    return CompletedStudy(study, exclusions, imputed, origin, settings.imputation)


def finish(completed: CompletedStudy, rescaling: RescalingSettings | None) -> PreparedData:
    """Rescale if asked to, add lags, and cut the study into transitions."""
    study = completed.study
    if rescaling is not None:
        study = rescale(study, rescaling)
    trajectories, origin = to_trajectories(study, completed.study.values, completed.origin)
    return PreparedData(
        trajectories=trajectories,
        log=_log(completed, study, trajectories),
        imputed=origin,
        completed=completed,
        study=study,
    )


def every_decision(completed: CompletedStudy) -> Trajectories:
    """Every decision with an outcome, the last ones too, with variables in their own units.

    What treatment did at a decision can be seen without a next state; learning from transitions
    needs one.
    """
    own = completed.study
    return to_trajectories(own, own.values, completed.origin, followed=False)[0]


def _log(completed: CompletedStudy, study: Study, trajectories: Trajectories) -> pd.DataFrame:
    entries = [("arrange", "", note) for note in completed.arranged.notes]
    entries += [("exclude", e.subject, e.reason) for e in completed.exclusions]
    origin = completed.origin
    for j, variable in enumerate(study.variables):
        if variable.whole_kind == "text":
            continue
        inside = int((origin[:, :, j] == Cell.IMPUTED).sum())
        outside = int((origin[:, :, j] == Cell.EXTRAPOLATED).sum())
        if inside or outside:
            cells = int((origin[:, :, j] != Cell.ABSENT).sum())
            text = f"'{variable.name}': {inside} of {cells:,} values imputed between observations"
            text += f", {outside} extrapolated"
            if variable.kind == "nominal":
                text += ": the person's last level before, else her most frequent one"
            entries.append(("impute", "", f"{text}."))
    for name in dict.fromkeys(v.whole for v in study.variables if v.whole_kind == "text"):
        j = next(j for j, variable in enumerate(study.variables) if variable.whole == name)
        filled = int(np.isin(origin[:, :, j], (Cell.IMPUTED, Cell.EXTRAPOLATED)).sum())
        if filled:
            text = f"'{name}': {filled} decisions without a row count as nothing written."
            entries.append(("impute", "", text))
    if study.levels is not None:
        text = f"All variables rescaled to the {len(study.levels)} levels"
        entries.append(("rescale", "", f"{text} of '{study.reference}'."))
    possible = int(sum(max(length - 1, 0) for length in study.lengths))
    used = int(trajectories.valid.sum())
    text = f"{used:,} of {possible:,} transitions can be used"
    entries.append(("assemble", "", f"{text}; the others lack an action, a utility or a row."))
    return pd.DataFrame(entries, columns=["step", "subject", "what"])
