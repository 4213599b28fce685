"""What each column of a table is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from smdp.data.outcome import AboutOutcome, OutcomeName
from smdp.data.variables import KINDS, Kind
from smdp.errors import SettingError
from smdp.plain_data import WORDS
from smdp.result import Content
from smdp.settings import require
from smdp.text import listing

#: In `known_before`: every state, of a plan that was made before anybody was asked.
NEVER_ASKED = "*"

Assignment = Literal["randomised", "observed"]
ASSIGNMENTS: tuple[Assignment, ...] = ("randomised", "observed")


@dataclass(frozen=True)
class StateVariable:
    """One state variable as it is declared: its column, its type and the range of its values.

    Ordinal and binary variables are whole numbers wherever their observed values are. `kind=None`
    is settled from the values; `low` and `high` are the declared range, None where the observed
    one is taken; `unit` is what its numbers count, such as "hours". Columns of numbers with the
    same `group` are one variable, a vector of that name: they enter and leave together.
    """

    name: str
    kind: Kind | None = None
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        require(self.kind in (None, *KINDS), f"kind of '{self.name}'", f"one of {KINDS}", self.kind)
        if self.of_words and (self.group or self.low is not None or self.high is not None):
            what = f"a group ('{self.group}')" if self.group else "a range"
            raise SettingError(
                f"The {self.kind} variable '{self.name}' has {what}, which only numbers have.",
                "Take it off, or choose another type.",
            )
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise SettingError(
                f"The declared range of '{self.name}' is empty: {self.low:g} to {self.high:g}.",
                "Give a lower end that is below the upper end.",
            )

    @property
    def of_words(self) -> bool:
        """Whether its values are words and no numbers."""
        return self.kind in ("nominal", "text")


@dataclass(frozen=True)
class NextValue:
    """A utility that is plus or minus the next value of a state variable."""

    variable: str
    sign: Literal[1, -1] = 1

    def __post_init__(self) -> None:
        require(self.sign in (1, -1), "sign", "1 or -1", self.sign)


@dataclass(frozen=True, eq=False)
class ColumnRoles(Content):
    """Which columns hold the subject, the time, the action, the states and the utility.

    `states`: names or `StateVariable`s. `utility`: a column, or `NextValue("cigs", sign=-1)`.
    `available`: a column that is 1 where an action could be taken, 0 where it could not.
    `probability`: with two actions, the randomisation probability of the second level (a column
    or a constant); with more, a mapping from each level to its column or constant.
    `action_levels`: the levels in the order in which they are counted, with their labels; None
    takes them from the values. `lags`: how many earlier values of states and action are added
    (look-back m); `action_lags`: how many earlier actions are, if those are more;
    `add_time`: whether the decision number becomes a state variable. `known_before`: of the states
    that look as if they were measured only after the decision (`smdp.find_leaks`), those that are
    known before it nevertheless. `assignment`: whether chance decided who was treated, or was only
    watched who was; None: nobody said, and it counts as randomised where there are probabilities.
    `nothing_hidden`: where it was watched, whether the analyst takes it that nothing unmeasured
    decided who was treated. `outcome`: kind, unit and direction of the utility.
    """

    subject: str
    time: str
    action: str
    states: Sequence[str | StateVariable]
    utility: str | NextValue
    available: str | None = None
    probability: str | float | Mapping[str, str | float] | None = None
    action_levels: Mapping[str, str] | None = field(default=None, kw_only=True)
    lags: int = field(default=0, kw_only=True)
    action_lags: int = field(default=0, kw_only=True)
    add_time: bool = field(default=False, kw_only=True)
    known_before: tuple[str, ...] = field(default=(), kw_only=True)
    assignment: Assignment | None = field(default=None, kw_only=True, metadata=WORDS)
    nothing_hidden: bool = field(default=False, kw_only=True, metadata=WORDS)
    outcome: AboutOutcome = field(default=AboutOutcome(), kw_only=True, metadata=WORDS)

    def __post_init__(self) -> None:
        states = tuple(StateVariable(s) if isinstance(s, str) else s for s in self.states)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "known_before", tuple(self.known_before))
        for name in ("lags", "action_lags"):
            back = getattr(self, name)
            require(isinstance(back, int) and 0 <= back <= 50, name, "0 to 50", back)
        require(len(states) > 0, "states", "at least one column", "none")
        wanted = f"one of {ASSIGNMENTS}"
        require(self.assignment in (None, *ASSIGNMENTS), "assignment", wanted, self.assignment)
        self._refuse_double_use()
        if isinstance(self.utility, NextValue) and self.utility.variable not in self.state_names:
            raise SettingError(
                f"The utility is the next value of '{self.utility.variable}', "
                "which is not a state variable.",
                f"Add '{self.utility.variable}' to the state variables, or choose another utility.",
            )
        self._refuse_words_as_utility()
        self._refuse_names_of_groups()
        labels = list((self.action_levels or {}).values())
        if len(set(labels)) < len(labels):
            raise SettingError(
                f"Several levels of the action '{self.action}' have the same label: "
                f"{listing(sorted(labels))}.",
                "Give each level a label of its own.",
            )
        if isinstance(self.probability, int | float):
            require(0 < self.probability < 1, "probability", "between 0 and 1", self.probability)

    @property
    def randomised(self) -> bool:
        """Whether chance decided, as far as it is known: given probabilities say so, too."""
        if self.assignment is None:
            return self.probability is not None
        return self.assignment == "randomised"

    @property
    def outcome_sign(self) -> int:
        """-1 where less is better."""
        if isinstance(self.utility, NextValue):
            return self.utility.sign
        return -1 if self.outcome.less_is_better else 1

    @property
    def outcome_name(self) -> OutcomeName:
        """What the utility is called; its unit may be said of the state whose next value it is."""
        following = isinstance(self.utility, NextValue)
        column = self.utility.variable if isinstance(self.utility, NextValue) else self.utility
        own = next((each.unit for each in self.variables if each.name == column), None)
        minus = "minus " if self.outcome_sign < 0 else ""
        name = f"{minus}{'next ' if following else ''}{column}"
        return OutcomeName(name, self.outcome.unit or own or "", column, self.outcome_sign)

    @property
    def measured_outcome(self) -> OutcomeName:
        """What the outcome itself is called, more or less of it being better."""
        said = self.outcome_name
        following = isinstance(self.utility, NextValue)
        return OutcomeName(f"{'next ' * following}{said.column}", said.unit, said.column, said.sign)

    @property
    def look_back(self) -> int:
        """How many decisions before the present one a state reaches back."""
        return max(self.lags, self.action_lags)

    @property
    def variables(self) -> tuple[StateVariable, ...]:
        """The state variables, each as a `StateVariable`."""
        return tuple(s for s in self.states if isinstance(s, StateVariable))

    @property
    def state_names(self) -> tuple[str, ...]:
        return tuple(v.name for v in self.variables)

    def columns(self) -> tuple[str, ...]:
        """Every column of the table that the roles name, each once."""
        named: list[str | None] = [self.subject, self.time, self.action, *self.state_names]
        named.append(self.utility if isinstance(self.utility, str) else None)
        named.append(self.available)
        if isinstance(self.probability, str):
            named.append(self.probability)
        elif isinstance(self.probability, Mapping):
            named += [p for p in self.probability.values() if isinstance(p, str)]
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def _refuse_words_as_utility(self) -> None:
        words = {v.name: v.kind for v in self.variables if v.of_words}
        name = self.utility if isinstance(self.utility, str) else self.utility.variable
        if name in words:
            raise SettingError(
                f"The utility comes from '{name}', a {words[name]} variable, and must be a number.",
                "Choose another utility, or compute a number from it first.",
            )

    def _refuse_names_of_groups(self) -> None:
        groups = {v.group for v in self.variables if v.group}
        alone = sorted(groups & set(self.state_names))
        if alone:
            raise SettingError(
                f"A group of columns is called like a state variable: {listing(alone)}.",
                "Give the group a name of its own.",
            )

    def _refuse_double_use(self) -> None:
        """Subject, time and action have one role each; a utility may also be a state."""
        named = [self.subject, self.time, self.action, *self.state_names]
        if self.available is not None:
            named.append(self.available)
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise SettingError(
                f"These columns have more than one role: {listing(twice)}.",
                "Give each column one role (a time that is also a state: set add_time=True).",
            )
