"""What the pages' controls show for an analysis that no page made: the choices of its plan.

A setting that no control offers stays with the result; the control then shows its default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.page_words import ORDINAL, OWN_UNITS, POOLINGS, TESTS, UPDATES
from dashboard.policy_choice import CHOICE
from dashboard.table import LoadedTable
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.result import AnalysisResult
from smdp.analysis.steps import Step
from smdp.data.column_roles import NextValue
from smdp.data.reshape import to_long
from smdp.data.role_table import roles_to_table

Choice = tuple[str, Any]
ALL_COLUMNS = "*"


def plan_choices(analysis: AnalysisResult, table: LoadedTable) -> dict[str, Any]:
    """By the names under which the pages keep them."""
    plan = analysis.plan
    found: list[Choice] = []
    if Step.DATA in analysis.results:
        found += [*_reading(plan, table), *_roles(plan)]
        found += [*_missing(plan), *_rescaling(plan)]
    found += [*_screening(plan), *_features(plan), *_policies(plan), *_evaluation(plan)]
    return dict(found)


def _reading(plan: AnalysisPlan, table: LoadedTable) -> Iterator[Choice]:
    layout, codes = plan.reading.layout, dict(plan.reading.missing_codes)
    yield f"layout:{table.token}", layout
    yield "layout", layout
    yield "codes", ", ".join(map(str, codes.pop(ALL_COLUMNS, ())))
    columns = roles_to_table(to_long(table.frame, layout), plan.roles, codes)
    yield f"roles:{table.token}:{layout}", columns


def _roles(plan: AnalysisPlan) -> Iterator[Choice]:
    roles = plan.roles
    by_next_value = isinstance(roles.utility, NextValue)
    yield "next value", roles.utility if by_next_value else None
    yield "utility column", None if by_next_value else roles.utility
    levels = roles.action_levels or {}
    for level, label in levels.items():
        yield f"label:{roles.action}:{level}", label
    constants: Mapping[str, Any] = {}
    if isinstance(roles.probability, Mapping):
        constants = {a: p for a, p in roles.probability.items() if not isinstance(p, str)}
    elif isinstance(roles.probability, float):
        constants = dict.fromkeys(list(levels)[1:] or ["1"], roles.probability)
    yield "randomised", bool(constants)
    for level, probability in constants.items():
        yield f"probability:{roles.action}:{level}", probability
    yield "lags", roles.lags
    yield "add time", roles.add_time


def _missing(plan: AnalysisPlan) -> Iterator[Choice]:
    settings = plan.preparation
    yield "missing.threshold", round(100 * settings.exclude_above)
    yield "missing.by_hand", list(settings.also_exclude)
    yield "missing.span", settings.imputation.span
    yield "missing.degree", settings.imputation.degree
    yield "missing.unobserved", settings.unobserved == "exclude"


def _rescaling(plan: AnalysisPlan) -> Iterator[Choice]:
    rescaling = plan.preparation.rescaling
    yield "rescaling.way", OWN_UNITS if rescaling is None else ORDINAL
    if rescaling is not None and rescaling.reference is not None:
        yield "rescaling.reference", rescaling.reference


def _screening(plan: AnalysisPlan) -> Iterator[Choice]:
    if plan.screening is None:
        return
    settings = plan.screening.settings
    yield "screening.level", settings.level
    yield "screening.in", list(settings.force_in)
    yield "screening.out", list(settings.force_out)
    yield "screening.test", _label(TESTS, settings.test)
    yield "screening.pooling", _label(POOLINGS, settings.pooling)
    yield "screening.permutations", settings.permutations or 0
    yield "screening.seed", plan.screening.seed


def _features(plan: AnalysisPlan) -> Iterator[Choice]:
    if plan.features is None:
        return
    settings = plan.features.settings
    yield "features.all", plan.features.use_all
    yield "features.interpretable", settings.interpretable
    yield "features.level", settings.level
    yield "features.kind", plan.features.kind
    yield "features.test", settings.test
    yield "features.seed", plan.features.seed
    one = settings.dimensions is not None and len(settings.dimensions) == 1
    yield "features.by_hand", settings.dimensions[0] if one and settings.dimensions else 0
    yield "features.why", settings.reason
    if plan.stability is not None:
        yield "weights.bootstraps", plan.stability.bootstraps


def _policies(plan: AnalysisPlan) -> Iterator[Choice]:
    if not plan.policies:
        return
    first = plan.policies[0]
    models = [each.settings.model for each in plan.policies]
    yield "q.linear", "linear" in models
    yield "q.neural", "neural" in models
    yield "q.discount", first.settings.discount
    yield "q.update", _label(UPDATES, first.settings.update)
    yield "q.bootstraps", first.settings.bootstraps or 0
    yield "q.level", first.settings.abstain_level
    yield "q.seed", first.seed
    if plan.placebo is not None:
        yield CHOICE, models[plan.placebo.policy - 1]
        yield "policy.shuffles", plan.placebo.repeats


def _evaluation(plan: AnalysisPlan) -> Iterator[Choice]:
    asked = plan.evaluation or plan.placebo
    if asked is not None:
        yield "policy.folds", asked.settings.folds
        yield "policy.refit", asked.settings.refit_map
        yield "policy.bootstraps", asked.settings.bootstraps
        yield "policy.coverage", asked.settings.coverage
        yield "policy.seed", asked.seed
    if plan.trial is not None:
        yield "policy.controls", list(plan.trial.controls)
        yield "policy.moderators", list(plan.trial.moderators)
        yield "policy.logarithm", plan.trial.logarithm


def _label(options: Mapping[str, str], value: str) -> str:
    return next(label for label, own in options.items() if own == value)
