"""One cell of a simulation study: data, feature map, policies, and what these earn.

A failure (screening that keeps nothing, say) is a result too, with its message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.identity import identity_feature_map
from smdp.feature_map.pca import PcaSettings, pca_feature_map
from smdp.feature_map.tnn import TnnSettings, tnn_feature_map
from smdp.progress import Cancelled, Message, Progress, silent
from smdp.simulation.generative_model import GenerativeModel, simulate
from smdp.simulation.names import MAP_NAMES, MEASURE_NAMES, StudyMap
from smdp.simulation.study_settings import StudyCell, StudySettings, seeds_of
from smdp.text import shorten

#: How long a message of a failure may be.
LONGEST_MESSAGE = 500


@dataclass(frozen=True)
class CellResult:
    """What came out of one cell; numbers are None where there is none."""

    model: str
    noise: int
    subjects: int
    times: int
    discount: float
    feature_map: StudyMap
    replication: int
    status: Literal["done", "failed"]
    linear: float | None = None  # mean utility a step of linear Q-learning's policy
    neural: float | None = None  # likewise of neural Q-learning
    neural_further: float | None = None  # likewise, at the further discount
    variables_count: int | None = None  # the paper's nVar
    dimension: int | None = None  # the paper's nDim
    variables: str | None = None  # those the map uses, separated by blanks
    screened: str | None = None  # those that screening kept, where the map begins with it
    data_seed: int = 0  # simulate(.., seed=data_seed) gives the data
    seconds: float = 0.0
    map_seconds: float = 0.0  # of these, until the feature map was there
    message: str = ""  # of a failure


def replicate(
    cell: StudyCell, how: StudySettings, *, progress: Progress | None = None
) -> CellResult:
    """Do one cell, with one thread. It depends on the cell and the settings only."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):
        start = perf_counter()
        found: dict = {}
        try:
            _fill(found, cell, how, start, progress or silent)
            found["status"] = "done"
        except Cancelled:
            raise
        except Exception as error:
            found |= {"status": "failed", "message": _message(error)}
        found["seconds"] = perf_counter() - start
    setting = cell.setting
    return CellResult(
        model=setting.model,
        noise=setting.noise,
        subjects=setting.subjects,
        times=setting.times,
        discount=setting.discount,
        feature_map=cell.feature_map,
        replication=cell.replication,
        data_seed=seeds_of(how.seed, setting, cell.replication)["data"],
        **found,
    )


def said_of(result: CellResult) -> Message:
    """What came out of one cell: 'Finished: trial 1, ADNN: Linear Q 3.31, ..', and as facts."""
    facts: dict[str, Any] = {
        "finished_trial": result.replication + 1,
        "feature_map": result.feature_map,
        "failure": result.message if result.status == "failed" else None,
        **{name: getattr(result, name) for name in MEASURE_NAMES},
    }
    return Message(f"Finished: {trial_line(facts)}", **facts)


def trial_line(facts: Mapping[str, Any]) -> str:
    """One finished cell in a line, from the facts of `said_of`: 'trial 1, ADNN: ..'."""
    where = f"trial {facts['finished_trial']}, {MAP_NAMES[facts['feature_map']]}"
    if facts["failure"] is not None:
        return f"{where}: failed. {facts['failure']}"
    values = [
        f"{title} {facts[name]:.2f}" if isinstance(facts[name], float) else f"{title} {facts[name]}"
        for name, title in MEASURE_NAMES.items()
        if facts[name] is not None
    ]
    return f"{where}: {', '.join(values)}"


