"""Everything that an analysis was asked to do, as plain settings that can be written down."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import field, make_dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from smdp import __version__
from smdp.analysis.formats import PLAN_MIGRATIONS
from smdp.errors import SettingError, SmdpError
from smdp.settings import Settings, as_in_the_paper, in_the_paper, require
from smdp.steps import PlanSection, Step, step_named, steps
from smdp.steps.step import REQUIRED
from smdp.steps.step_plans import TableFile
from smdp.text import UNSEEN, shorten, visible
from smdp.typed_text import from_table, kinds_in_table, to_table

#: Of the plan's text. A plan of a later format is refused.
FORMAT = 7
LARGEST = 10_000_000  # bytes
#: The key of a plan whose open settings are the paper's.
PAPER = "as_in_the_paper"
HEAD = """\
# An analysis plan of smdp: every choice of an analysis, to be run again with
#     smdp run plan.toml --data study.csv --out results/
# A key that is left out has its default; with `as_in_the_paper = true` at the top, what the paper
# has. Written by smdp {version}.

"""


class AnalysisPlan:
    """Every choice of an analysis: the same plan on the same table gives the same numbers.

    A section for each step (`roles`, `reading`, `preparation`, `screening`, `features`, ..: see the
    steps' `sections`), None where the step is not done (`rescaling`: where variables keep their own
    units); nothing is done after `stop_after`. `notes`: the author's own words, by step.
    `data_name`, `data_fingerprint`: the file that the plan was made with (its name and the SHA-256
    of its bytes); another file may be analysed by it, and that is then said.
    """

    stop_after: str | None
    notes: Mapping[str, str]
    data_name: str
    data_fingerprint: str

    def __init__(
        self,
        *,
        stop_after: str | None = None,
        notes: Mapping[str, str] | None = None,
        data_name: str = "",
        data_fingerprint: str = "",
        **sections: Any,
    ) -> None:
        known = plan_sections()
        for name in sections:
            if name not in known:
                raise TypeError(f"a plan has no section '{name}'; it has: {', '.join(known)}")
        for name, given in list(sections.items()):
            sections |= known[name].split(given)
        own = self.__dict__
        own["_sections"] = {name: _value(each, sections) for name, each in known.items()}
        own["stop_after"], own["notes"] = stop_after, dict(notes or {})
        own["data_name"], own["data_fingerprint"] = data_name, data_fingerprint
        if stop_after is not None:
            names = tuple(step.name for step in steps())
            require(stop_after in names, "stop_after", f"one of {names}", stop_after)
        for step in steps():
            step.check_plan(self)
            if step.sections and step.asked_by(self):
                self._check_needs(step)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a plan cannot be changed; make another one with plan.replace(..)")

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_sections"][name]
        except KeyError:
            raise AttributeError(f"a plan has no section '{name}'") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnalysisPlan) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((self.data_fingerprint, self.stop_after))

    def __repr__(self) -> str:
        return f"AnalysisPlan({', '.join(step.name for step in self.steps)})"

    def _check_needs(self, step: Step) -> None:
        for needed in map(step_named, step.needed(self)):
            if needed.sections and not needed.asked_by(self):
                wanted, lacking = step.sections[0].name, needed.sections[0].name
                raise SettingError(
                    f"The plan has '{wanted}' but no '{lacking}', which it works on.",
                    f"Add '{lacking}' to the plan, or leave '{wanted}' out.",
                )

    def section(self, name: str) -> Any:
        """What the plan says under a key; None if it says nothing."""
        return self.__dict__["_sections"].get(name)

    def replace(self, **changes: Any) -> AnalysisPlan:
        """The same plan with other sections, notes, ..."""
        return AnalysisPlan(**{**self._content(), **changes})

    def adjusted(self, **changes: Any) -> AnalysisPlan:
        """The same plan with other sections, without what no longer fits to these.

        A placebo check of a policy that is not learned any more is left out, say; its result, if
        there is one, is then out of date.
        """
        content = {**self._content(), **changes}
        while True:
            try:
                return AnalysisPlan(**content)
            except SettingError:
                misfit = _first_misfit(content)
                if misfit is None or misfit.name in changes:
                    raise
                content[misfit.name] = misfit.default

    def _content(self) -> dict[str, Any]:
        own = dict(self.__dict__)
        return {**own.pop("_sections"), **own}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps to be done, in order."""
        found = []
        for step in steps():
            if step.asked_by(self) is not None:
                found.append(step)
            if step.name == self.stop_after:
                break
        return tuple(found)

    @property
    def tables(self) -> tuple[TableFile, ...]:
        """The further tables that its steps read."""
        return tuple(file for step in self.steps for file in step.files(self))

    def does(self, name: str) -> bool:
        """Whether the plan has this step, and comes as far."""
        return any(step.name == name for step in self.steps)

    def as_in_the_paper(self) -> AnalysisPlan:
        """The same plan, every step of the method done as the paper prints it."""
        changed = {
            name: as_in_the_paper(section)
            for name, section in self._sections.items()
            if isinstance(section, Settings)
        }
        return self.replace(**changed)

    def to_toml(self) -> str:
        """The plan as TOML, as `smdp run` takes it."""
        return plan_to_toml(self)

    def to_json(self) -> str:
        return plan_to_json(self)

    def to_script(self, data: str | None = None) -> str:
        """A Python script that does the same to the file `data` with public names only."""
        from smdp.analysis.script import script

        return script(self, data)

    @classmethod
    def from_toml(cls, text: str) -> AnalysisPlan:
        return plan_from_toml(text)

    @classmethod
    def from_json(cls, text: str) -> AnalysisPlan:
        return plan_from_json(text)

    def to_table(self, *, nulls: bool) -> dict[str, Any]:
        """As nested tables of plain values."""
        return to_table(_shape(steps())(**self._content()), nulls=nulls)

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> AnalysisPlan:
        """What `to_table` wrote; the first thing that does not fit is an error that names it."""
        read = from_table(_shape(steps()), table)
        return cls(**vars(read))


