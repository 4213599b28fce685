"""What a plan says of each step: its settings and its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import smdp.data.shaping.operations  # noqa: F401 - a plan may name any of them
from smdp.data.columns import level_text
from smdp.data.reshape import Layout
from smdp.data.shaping.join import JoinTable
from smdp.data.shaping.operation import Operation
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.trade_off_settings import TradeOffSettings
from smdp.feature_map.kinds import map_kind
from smdp.markov.markov_settings import MarkovSettings
from smdp.policy.policy_settings import PolicySettings
from smdp.result import Content
from smdp.screening_settings import ScreeningSettings
from smdp.settings import Settings, require, seed_setting, setting
from smdp.validation.imputation_settings import ImputationDrawsSettings
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.passport_settings import PassportSettings
from smdp.validation.twin_settings import TwinSettings


@dataclass(frozen=True)
class TableFile:
    """A table that is joined: its `name` in the joins, and the `file` that holds it.

    The file lies beside that of the main table. `fingerprint`: the SHA-256 of its bytes, "" where
    that is not known. `sheet`: of a workbook.
    """

    name: str
    file: str = ""
    fingerprint: str = ""
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        bare = not any(sign in self.file for sign in "/\\\0") and self.file not in (".", "..")
        require(bare, "file", "the name of a file, without a folder", self.file)


LAYOUTS: tuple[Layout, ...] = ("long", "wide", "redcap")


@dataclass(frozen=True, eq=False)
class ReadingSettings(Content):
    """How the table is read: the workbook's `sheet`, its `layout`, what means "missing", its shape.

    `layout`: "long" (a row for each subject and time), "wide" (a row for each subject) or "redcap".
    `missing_codes`: by column of the long table, with "*" for all columns. `shape`: what is then
    done to the long table, in order (`smdp.shape`). `tables`: the files of those that it joins.
    `labels`, `choices`: what columns and their values are called, beside what the file itself says
    (`smdp.with_labels`), as in a data dictionary.
    """

    sheet: str | int | None = None
    layout: Layout = "long"
    missing_codes: Mapping[str, tuple[str | float, ...]] = field(default_factory=dict)  # as text
    shape: tuple[Operation, ...] = ()
    tables: tuple[TableFile, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require(self.layout in LAYOUTS, "layout", f"one of {LAYOUTS}", self.layout)
        codes = {}
        for column, found in self.missing_codes.items():
            listed = (found,) if isinstance(found, str | int | float) else found
            if listed:
                codes[column] = tuple(level_text(code) for code in listed)
        object.__setattr__(self, "missing_codes", codes)
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "tables", tuple(self.tables))
        for each in self.shape:
            good = isinstance(each, Operation)
            require(good, "shape", "a list of operations", type(each).__name__)
        names = [each.name for each in self.tables]
        require(len(names) == len(set(names)), "tables", "of different names", names)

    @property
    def joined(self) -> tuple[TableFile, ...]:
        """The tables that the shape joins, in their order, with their files if these are named."""
        named = {each.name: each for each in self.tables}
        wanted = dict.fromkeys(each.table for each in self.shape if isinstance(each, JoinTable))
        return tuple(named.get(name, TableFile(name)) for name in wanted)


@dataclass(frozen=True)
class ScreeningPlan(Settings):
    """Algorithm 1: its settings and its seed."""

    settings: ScreeningSettings = field(default_factory=ScreeningSettings)
    seed: int = seed_setting()


@dataclass(frozen=True)
class FeatureMapPlan(Settings):
    """The kind of feature map, its settings and seed, and whether screening decides its inputs.

    `settings`: those of the kind; None: its defaults.
    """

    kind: str = setting(
        "adnn",
        "Kind of map",
        help="The others are there to compare with.",
        control="select",
        more=True,
    )
    use_all: bool = setting(
        False,
        "Use all variables",
        help="Not only those that screening kept. Slower, and noise gets a chance.",
    )
    settings: Settings = None  # type: ignore[assignment] # never None once it is made
    seed: int = seed_setting()

    def check(self) -> None:
        own = map_kind(self.kind).settings
        if self.settings is None:
            object.__setattr__(self, "settings", own())
        given = f"{type(self.settings).__name__}()"
        must = f"{own.__name__} for a feature map of kind '{self.kind}'"
        require(isinstance(self.settings, own), "settings", must, given)

    @classmethod
    def flat_type(cls, table: Mapping[str, object]) -> type[Settings]:
        """The class of the settings that a plan's table describes."""
        kind = table.get("kind", "adnn")
        return map_kind(kind if isinstance(kind, str) else "adnn").settings


