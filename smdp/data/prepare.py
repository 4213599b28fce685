"""From a table and its roles to complete trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.arrange import arrange
from smdp.data.assemble import assemble
from smdp.data.column_roles import ColumnRoles
from smdp.data.exclude import Exclusion, exclude
from smdp.data.impute import ImputedStudy, impute
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.rescale import RescaledStudy, rescale
from smdp.data.study import Cell, Study
from smdp.data.trajectories import Trajectories
from smdp.progress import Progress
from smdp.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class CompletedStudy(Result):
    """A study without its excluded subjects and with every missing state value filled in."""

    arranged: Study
    exclusions: tuple[Exclusion, ...]
    imputed: ImputedStudy


@dataclass(frozen=True, eq=False, repr=False)
class PreparedData(Result):
    """Trajectories, and how they came to be.

    `log`: one row for each thing done (step, subject, what). `imputed`: (n, T + 1, p), for each
    cell of `trajectories.states` its origin as a `Cell` code (0 observed, 1 imputed between two
    observations, 2 extrapolated, 3 after the subject's end). `rescaled` is None in own units.
    """

    trajectories: Trajectories
    log: pd.DataFrame
    imputed: NDArray[np.uint8]
    completed: CompletedStudy
    rescaled: RescaledStudy | None
    settings: PreparationSettings


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
    return finish(completed, settings)


def complete(
    study: Study, settings: PreparationSettings, *, progress: Progress | None = None
) -> CompletedStudy:
    """Leave out whom the settings exclude, and impute the rest."""
    kept, exclusions = exclude(study, settings)
    return CompletedStudy(study, exclusions, impute(kept, settings.imputation, progress=progress))


def finish(completed: CompletedStudy, settings: PreparationSettings) -> PreparedData:
    """Rescale if asked to, add lags, and cut the study into transitions."""
    rescaled = None
    if settings.rescaling is not None:
        rescaled = rescale(completed.imputed, settings.rescaling)
    in_own_units = completed.imputed.study
    study = in_own_units if rescaled is None else rescaled.imputed.study
    trajectories, origin = assemble(study, in_own_units.values, completed.imputed.origin)
    return PreparedData(
        trajectories=trajectories,
        log=_log(completed, trajectories, rescaled),
        imputed=origin,
        completed=completed,
        rescaled=rescaled,
        settings=settings,
    )


def _log(
    completed: CompletedStudy, trajectories: Trajectories, rescaled: RescaledStudy | None
) -> pd.DataFrame:
    entries = [("arrange", "", note) for note in completed.arranged.notes]
    entries += [("exclude", e.subject, e.reason) for e in completed.exclusions]
    study, origin = completed.imputed.study, completed.imputed.origin
    for j, variable in enumerate(study.variables):
        inside = int((origin[:, :, j] == Cell.IMPUTED).sum())
        outside = int((origin[:, :, j] == Cell.EXTRAPOLATED).sum())
        if inside or outside:
            cells = int((origin[:, :, j] != Cell.ABSENT).sum())
            text = f"'{variable.name}': {inside} of {cells:,} values imputed between observations"
            entries.append(("impute", "", f"{text}, {outside} extrapolated."))
    if rescaled is not None:
        text = f"All variables rescaled to the {len(rescaled.levels)} levels"
        entries.append(("rescale", "", f"{text} of '{rescaled.reference}'."))
    possible = int(sum(max(length - 1, 0) for length in study.lengths))
    used = int(trajectories.valid.sum())
    text = f"{used:,} of {possible:,} transitions can be used"
    entries.append(("assemble", "", f"{text}; the others lack an action, a utility or a row."))
    return pd.DataFrame(entries, columns=["step", "subject", "what"])