def _fill(
    found: dict, cell: StudyCell, how: StudySettings, start: float, progress: Progress
) -> None:
    """Add to `found` what there is, step by step: a failure keeps what came before it."""
    setting, seeds = cell.setting, seeds_of(how.seed, cell.setting, cell.replication)
    progress(0.0, "Simulating the trial")
    trajectories = simulate(
        setting.model,
        noise=setting.noise,
        subjects=setting.subjects,
        times=setting.times,
        seed=seeds["data"],
    )
    if cell.feature_map in ("adnn", "screened"):
        from smdp.screening import screen

        part = _part(progress, 0.0, 0.1)
        kept = screen(trajectories, how.screening, seed=seeds["screening"], progress=part).selected
        found["screened"] = " ".join(kept)
        if not kept:
            raise DataError(
                "Screening kept no variable.", "More subjects, or a higher level of screening."
            )
        trajectories = trajectories.select(kept)
    elif cell.feature_map == "oracle":
        trajectories = trajectories.select(GenerativeModel(setting.model).true_variables)
    fitted = _fit(cell.feature_map, trajectories, how, seeds["feature_map"],
                  _part(progress, 0.1, 0.8))  # fmt: skip
    found["variables_count"] = len(fitted.variables_used)
    found["dimension"] = fitted.dimension
    found["variables"] = " ".join(fitted.variables_used)
    found["map_seconds"] = perf_counter() - start
    _outcomes(found, cell, trajectories, fitted, how, seeds, progress)


def _fit(
    kind: StudyMap, trajectories: Trajectories, how: StudySettings, seed: int, progress: Progress
) -> FittedFeatureMap:
    if kind == "adnn":
        return fit_feature_map(trajectories, how.feature_map, seed=seed, progress=progress)
    if kind == "tnn":
        settings = separate_networks(how.tnn, len(trajectories.variables))
        return tnn_feature_map(trajectories, settings, seed=seed, progress=progress)
    if kind == "pca":
        return pca_feature_map(trajectories, PcaSettings(how.pca_variance), seed=seed)
    return identity_feature_map(trajectories, seed=seed)


def separate_networks(settings: TnnSettings, variables: int) -> TnnSettings:
    """The settings with candidates for as many variables, where they name none.

    A network that predicts all variables without screening needs many features, wide hidden layers
    and long training: 4, 5, 6 or 8 features and 8 units for every 16 variables, at least 64 units,
    and the settings' steps for every hundred variables begun.
    """
    dimensions = tuple(max(1, k * variables // 16) for k in (4, 5, 6, 8))
    hundreds = -(-variables // 100)
    return replace(
        settings,
        dimensions=settings.dimensions or dimensions,
        widths=settings.widths or (max(64, variables // 2),),
        steps=hundreds * settings.steps,
        refit_steps=hundreds * settings.refit_steps,
    )


def _outcomes(
    found: dict,
    cell: StudyCell,
    trajectories: Trajectories,
    fitted: FittedFeatureMap,
    how: StudySettings,
    seeds: dict[str, int],
    progress: Progress,
) -> None:
    from smdp.policy.learned_policy import learn_policy
    from smdp.policy.policy_settings import PolicySettings
    from smdp.simulation.outcome import simulated_outcome

    setting = cell.setting
    neural = PolicySettings(
        model="neural",
        discount=setting.discount,
        steps=max(1, how.neural_steps),
        bootstraps=0,
    )
    wanted = {"linear": replace(neural, model="linear")}
    if how.neural_steps:
        wanted["neural"] = neural
        if how.further_discount is not None:
            wanted["neural_further"] = replace(neural, discount=how.further_discount)
    for i, (name, settings) in enumerate(wanted.items()):
        # The cell is finished, share 1, only when its outcomes are there too.
        begin, end = (0.9 + 0.09 * k / len(wanted) for k in (i, i + 1))
        part = _part(progress, begin, end)
        part(0.0, f"Learning a policy ({settings.model})")
        policy = learn_policy(trajectories, fitted, settings, seed=seeds["policy"], progress=part)
        found[name] = float(
            simulated_outcome(
                policy,
                setting.model,
                noise=setting.noise,
                subjects=how.evaluation_subjects,
                times=setting.times,
                seed=seeds["outcome"],
            )
        )


def _part(progress: Progress, first: float, last: float) -> Progress:
    return lambda share, what: progress(first + (last - first) * share, what)


def _message(error: Exception) -> str:
    name = "" if isinstance(error, DataError) else f"{type(error).__name__}: "
    return shorten(f"{name}{error}", LONGEST_MESSAGE)