@dataclass(frozen=True)
class StabilityPlan(Settings):
    """The feature map again, on `bootstraps` resamples of the subjects."""

    bootstraps: int = setting(
        20,
        "Resamples for stability",
        help="How many times people are drawn anew, with replacement, and the whole map is fitted.",
        least=2,
        given=(5, 500),
    )
    seed: int = seed_setting()


@dataclass(frozen=True)
class MarkovPlan(Settings):
    """The Markov check: its settings and seed, and whether screening decides its variables."""

    settings: MarkovSettings = field(default_factory=MarkovSettings)
    use_all: bool = setting(
        False,
        "Use all variables",
        help="Not only those that screening kept. Without a screening, all are used anyway.",
    )
    seed: int = seed_setting()


@dataclass(frozen=True)
class PolicyPlan(Settings):
    """One policy: its settings and its seed."""

    settings: PolicySettings = field(default_factory=PolicySettings)
    seed: int = seed_setting()


@dataclass(frozen=True)
class EvaluationPlan(Settings):
    """What each of the policies would earn: the settings and the seed of that estimate.

    `judged`: by analyses that are done anew without each fold of people, screening and all, or
    quickly, with variables and dimension as they were chosen with everybody.
    """

    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = seed_setting()
    judged: Literal["whole analysis", "quick"] = setting(
        "whole analysis",
        "How it is judged",
        help="Whole analysis: screening, features and policy anew without each fold of people, so "
        "that nobody is judged by anything that was chosen with the same person. This is the value "
        "to report; it takes several times as long as the analysis itself. Quick: variables and "
        "dimension stay as they were chosen with everybody, which looks too good.",
        choices={
            "whole analysis": "Whole analysis (reported)",
            "quick": "Quick, for exploring",
        },
        control="radio",
    )

    @property
    def whole(self) -> bool:
        return self.judged == "whole analysis"


@dataclass(frozen=True)
class FoldsPlan(Settings):
    """What is done anew without each fold, as other sections of the plan have it.

    `screening`: None where all variables are used.
    """

    folds: int
    seed: int
    screening: ScreeningPlan | None
    features: FeatureMapPlan
    policies: tuple[PolicyPlan, ...]


@dataclass(frozen=True)
class PlaceboPlan(Settings):
    """One policy learned and judged again, `repeats` times, with shuffled actions.

    `policy`: which of the plan's policies, counted from 1. `settings`: of its evaluation.
    """

    policy: int = setting(1, "Policy", least=1, page=False)
    repeats: int = setting(
        20,
        "Shuffles",
        help="With 20, the smallest possible p-value is 1 in 21.",
        least=1,
        given=(5, 500),
    )
    settings: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = seed_setting()


@dataclass(frozen=True)
class RulePlan(Settings):
    """One policy as a rule that fits on a card, and rules of one's own judged beside it.

    `policy`: which of the plan's policies, counted from 1. `own`: rules as text, such as
    "stress < 4 -> message; else none". `evaluation`: how all of them are judged.
    """

    policy: int = setting(1, "Policy", least=1, page=False)
    settings: RuleSettings = field(default_factory=RuleSettings)
    own: tuple[str, ...] = setting((), "My own rules", what="rules", page=False)
    evaluation: EvaluationSettings = setting(EvaluationSettings, factory=True, page=False)
    seed: int = seed_setting()


