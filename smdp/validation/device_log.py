"""The log that a device writes (`smdp.export.policy_reader`), as a table of the study's columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from smdp.data.column_roles import ColumnRoles
from smdp.data.columns import level_text
from smdp.export.policy_reader import COLUMNS, LOGGED, Policy, chance_of
from smdp.text import shorten


def is_device_log(frame: pd.DataFrame, actions: tuple[str, ...]) -> bool:
    """Whether a table has what every line of a device's log has."""
    return {*LOGGED, *map(chance_of, actions)} <= set(map(str, frame.columns))


def with_log_roles(roles: ColumnRoles, labels: Mapping[str, str]) -> ColumnRoles:
    """The same roles, with the probabilities that the device acted with."""
    return replace(roles, probability={level: chance_of(label) for level, label in labels.items()})


@dataclass(frozen=True)
class Replay:
    """What a policy's file says again of a log's decisions, beside what the log says."""

    decisions: int
    same: int  # with the recommendation, and the reason for none, of the log
    first_other: str  # the first decision that differs: who and when; "" if none does
    other_policy: int  # lines that another policy file wrote


def replayed(frame: pd.DataFrame, policy_text: str) -> Replay:
    """Each decision of a log again, by the file of the policy that wrote it."""
    policy = Policy(policy_text)
    content: Any = policy.content
    names = {**COLUMNS, **{k: v for k, v in content.get("study", {}).items() if v}}
    possible, recommended, why, fingerprint, _ = LOGGED
    asked = [m for m in content["measured"] if not m["counted"]]
    seen = list(dict.fromkeys(m.get("part_of_text") or m["name"] for m in asked))
    same, others, first = 0, 0, ""
    for person, lines in frame.groupby(names["subject"], sort=False):
        reports: list[dict[str, Any]] = []
        actions: list[str | None] = []
        for line in lines.sort_values(names["time"]).to_dict("records"):
            reports.append({name: _given(line[name]) for name in seen})
            answer = policy.recommend(reports, actions, json.loads(line[possible]))
            agrees = (answer["recommendation"] or "", answer["why"]) == (
                _text(line[recommended]),
                _text(line[why]),
            )
            same += agrees
            others += str(line[fingerprint]) != policy.fingerprint
            if not agrees and not first:
                first = f"{shorten(person)} at {line[names['time']]}"
            given = _given(line[names["action"]])
            actions.append(None if given is None else level_text(given))
    return Replay(len(frame), same, first, others)


def _given(value: Any) -> Any:
    return None if value is None or value != value or value == "" else value


def _text(value: Any) -> str:
    given = _given(value)
    return "" if given is None else level_text(given)
