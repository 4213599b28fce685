"""An analysis plan as TOML or JSON, and back."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from smdp import __version__
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.typed_text import from_table, to_table
from smdp.errors import SettingError, SmdpError, shorten

#: Of the plan's text. A plan of a later format is refused.
FORMAT = 1
LARGEST = 10_000_000  # bytes
HEAD = """\
# An analysis plan of smdp: every choice of an analysis, to be run again with
#     smdp run plan.toml --data study.csv --out results/
# A key that is left out has its default. Written by smdp {version}.

"""


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
    table = {"format": FORMAT, **to_table(plan, nulls=nulls)}
    states = table["roles"]["states"]
    if all(set(state) == {"name"} for state in states):
        table["roles"]["states"] = [state["name"] for state in states]
    # What is short comes first, so that the tables below it do not swallow it.
    return dict(sorted(table.items(), key=lambda item: isinstance(item[1], dict | list)))


def _plan(table: Any) -> AnalysisPlan:
    if not isinstance(table, dict):
        raise SettingError("The plan must be a table of keys and values.", "Export it again.")
    found = table.pop("format", FORMAT)
    if type(found) is not int or found < 1:
        raise SettingError(f"The plan's 'format' is {shorten(found)}.", f"It must be {FORMAT}.")
    if found > FORMAT:
        raise SettingError(
            f"The plan has format {found}; this version of smdp ({__version__}) knows formats up "
            f"to {FORMAT}.",
            "Install a later version of smdp.",
        )
    plan: AnalysisPlan = from_table(AnalysisPlan, table)
    return plan


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