def _first_misfit(content: Mapping[str, Any]) -> PlanSection | None:
    """The first section that does not fit to those before it."""
    every = plan_sections()
    so_far = {name: content[name] for name, each in every.items() if each.default is REQUIRED}
    for name, section in every.items():
        so_far[name] = content[name]
        try:
            AnalysisPlan(**so_far)
        except SettingError:
            return section
    return None


def plan_sections() -> dict[str, PlanSection]:
    """The sections that a plan may have, of all steps, in order."""
    return {section.name: section for step in steps() for section in step.sections}


def _value(section: PlanSection, given: Mapping[str, Any]) -> Any:
    """What the plan holds under a key, with the types that it has when it is read: 0 is 0.0.

    Results hold settings, and their fingerprints are to be the same either way.
    """
    value = given.get(section.name, section.default)
    if value is REQUIRED:
        raise TypeError(f"a plan needs the section '{section.name}'")
    if value is None:
        return value
    if isinstance(value, list | tuple):
        return tuple(_read_back(each, section.name) for each in value)
    return _read_back(value, section.name)


def _read_back(part: Any, name: str) -> Any:
    return from_table(type(part), to_table(part, nulls=True), name)


def _same(value: Any) -> Any:
    return value


@lru_cache(maxsize=8)
def _shape(known: tuple[Step, ...]) -> type:
    """A dataclass with a field for each section, so that plans are read like any settings.

    Made once for each list of steps: what is known of a class is kept as long as the program runs.
    """
    fields: list[Any] = []
    for section in (section for step in known for section in step.sections):
        if section.default is REQUIRED:
            fields.append((section.name, section.kind))
        elif section.default is None:
            fields.append((section.name, section.kind | None, None))
        else:
            default = section.default
            fields.append(
                (section.name, section.kind, field(default_factory=partial(_same, default)))
            )
    more: list[Any] = [
        ("stop_after", str | None, None),
        ("notes", Mapping[str, str], field(default_factory=dict)),
        ("data_name", str, ""),
        ("data_fingerprint", str, ""),
    ]
    return make_dataclass("Plan", [*fields, *more])


def plan_to_toml(plan: AnalysisPlan) -> str:
    """The plan as TOML, every setting spelled out."""
    import tomli_w

    return HEAD.format(version=__version__) + tomli_w.dumps(_table(plan, nulls=False))


def plan_to_json(plan: AnalysisPlan) -> str:
    return json.dumps(_table(plan, nulls=True), indent=1)


