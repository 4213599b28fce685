"""The passport: what the conclusions rest on, each thing with a verdict and its evidence.

Some rows are tested here: whether treatment was randomised as planned, whether gaps are related to
what was measured, whether each treatment was tried wherever the features go, and what was answered
about columns that look as if they were measured after the decision. The others gather what other
steps have found. There is no overall score: a study can stand on nine of ten things and fall with
the tenth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from smdp.data.leaks import find_leaks
from smdp.data.prepare import CompletedStudy
from smdp.data.trajectories import Trajectories
from smdp.errors import SmdpError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.placebo import PlaceboCheck
from smdp.evaluation.positivity import positivity_table
from smdp.evaluation.rule_value import RuleReport
from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_rows import value_rows
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.stability import FeatureMapStability
from smdp.markov.markov_check import MarkovCheck
from smdp.markov.markov_settings import MarkovSettings
from smdp.progress import Progress, between, silent
from smdp.propensity import propensities
from smdp.result import Result
from smdp.settings import require_whole
from smdp.validation.check_reliability import COLUMNS, check_reliability, rates_on_twin
from smdp.validation.decisions_seen import seen_in_study
from smdp.validation.imputation_draws import ImputationDraws
from smdp.validation.missing_related import OUTCOME, MissingRelated, check_missing_related
from smdp.validation.passport_rows import (
    PassportRow,
    Thing,
    dimension_row,
    effect_row,
    form_row,
    leaks_row,
    look_back_row,
    missing_row,
    positivity_row,
    process_row,
    randomisation_row,
    rule_row,
    value_row,
    variables_row,
)
from smdp.validation.passport_settings import PassportSettings
from smdp.validation.randomisation import RandomisationCheck, check_randomisation
from smdp.validation.twin_study import TwinStudy

#: Of a study whose variables no step has chosen, the simulated studies have at most so many.
MOST_VARIABLES = 8


@dataclass(frozen=True, eq=False, repr=False)
class Passport(Result):
    """`reliability`: see `smdp.validation.check_reliability`; empty where nothing was simulated,
    and `no_reliability` says why where it was asked for and could not be.
    """

    rows: tuple[PassportRow, ...]
    randomisation: RandomisationCheck
    missing: MissingRelated
    reliability: pd.DataFrame
    no_reliability: str
    people: int
    decisions: int  # of the longest person's study
    variables: tuple[str, ...]  # of the simulated studies
    settings: PassportSettings
    seed: int

    def row(self, thing: Thing) -> PassportRow:
        return next(each for each in self.rows if each.thing == thing)


def make_passport(
    completed: CompletedStudy,
    trajectories: Trajectories,
    frame: pd.DataFrame | None = None,
    settings: PassportSettings = PassportSettings(),  # noqa: B008 - frozen
    *,
    markov: MarkovCheck | None = None,
    feature_map: FittedFeatureMap | None = None,
    stability: FeatureMapStability | None = None,
    value: PolicyValue | None = None,
    placebo: PlaceboCheck | None = None,
    rule: RuleReport | None = None,
    imputations: ImputationDraws | None = None,
    twin: TwinStudy | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Passport:
    """One row for each thing that the conclusions rest on.

    `frame`: the long table, to look for columns that may be known only after the decision. What is
    not given of the other steps is told as not checked. `value`: of the policy that the placebo
    check is of. `twin`: tells how often variables and gain are found in a study of this size.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    require_whole("seed", seed, 0)
    say = progress or silent
    roles = completed.arranged.roles
    # The last digits would depend on how many threads share a sum.
    with threadpool_limits(1, user_api="blas"):
        say(0.0, "Was treatment randomised as planned?")
        seen = seen_in_study(completed)
        randomised = check_randomisation(seen, draws=settings.draws, seed=seed)
        say(0.02, "Is what is missing related to what was measured?")
        missing = check_missing_related(seen, draws=settings.draws, seed=seed)
        say(0.04, "Was every treatment tried wherever the features go?")
        positivity = _positivity(trajectories, feature_map)
        say(0.06, "Is every state known before the decision?")
        leaks = None if frame is None else find_leaks(frame, replace(roles, known_before=()))
        rows = (
            leaks_row(leaks, roles),
            randomisation_row(randomised, roles, settings.level),
            missing_row(missing, settings.level, imputations),
            look_back_row(markov),
            process_row(markov),
            effect_row(markov),
            dimension_row(feature_map),
            form_row(feature_map),
            variables_row(stability),
            positivity,
            value_row(value, placebo, settings.level),
            rule_row(rule),
        )
        used = _variables(trajectories, markov, feature_map)
        reliability, why_not = _reliability(
            trajectories.select(used), missing, settings, markov, seed, between(say, 0.08, 1.0)
        )
        if twin is not None:
            several = [each for each in (reliability, rates_on_twin(twin)) if len(each)]
            reliability = pd.concat(several, ignore_index=True) if several else reliability
    say(1.0, "The passport is written")
    return Passport(
        rows=rows,
        randomisation=randomised,
        missing=missing,
        reliability=reliability,
        no_reliability=why_not,
        people=len(np.unique(np.array(trajectories.subjects, dtype=str))),
        decisions=int(trajectories.valid.any(axis=0).sum()),
        variables=used,
        settings=settings,
        seed=seed,
    )


def _variables(
    trajectories: Trajectories, markov: MarkovCheck | None, fitted: FittedFeatureMap | None
) -> tuple[str, ...]:
    """Those that the conclusions are about, as far as it is known."""
    known: Sequence[str] = ()
    if markov is not None:
        known = markov.variables
    elif fitted is not None:
        known = fitted.variables_used
    there = tuple(name for name in known if name in trajectories.variables)
    return there or trajectories.variables[:MOST_VARIABLES]


def _positivity(trajectories: Trajectories, fitted: FittedFeatureMap | None) -> PassportRow:
    rare = EvaluationSettings().rare
    names = trajectories.variables if fitted is None else fitted.variables
    try:
        own = trajectories.select(names)
        rows = value_rows(own, names, following=False)
        known = propensities(own, rows, names)
        states = rows.at(own.states)
        points = states if fitted is None else fitted.transform(states)
        table = positivity_table(rows, known, points, own.action_labels, rare)
    except SmdpError as error:
        return positivity_row(None, rare, error.problem, 0)
    return positivity_row(table, rare, "", 0 if fitted is None else fitted.dimension)


def _reliability(
    trajectories: Trajectories,
    missing: MissingRelated,
    settings: PassportSettings,
    markov: MarkovCheck | None,
    seed: int,
    progress: Progress,
) -> tuple[pd.DataFrame, str]:
    empty = pd.DataFrame(columns=COLUMNS)
    if not settings.studies:
        return empty, ""
    asked = MarkovSettings() if markov is None else markov.settings
    own = missing.counts.set_index("missing").loc[OUTCOME]
    share = float(own["count"] / own["total"]) if own["total"] else 0.0
    try:
        found = check_reliability(
            trajectories, settings, asked, missing=share, seed=seed, progress=progress
        )
    except SmdpError as error:
        return empty, error.problem
    return found, "" if len(found) else "No simulated study of this size could be checked."
