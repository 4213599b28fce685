"""Everything that an analysis was asked to do, as plain settings that can be written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from smdp.analysis.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    PlaceboPlan,
    PolicyPlan,
    ReadingSettings,
    ScreeningPlan,
    StabilityPlan,
    TrialPlan,
)
from smdp.analysis.steps import Step
from smdp.analysis.typed_text import from_table, to_table
from smdp.data.column_roles import ColumnRoles
from smdp.errors import SettingError
from smdp.settings import PreparationSettings, require


@dataclass(frozen=True)
class AnalysisPlan:
    """Every choice of an analysis: the same plan on the same table gives the same numbers.

    Steps that are None are not done, and nothing is done after `stop_after`. `notes`: the author's
    own words, by step. `data_name`, `data_fingerprint`: the file that the plan was made with (its
    name and the SHA-256 of its bytes); another file may be analysed by it, and that is then said.
    """

    roles: ColumnRoles
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    preparation: PreparationSettings = field(default_factory=PreparationSettings)
    screening: ScreeningPlan | None = None
    features: FeatureMapPlan | None = None
    stability: StabilityPlan | None = None
    policies: tuple[PolicyPlan, ...] = ()
    evaluation: EvaluationPlan | None = None
    placebo: PlaceboPlan | None = None
    trial: TrialPlan | None = None
    stop_after: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    data_name: str = ""
    data_fingerprint: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", tuple(self.policies))
        object.__setattr__(self, "notes", dict(self.notes))
        self._as_read_back()
        if self.stop_after is not None:
            names = tuple(str(step) for step in Step)
            require(self.stop_after in names, "stop_after", f"one of {names}", self.stop_after)
        for wanted, has, needed, given in (
            ("stability", self.stability, "features", self.features),
            ("policies", self.policies, "features", self.features),
            ("evaluation", self.evaluation, "policies", self.policies),
            ("placebo", self.placebo, "policies", self.policies),
        ):
            if has and not given:
                raise SettingError(
                    f"The plan has '{wanted}' but no '{needed}', which it works on.",
                    f"Add '{needed}' to the plan, or leave '{wanted}' out.",
                )
        if self.placebo is not None and self.placebo.policy > len(self.policies):
            raise SettingError(
                f"The plan's 'placebo' is for policy {self.placebo.policy}, but there are only "
                f"{len(self.policies)}.",
                "Set 'policy' of 'placebo' to one of them.",
            )
        if self.features is not None and self.screening is None and not self.features.use_all:
            raise SettingError(
                "The plan has 'features' but no 'screening' to decide which variables go in.",
                "Add 'screening' to the plan, or set 'use_all' of 'features' to true.",
            )
        if self.stability is not None and self.features and self.features.kind != "adnn":
            raise SettingError(
                f"The plan has 'stability' of a feature map of kind '{self.features.kind}'.",
                "Stability is checked for the kind 'adnn' only; leave 'stability' out.",
            )

    def _as_read_back(self) -> None:
        """Give every setting the type that it has when the plan is read: 0 to 7 is 0.0 to 7.0.

        Results hold settings, and their fingerprints are to be the same either way.
        """
        parts = ("roles", "preparation", "screening", "features", "stability", "evaluation")
        for name in (*parts, "placebo", "trial"):
            part = getattr(self, name)
            if part is not None:
                object.__setattr__(self, name, _read_back(part, name))
        policies = tuple(_read_back(policy, "policies") for policy in self.policies)
        object.__setattr__(self, "policies", policies)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps to be done, in order."""
        planned = [step for step in Step if self.asked(step) is not None]
        if self.stop_after is None:
            return tuple(planned)
        last = list(Step).index(Step(self.stop_after))
        return tuple(step for step in planned if list(Step).index(step) <= last)

    def asked(self, step: Step) -> Any:
        """The settings and seeds of a step, None where the plan has no such step.

        Only what the step's result depends on, so that it can be compared with what it was made
        with.
        """
        return {
            Step.DATA: (self.reading, self.roles),
            Step.MISSING: _only_missing(self.preparation),
            Step.RESCALING: self.preparation.rescaling or "own units",
            Step.SCREENING: _on_one_thread(self.screening),
            Step.FEATURES: self.features,
            Step.STABILITY: self.stability,
            Step.POLICY: self.policies or None,
            Step.EVALUATION: self.evaluation,
            Step.PLACEBO: self.placebo,
            Step.TRIAL: self.trial,
        }[step]

    def to_toml(self) -> str:
        """The plan as TOML, as `smdp run` takes it."""
        from smdp.analysis.plan_text import plan_to_toml

        return plan_to_toml(self)

    def to_json(self) -> str:
        from smdp.analysis.plan_text import plan_to_json

        return plan_to_json(self)

    def to_script(self, data: str | None = None) -> str:
        """A Python script that does the same to the file `data` with public names only."""
        from smdp.analysis.script import script

        return script(self, data)

    @classmethod
    def from_toml(cls, text: str) -> AnalysisPlan:
        from smdp.analysis.plan_text import plan_from_toml

        return plan_from_toml(text)

    @classmethod
    def from_json(cls, text: str) -> AnalysisPlan:
        from smdp.analysis.plan_text import plan_from_json

        return plan_from_json(text)


def _only_missing(settings: PreparationSettings) -> PreparationSettings:
    return replace(settings, rescaling=None)


def _on_one_thread(plan: ScreeningPlan | None) -> ScreeningPlan | None:
    """The number of threads changes nothing in the result."""
    return None if plan is None else replace(plan, settings=replace(plan.settings, jobs=1))


def _read_back(part: Any, name: str) -> Any:
    return from_table(type(part), to_table(part, nulls=True), name)
