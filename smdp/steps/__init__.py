"""The steps of an analysis, in order: the one list that everything else asks."""

from __future__ import annotations

from smdp.errors import SettingError
from smdp.steps.data import DATA
from smdp.steps.evaluation import EVALUATION
from smdp.steps.features import FEATURES
from smdp.steps.folds import FOLDS
from smdp.steps.imputations import IMPUTATIONS
from smdp.steps.markov import MARKOV
from smdp.steps.missing import MISSING
from smdp.steps.new_data import NEW_DATA
from smdp.steps.passport import PASSPORT
from smdp.steps.placebo import PLACEBO
from smdp.steps.policies import POLICY
from smdp.steps.rescaling import RESCALING
from smdp.steps.rule import RULE
from smdp.steps.screening import SCREENING
from smdp.steps.stability import STABILITY
from smdp.steps.step import Page, PlanSection, ReportSection, Step
from smdp.steps.trade_off import TRADE_OFF
from smdp.steps.trial import TRIAL
from smdp.steps.twin import TWIN
from smdp.text import listing, shorten

__all__ = [
    "DATA", "EVALUATION", "FEATURES", "FOLDS", "IMPUTATIONS", "MARKOV", "MISSING", "NEW_DATA",
    "PASSPORT", "PLACEBO", "POLICY", "RESCALING", "RULE", "SCREENING", "STABILITY", "TRADE_OFF",
    "TRIAL", "TWIN", "Page", "PlanSection", "ReportSection", "Step", "add_step", "remove_step",
    "step_named", "steps",
]  # fmt: skip

_STEPS: list[Step] = [
    DATA,
    MISSING,
    RESCALING,
    TRIAL,
    SCREENING,
    FEATURES,
    STABILITY,
    MARKOV,
    POLICY,
    FOLDS,
    EVALUATION,
    RULE,
    TRADE_OFF,
    PLACEBO,
    TWIN,
    IMPUTATIONS,
    PASSPORT,
    NEW_DATA,
]


#: Keys of a plan, and sections of a report, that are of no step.
RESERVED = {
    "format", "stop_after", "notes", "data_name", "data_fingerprint",
    "summary", "deviations", "warnings", "methods", "appendix",
}  # fmt: skip


def steps() -> tuple[Step, ...]:
    """Every step, in order."""
    return tuple(_STEPS)


def step_named(name: str | Step) -> Step:
    """The step of that name."""
    if isinstance(name, Step):
        return name
    for step in _STEPS:
        if step.name == name:
            return step
    raise SettingError(
        f"There is no step called '{shorten(name)}'.",
        f"The steps are: {listing(_STEPS, len(_STEPS))}.",
    )


def add_step(step: Step, *, after: str) -> None:
    """Let an analysis have a step of another package, after one that is there."""
    place = _STEPS.index(step_named(after)) + 1
    if step.name in (each.name for each in _STEPS):
        raise ValueError(f"there is a step called '{step.name}' already")
    for kind, own, others in (
        ("section of the plan", step.sections, (s for each in _STEPS for s in each.sections)),
        ("section of the report", step.report, (s for each in _STEPS for s in each.report)),
    ):
        taken = {_key(other) for other in others} | RESERVED
        for section in own:
            if _key(section) in taken:
                raise ValueError(f"there is a {kind} called '{_key(section)}' already")
    fixed = () if callable(step.needs) else step.needs
    before = [each.name for each in _STEPS[:place]]
    for name in (*fixed, *step.takes.values(), *step.gathers):
        if name not in before:
            raise ValueError(f"'{step.name}' works on '{name}', which is not a step before it")
    _STEPS.insert(place, step)


def _key(section: PlanSection | ReportSection) -> str:
    return section.name if isinstance(section, PlanSection) else section.key


def remove_step(name: str) -> None:
    """Take a step out again that was added."""
    _STEPS.remove(step_named(name))
