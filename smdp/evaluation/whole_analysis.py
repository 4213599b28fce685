"""The whole analysis anew without each fold of people: screening, feature map and policies.

Where variables and dimension were chosen with everybody, what a policy would earn looks too good,
for the person judged had a part in the choice. Here each fold of people is judged by an analysis
that has never seen them. What comes before (filling in, rescaling) looks at no outcome of treatment
and stays as it is.

Reference: Chernozhukov et al. (2018), "Double/debiased machine learning"; Varma & Simon (2006),
"Bias in error estimation when using cross-validation for model selection".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.evaluation.cross_fit import folds_of_subjects, seeds_of
from smdp.evaluation.value_rows import value_rows
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.identity import no_features
from smdp.feature_map.kinds import map_kind
from smdp.feature_map.network_settings import NetworkSettings
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.plain_data import fingerprint
from smdp.policy.learned_policy import LearnedPolicy, learn_policy
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Cancelled, Progress, between, part_of, silent
from smdp.result import Content, Result
from smdp.screening import screen
from smdp.screening_settings import ScreeningSettings
from smdp.settings import Settings, require, require_whole


@dataclass(frozen=True, eq=False, repr=False)
class WholeAnalysis(Content):
    """What is done anew in each fold: the settings and the seed of every part.

    `screening`: None where all variables go into the map. `seeds`: of screening, of the map, and of
    each policy.
    """

    screening: ScreeningSettings | None = field(default_factory=ScreeningSettings)
    features: Settings = field(default_factory=FeatureMapSettings)
    policies: tuple[PolicySettings, ...] = (PolicySettings(),)
    kind: str = "adnn"  # of feature map
    seeds: tuple[int, ...] = ()  # none: 0 for each

    def __post_init__(self) -> None:
        if self.screening is not None:  # the number of threads changes nothing in the result
            object.__setattr__(self, "screening", replace(self.screening, jobs=1))
        if not self.seeds:
            object.__setattr__(self, "seeds", (0,) * (2 + len(self.policies)))
        enough = len(self.seeds) == 2 + len(self.policies)
        require(enough, "seeds", "one of screening, map and each policy", self.seeds)
        for seed in self.seeds:
            check_seed(seed)


@dataclass(frozen=True, eq=False, repr=False)
class FoldAnalysis(Content):
    """The analysis of everybody but one fold of people."""

    fold: int  # 0, 1, ..
    people: int  # that it was made from
    selected: tuple[str, ...]  # by screening, or all variables where there was none
    feature_map: FittedFeatureMap  # of no variable where there was nothing to make it of
    policies: tuple[LearnedPolicy, ...]  # in the order of those asked for
    notes: tuple[str, ...] = ()

    @property
    def constant(self) -> bool:
        """Whether its policies are one action for everybody, the best on average."""
        return not self.feature_map.variables_used


@dataclass(frozen=True, eq=False, repr=False)
class FoldAnalyses(Result):
    """The analyses without each fold, and who is in which.

    People have no names here, but the places of their trajectories.
    """

    fold: NDArray[np.int64]  # (n,): of each trajectory; -1 for those that are never judged
    analyses: tuple[FoldAnalysis, ...]  # those that are finished, in order
    how: WholeAnalysis
    folds: int
    seed: int
    data: str  # the fingerprint of the trajectories
    complete: bool = True  # False: stopped before the last fold

    @property
    def fold_numbers(self) -> tuple[int, ...]:
        """Of the folds that are finished."""
        return tuple(each.fold for each in self.analyses)

    @property
    def variables_used(self) -> tuple[str, ...]:
        """Those of any fold's map."""
        return tuple(dict.fromkeys(v for a in self.analyses for v in a.feature_map.variables_used))

    @property
    def table(self) -> pd.DataFrame:
        """A row for each fold that is finished: what its analysis kept."""
        rows = [
            {
                "fold": each.fold + 1,
                "people": each.people,
                "kept": ", ".join(each.selected),
                "features": each.feature_map.dimension,
                "variables_used": ", ".join(each.feature_map.wholes_used),
                "constant": each.constant,
                "notes": " ".join(each.notes),
            }
            for each in self.analyses
        ]
        columns = ["fold", "people", "kept", "features", "variables_used", "constant", "notes"]
        return pd.DataFrame(rows, columns=columns)

    def without(self, trajectories: Trajectories, fold: int) -> Trajectories:
        """Those that the analysis of this fold was made from."""
        return trajectories.take(self.fold != fold)

    def policies(self, number: int = 0) -> list[LearnedPolicy]:
        """The policy of this place in the plan, for each fold."""
        return [each.policies[number] for each in self.analyses]

    def require_made_from(self, trajectories: Trajectories) -> None:
        """Refuse other data than those of the analyses, or folds that are not finished."""
        if fingerprint(trajectories) != self.data:
            raise DataError(
                "The analyses without each fold were made from other data.",
                "Make them from these data.",
            )
        if len(self.analyses) < self.folds:
            raise DataError(
                f"Only {len(self.analyses)} of the {self.folds} analyses without a fold are done.",
                "Go on with them: those that are finished are kept.",
            )


class FoldsCancelled(Cancelled):
    """The work was stopped; `finished` holds the folds that are done, None without any."""

    finished: FoldAnalyses | None

    def __init__(self, finished: FoldAnalyses | None) -> None:
        super().__init__("The analyses without each fold were stopped.")
        self.finished = finished