@dataclass(frozen=True)
class TradeOffPlan(Settings):
    """What is earned as treating costs more, with the features and discount of the first policy.

    `evaluation`: how each of its policies is judged.
    """

    settings: TradeOffSettings = field(default_factory=TradeOffSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = seed_setting()


@dataclass(frozen=True)
class PassportPlan(Settings):
    """What the conclusions rest on, in one table: its settings and its seed."""

    settings: PassportSettings = field(default_factory=PassportSettings)
    seed: int = seed_setting()


#: What the further table is called that the step New data works on.
NEW_TABLE = "new data"


@dataclass(frozen=True)
class NewDataPlan(Settings):
    """New people before the frozen analysis: their `table`, the rules, and the seed."""

    table: TableFile = TableFile(NEW_TABLE)
    settings: NewDataSettings = field(default_factory=NewDataSettings)
    seed: int = seed_setting()


#: Of the outcome's kind: as the roles say, or as its values look.
AS_RECOGNISED = "recognised"


@dataclass(frozen=True)
class TrialPlan(Settings):
    """What treatment did (`smdp.trial_summary`): adjusted for what, changing with what, how told.

    `logarithm`: whether the outcome is one, so that effects are said in percent too; known by
    itself where a step of shaping made it one.
    """

    controls: tuple[str, ...] = setting(
        (),
        "Adjust for",
        help="Variables that predict the outcome: they narrow the interval, and do not change what "
        "is estimated.",
        what="variables",
        control="several",
    )
    moderators: tuple[str, ...] = setting(
        (),
        "The effect may change with",
        help="Moderators, looked at together: each gets a row of its own, by how much the effect "
        "changes with one unit of it. One at a time all variables are looked at anyway.",
        what="variables",
        control="several",
    )
    coverage: float = setting(
        0.95,
        "Confidence level of the intervals",
        help="How often, in trials like this one, such an interval holds the effect.",
        what="a share",
        least=0.5,
        below=1,
        given=(0.5, 0.99),
        step=0.01,
        more=True,
    )
    logarithm: bool = setting(
        False,
        "The outcome is a natural logarithm",
        help="Then an effect is also said in percent of what was measured before the logarithm. "
        "It is known by itself, to the base 10 too, where the table was shaped here.",
        more=True,
    )
    reference: str = setting(
        "",
        "Compared with",
        help="The treatment, or none, that the effects of the others are against.",
        control="select",
    )
    kind: Literal["recognised", "continuous", "yes/no", "count"] = setting(
        AS_RECOGNISED,
        "Kind of outcome",
        help="Effects on yes/no outcomes and counts are ratios, with differences beside them; "
        "others are differences.",
        choices={
            AS_RECOGNISED: "as on the page Data",
            "continuous": "a number",
            "yes/no": "yes or no",
            "count": "a count",
        },
        control="select",
        more=True,
    )
    time: str = setting(
        "",
        "Over time by",
        help="A variable such as the day in the study, or the number of the decision.",
        control="select",
    )
    numerator: float | None = setting(
        None,
        "Probability in the weights",
        symbol="p~",
        help="Of each treatment but the one compared with: a constant. 0: the mean of the "
        "probabilities. It matters only where these differ between decisions.",
        above=0,
        below=1,
        empty="0 for the mean",
        more=True,
    )
    own_probabilities: bool = setting(
        False,
        "Centre by each decision's own probability",
        help="Without weights. For yes/no outcomes this is what sample sizes are computed for.",
        more=True,
    )
    learned: Literal["not said", "no", "yes"] = setting(
        "not said",
        "Were the chances of treatment learned during the study, from several people's data?",
        help="As in trials whose algorithm was updated for everybody. Ordinary intervals are then "
        "too narrow.",
        choices={"not said": "not said", "no": "no", "yes": "yes"},
        control="select",
        more=True,
    )
    each_decision: bool = setting(
        True,
        "Every decision with an outcome counts",
        help="Off: only those that a next state follows, with variables as they were rescaled, as "
        "in analyses of earlier versions.",
        more=True,
    )

    def check(self) -> None:
        both = self.own_probabilities and self.numerator is not None
        require(not both, "numerator", "left out with 'own_probabilities'", self.numerator)


@dataclass(frozen=True)
class TwinPlan(Settings):
    """The analysis repeated on studies drawn from a twin of this one."""

    settings: TwinSettings = field(default_factory=TwinSettings)
    seed: int = seed_setting()


@dataclass(frozen=True)
class ImputationsPlan(Settings):
    """Results with missing values drawn several times, and what is missing where."""

    settings: ImputationDrawsSettings = field(default_factory=ImputationDrawsSettings)
    seed: int = seed_setting()