def plan_from_toml(text: str) -> AnalysisPlan:
    """The plan in a TOML text; an error names the key, the value and the remedy."""
    try:
        return _plan(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingError(
            f"The plan is not valid TOML: {shorten(error, 120)}.",
            "Correct that line; text stands in quotes, a table's name in [brackets].",
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # what the reader refuses without calling it TOML's fault
        raise _too_long() from None


def plan_from_json(text: str) -> AnalysisPlan:
    """The plan in a JSON text; an error names the key, the value and the remedy."""
    try:
        return _plan(json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        raise SettingError(
            f"The plan is not valid JSON: {shorten(error, 120)}.", "Correct that line."
        ) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise _too_long() from None


def read_plan(path: Path) -> AnalysisPlan:
    """The plan in a TOML or JSON file."""
    try:
        if path.stat().st_size > LARGEST:
            raise SettingError(f"'{path.name}' is too large for a plan.", "Choose another file.")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingError(
            f"'{path.name}' is not a text in UTF-8.", "A plan ends in .toml or .json."
        ) from None
    except OSError as error:
        raise SmdpError(
            f"The plan '{path.name}' cannot be opened: {error.strerror}.",
            "Check its name and folder.",
        ) from None
    return plan_from_json(text) if path.suffix.lower() == ".json" else plan_from_toml(text)


def _table(plan: AnalysisPlan, *, nulls: bool) -> dict[str, Any]:
    table = {"format": FORMAT, **plan.to_table(nulls=nulls)}
    states = table["roles"]["states"]
    if all(set(state) == {"name"} for state in states):
        table["roles"]["states"] = [state["name"] for state in states]
    # What is short comes first, so that the tables below it do not swallow it.
    return dict(sorted(table.items(), key=lambda item: isinstance(item[1], dict | list)))


#: Keys whose texts are names that the plan gives; others are names that a table has.
NAMES_GIVEN_HERE = ("data_name", "title", "author", "action_levels")


def _check_texts(value: Any, where: str) -> None:
    """Refuse what no table and no person writes, and what would make a name read as another."""
    if isinstance(value, dict):
        for key, each in value.items():
            _check_texts(key, where)
            _check_texts(each, str(key))
    elif isinstance(value, list):
        for each in value:
            _check_texts(each, where)
    elif isinstance(value, str):
        unseen = UNSEEN.search(value) if where in NAMES_GIVEN_HERE else None
        if "\0" in value or unseen:
            raise SettingError(
                f"The plan's '{shorten(visible(where))}' has a character that cannot be seen, or "
                f"that turns the words around it: '{shorten(visible(value))}'.",
                "Type that name anew.",
            )


def _plan(table: Any) -> AnalysisPlan:
    if not isinstance(table, dict):
        raise SettingError("The plan must be a table of keys and values.", "Export it again.")
    _check_texts(table, "plan")
    found = table.pop("format", FORMAT)
    if type(found) is not int or found < 1:
        raise SettingError(f"The plan's 'format' is {shorten(found)}.", f"It must be {FORMAT}.")
    if found > FORMAT:
        raise SettingError(
            f"The plan has format {found}; this version of smdp ({__version__}) knows formats up "
            f"to {FORMAT}.",
            "Install a later version of smdp.",
        )
    for number in range(found, FORMAT):
        table = PLAN_MIGRATIONS[number](table)
    asked = table.pop(PAPER, False)
    require(isinstance(asked, bool), PAPER, "true or false", asked)
    if asked:
        _fill_in_as_in_the_paper(table)
    return AnalysisPlan.from_table(table)


def _fill_in_as_in_the_paper(table: dict[str, Any]) -> None:
    """Give what the plan leaves open the paper's values, not the defaults."""
    for name, section in plan_sections().items():
        own = table.get(name)
        if isinstance(own, dict) and isinstance(section.kind, type):
            for kind in kinds_in_table(section.kind, own):
                for key, value in in_the_paper(kind).items():
                    own.setdefault(key, value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        raise SettingError(f"The plan has the key '{shorten(twice)}' twice.", "Keep one of them.")
    return table


def _no_constant(name: str) -> None:
    raise SettingError(f"The plan holds {name}, which is not a number.", "Give a number.")


def _too_long() -> SettingError:
    return SettingError(
        "The plan holds a number or a date that no setting can have.", "Correct or remove it."
    )


def _too_deep() -> SettingError:
    return SettingError("The plan's tables are nested too deeply.", "Export the plan again.")