def analyses_without_each(
    trajectories: Trajectories,
    how: WholeAnalysis | None = None,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Progress | None = None,
    earlier: FoldAnalyses | None = None,
) -> FoldAnalyses:
    """Screening, feature map and policies anew without each fold of people.

    The same seed and number of folds give the folds of `evaluate_policy`. Where a fold's screening
    keeps nothing, or no map can be made, its policies are the best constant action. `earlier`:
    finished folds are taken from there, if they were made in the same way from the same data.
    Stopped by `progress`, it raises `FoldsCancelled` with those that are finished.
    """
    how = how or WholeAnalysis()
    check_seed(seed)
    require_whole("folds", folds, 2)
    progress = progress or silent
    rows = value_rows(trajectories, (), following=False)
    random = np.random.default_rng(seeds_of(seed)[0])
    of_unit = folds_of_subjects(rows, folds, trajectories.action_labels, random)
    judged = np.array(trajectories.subjects, dtype=object)[rows.row[rows.first]]
    of_person = dict(zip(judged, of_unit.tolist(), strict=True))
    fold = np.array([of_person.get(name, -1) for name in trajectories.subjects], dtype=np.int64)
    empty = FoldAnalyses(fold, (), how, folds, seed, fingerprint(trajectories), complete=False)
    done = {each.fold: each for each in _kept(earlier, empty)}
    left = [k for k in range(folds) if k not in done]
    before = len(done)

    def fold_progress(place: int) -> Progress:
        start = (before + place) / folds
        prefix = f"Without fold {before + place + 1} of {folds}: "
        return between(progress, start, start + 1 / folds, prefix)

    def finished() -> FoldAnalyses:
        found = tuple(done[k] for k in sorted(done))
        return replace(empty, analyses=found, complete=len(found) == folds)

    shared = (trajectories, fold, how)
    try:
        for found in each(_without, left, *shared, progress=fold_progress):
            done[found.fold] = found
    except Cancelled as stop:
        raise FoldsCancelled(finished() if done else None) from stop
    progress(1.0, "The analyses without each fold are done")
    return finished()


def _kept(earlier: FoldAnalyses | None, asked: FoldAnalyses) -> Sequence[FoldAnalysis]:
    """Of earlier analyses, those that would come out again."""
    if earlier is None:
        return ()
    same = replace(earlier, analyses=(), complete=False) == asked
    return earlier.analyses if same else ()


def _without(
    k: int,
    trajectories: Trajectories,
    fold: NDArray[np.int64],
    how: WholeAnalysis,
    progress: Progress = silent,
) -> FoldAnalysis:
    own = trajectories.take(fold != k)
    try:
        return analysed_anew(own, how, fold=k, progress=progress)
    except DataError as error:
        people = len(set(own.subjects))
        raise DataError(
            f"The analysis without fold {k + 1} ({people} people): {error.problem}",
            error.remedy or "Use fewer folds, add people, or judge the quick way.",
            error.concerns,
        ) from error


def analysed_anew(
    own: Trajectories, how: WholeAnalysis, *, fold: int = 0, progress: Progress = silent
) -> FoldAnalysis:
    """Screening, feature map and policies of these people alone."""
    selected, fitted, notes = _map(own, how, progress)
    learning = between(progress, 0.95, 1.0)
    policies = [
        _learned(own, fitted, settings, seed, part_of(learning, number, len(how.policies)))
        for number, (settings, seed) in enumerate(zip(how.policies, how.seeds[2:], strict=True))
    ]
    people = len(set(own.subjects))
    return FoldAnalysis(fold, people, selected, fitted, tuple(policies), tuple(notes))


def _map(
    own: Trajectories, how: WholeAnalysis, progress: Progress
) -> tuple[tuple[str, ...], FittedFeatureMap, list[str]]:
    """What was selected, the map, and what should be known about it."""
    selected = tuple(own.wholes)
    if how.screening is not None:
        found = screen(own, how.screening, seed=how.seeds[0], progress=between(progress, 0.0, 0.25))
        selected = found.selected
    if not selected:
        return selected, no_features(), ["Screening kept no variable."]
    kept = own.select(selected)
    try:
        fitted = map_kind(how.kind).fit(
            kept,
            _for_so_many(how.features, len(kept.variables)),
            seed=how.seeds[1],
            progress=between(progress, 0.25, 0.95),
        )
    except DataError as error:
        return selected, no_features(), [f"No feature map could be made: {error.problem}"]
    if not fitted.variables_used:
        return selected, no_features(), ["The feature map used no variable."]
    return selected, fitted, []


def _for_so_many(settings: Settings, variables: int) -> Settings:
    """Without dimensions, set by hand, that fewer variables than everybody's cannot have."""
    if not isinstance(settings, NetworkSettings):
        return settings
    asked = settings.dimensions
    if asked is None or max(asked) <= variables:
        return settings
    possible = tuple(each for each in asked if each <= variables) or (variables,)
    return replace(settings, dimensions=possible)


def _learned(
    own: Trajectories,
    fitted: FittedFeatureMap,
    settings: PolicySettings,
    seed: int,
    progress: Progress,
) -> LearnedPolicy:
    asked = settings.to_be_judged
    if not fitted.variables_used:  # an intercept for each action needs no network and no steps
        asked = replace(asked, model="linear", update="batch")
    policy = learn_policy(own, fitted, asked, seed=seed, progress=progress)
    return replace(policy, support=None)  # nothing abstains when it is judged


def require_policies(analyses: FoldAnalyses, policies: Sequence[LearnedPolicy]) -> None:
    """Refuse policies that were learned in another way than those of the folds."""
    own = [policy.settings.to_be_judged for policy in policies]
    if own != [settings.to_be_judged for settings in analyses.how.policies]:
        raise SettingError(
            "The policies were learned with other settings than those in the analyses without "
            "each fold.",
            "Make the analyses without each fold again, with the settings of these policies.",
        )
