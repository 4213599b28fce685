"""A plan that was locked before outcomes were seen: a text file that shows if it was changed."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smdp import __version__
from smdp.analysis.plan import LARGEST, AnalysisPlan, plan_from_json, plan_to_json
from smdp.analysis.provenance import TableSource, now, versions
from smdp.errors import ReadError, SettingError
from smdp.result import Content
from smdp.text import shorten

KIND, FORMAT = "smdp locked plan", 1
HEAD = """\
# A plan of smdp that was locked: what was asked of which table, before outcomes were looked at.
# Do not change it: its fingerprint would no longer be right. Keep it, or register it.

"""


@dataclass(frozen=True, eq=False)
class LockedPlan(Content):
    """`plan`: what is to be done. `data`: the table, without its cells, None where there was none.

    `date`: when, UTC. `outcome_hidden`: whether the outcome was shuffled in all that was done until
    then. `fingerprint`: SHA-256 of all the rest.
    """

    plan: AnalysisPlan
    data: TableSource | None
    date: str
    outcome_hidden: bool
    versions: Mapping[str, str]
    fingerprint: str

    def to_toml(self) -> str:
        """As a file that can be kept, registered and read again."""
        import tomli_w

        return HEAD + tomli_w.dumps({**_content(self), "fingerprint": self.fingerprint})

    def of_this_table(self, source: TableSource) -> bool:
        """Whether the table is the one that it was locked with; True where there was none."""
        return self.data is None or self.data.fingerprint == source.fingerprint


def lock_plan(
    plan: AnalysisPlan,
    data: TableSource | None = None,
    *,
    outcome_hidden: bool = False,
    date: str = "",
) -> LockedPlan:
    """Lock a plan, with the table that it is for if that is there already."""
    made = LockedPlan(plan, data, date or now(), outcome_hidden, versions(), "")
    return LockedPlan(
        plan, data, made.date, outcome_hidden, made.versions, _fingerprint(_content(made))
    )


def _content(locked: LockedPlan) -> dict[str, Any]:
    data = locked.data
    about = {
        "name": data.name,
        "fingerprint": data.fingerprint,
        "file_fingerprint": data.file_fingerprint,
        "rows": data.rows,
        "columns": data.columns,
        "synthetic": data.synthetic,
    } if data is not None else {}  # fmt: skip
    return {
        "kind": KIND,
        "format": FORMAT,
        "date": locked.date,
        "outcome_hidden": locked.outcome_hidden,
        "plan": plan_to_json(locked.plan),
        "versions": dict(locked.versions),
        "data": about,
    }


def _fingerprint(content: Mapping[str, Any]) -> str:
    exact = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(exact.encode()).hexdigest()


def locked_from_toml(text: str) -> LockedPlan:
    """What `to_toml` wrote; what was changed since is refused."""
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        raise SettingError(
            "This is not a locked plan: it is not valid TOML.", "Choose the file that was locked."
        ) from None
    if found.get("kind") != KIND:
        raise SettingError(
            "This is not a locked plan.",
            "A plan is locked with 'smdp lock', or on the page Report.",
        )
    made = found.get("format")
    if not isinstance(made, int) or made > FORMAT:
        raise SettingError(
            f"The locked plan has the format {shorten(made)}; this version of smdp "
            f"({__version__}) knows formats up to {FORMAT}.",
            "Install a later version of smdp.",
        )
    fingerprint = found.pop("fingerprint", "")
    if fingerprint != _fingerprint(found):
        raise SettingError(
            "The locked plan was changed since it was locked: its fingerprint is not right.",
            "Get the file as it was locked, or as it was registered.",
        )
    about = found["data"]
    return LockedPlan(
        plan=plan_from_json(found["plan"]),
        data=TableSource(**about) if about else None,
        date=str(found["date"]),
        outcome_hidden=bool(found["outcome_hidden"]),
        versions=dict(found["versions"]),
        fingerprint=str(fingerprint),
    )


def read_locked(path: Path) -> LockedPlan:
    """The locked plan in a file."""
    try:
        if path.stat().st_size > LARGEST:
            raise SettingError(f"'{path.name}' is too large for a plan.", "Choose another file.")
        return locked_from_toml(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SettingError(
            f"'{path.name}' is not a text in UTF-8.", "Choose another file."
        ) from None
    except OSError as error:
        raise ReadError(
            f"The locked plan '{path.name}' cannot be opened: {error.strerror}.",
            "Check its name and folder.",
        ) from None
