"""What the variables of a file of format 1 are: it kept their names, and the roles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smdp.analysis.array_file import arrays_from_npz
from smdp.data.variables import Variable, changing
from smdp.plain_data import plain_json, to_plain

TIME_VARIABLE = "decision"
EARLIER = re.compile(r"(.+)_lag(\d+)")


def with_variables(parts: Mapping[str, bytes], structures: list[str]) -> dict[str, bytes]:
    """The parts (with tags) in which studies, trajectories and maps hold their variables."""
    codes = {name: json.loads(parts[name]) for name in structures}
    known = _known(parts, codes)
    return dict(parts) | {
        name: plain_json(_upgraded(code, known, {})).encode() for name, code in codes.items()
    }


@dataclass(frozen=True)
class _Known:
    """The study's own variables by name, and what an earlier action would be called."""

    of_study: Mapping[str, Variable]  # in own units, as they were declared
    in_data: Mapping[str, Variable]  # as the trajectories hold them
    action: str
    actions: tuple[str, ...]
    arrays: Mapping[str, np.ndarray]
    settled: bool  # False: the file has no study, only what was declared

    def about(self, name: str) -> Variable:
        """The variable of a name; only here is a name taken apart."""
        if name in self.in_data:
            return self.in_data[name]
        parted = EARLIER.fullmatch(name)
        if parted is None:
            return Variable(name)
        source, lag = parted[1], int(parted[2])
        if source in self.in_data:
            return self.in_data[source].back(lag)
        column, _, label = source.partition("=") if source != self.action else (source, "", "")
        if column != self.action:
            return Variable(name)
        last = self.actions[-1] if len(self.actions) == 2 else ""
        return Variable(
            name, kind="binary", low=0.0, high=1.0, source=column, lag=lag,
            comes_from="action", action=label or last,
        )  # fmt: skip


def _known(parts: Mapping[str, bytes], codes: Mapping[str, Any]) -> _Known:
    arrays = arrays_from_npz(parts["arrays.npz"], "the file")
    prepared = codes.get("results/rescaling.json")
    study = next((own for code in codes.values() for own in _studies(code)), None)
    if study is None:
        roles = json.loads(parts["plan.json"])["roles"]
        declared = [each if isinstance(each, dict) else {"name": each} for each in roles["states"]]
        actions = tuple((roles.get("action_levels") or {}).values())
        of_study = {v.name: v for v in map(_declared, declared)}
        if roles.get("add_time"):
            of_study[TIME_VARIABLE] = _of_time(None)
        return _Known(of_study, of_study, roles["action"], actions, arrays, False)
    roles = study["roles"]["fields"]
    listed = [each["fields"] for each in study["variables"]["$tuple"]]
    of_study = {v.name: v for v in map(_declared, listed)}
    if roles["add_time"]:
        of_study[TIME_VARIABLE] = _of_time(of_study[TIME_VARIABLE].high)
    in_data = of_study if prepared is None else _in_data(prepared["fields"], of_study, arrays)
    actions = tuple(study["action_labels"]["$tuple"])
    return _Known(of_study, in_data, roles["action"], actions, arrays, True)


def _in_data(
    prepared: Mapping[str, Any],
    of_study: Mapping[str, Variable],
    arrays: Mapping[str, np.ndarray],
) -> dict[str, Variable]:
    """With the ranges, and whether they change, as `smdp.data.to_trajectories` says it now."""
    rescaled = prepared["rescaled"]
    completed = prepared["completed"]["fields"]["imputed"]["fields"]["study"]["fields"]
    used = rescaled["fields"]["imputed"]["fields"]["study"]["fields"] if rescaled else completed
    own = arrays[completed["values"]["$array"]]
    moves = changing(arrays[used["values"]["$array"]])
    ranges = _ranges(rescaled["fields"]) if rescaled else {}
    found = {}
    for j, variable in enumerate(of_study.values()):
        low = float(np.nanmin(own[:, :, j])) if variable.low is None else variable.low
        high = float(np.nanmax(own[:, :, j])) if variable.high is None else variable.high
        found[variable.name] = replace(
            variable,
            low=low,
            high=high,
            changes=bool(moves[j]),
            rescaled_from=ranges.get(variable.name),
        )
    return found


def _upgraded(code: Any, known: _Known, ranges: Mapping[str, tuple[float, float]]) -> Any:
    if isinstance(code, list):
        return [_upgraded(each, known, ranges) for each in code]
    if not isinstance(code, dict):
        return code
    tag = code.get("$class")
    if tag == "rescaled study":
        ranges = _ranges(code["fields"])
    found = {key: _upgraded(value, known, ranges) for key, value in code.items()}
    if tag == "study":
        own = [known.of_study[each["fields"]["name"]] for each in _variables(code)]
        held = tuple(replace(v, rescaled_from=ranges.get(v.name)) for v in own)
        found["fields"]["variables"] = to_plain(held, {})
    if tag == "rescaled study":
        del found["fields"]["before_range"]
    if tag in ("trajectories", "feature map"):
        about = tuple(known.about(name) for name in _variables(code))
        if tag == "feature map" and not known.settled:
            about = _with_kinds(about, code["fields"], known)
        found["fields"]["about"] = to_plain(about, {})
    return found


def _with_kinds(
    about: tuple[Variable, ...], fitted: Mapping[str, Any], known: _Known
) -> tuple[Variable, ...]:
    """Of a map without its study: only what is 0 or 1 has the variance mean * (1 - mean)."""
    mean, sd = (known.arrays[fitted[name]["$array"]] for name in ("centre", "scale"))
    yes_or_no = (mean > 0) & (mean < 1) & np.isclose(sd**2, mean * (1 - mean), rtol=1e-9, atol=0)
    return tuple(
        replace(v, kind="binary", low=0.0, high=1.0) if found and v.kind != "ordinal" else v
        for v, found in zip(about, yes_or_no, strict=True)
    )


def _variables(code: Mapping[str, Any]) -> list[Any]:
    listed: list[Any] = code["fields"]["variables"]["$tuple"]
    return listed


def _studies(code: Any) -> Iterator[dict[str, Any]]:
    """The fields of every study in own units."""
    if isinstance(code, list):
        for each in code:
            yield from _studies(each)
    elif isinstance(code, dict) and code.get("$class") != "rescaled study":
        if code.get("$class") == "study":
            yield code["fields"]
        for each in code.values():
            yield from _studies(each)


def _ranges(rescaled: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    return {name: tuple(ends["$tuple"]) for name, ends in rescaled["before_range"]["$map"]}


def _declared(fields: Mapping[str, Any]) -> Variable:
    return Variable(
        fields["name"],
        kind=fields.get("kind") or "continuous",
        low=fields.get("low"),
        high=fields.get("high"),
    )


def _of_time(last: float | None) -> Variable:
    return Variable(TIME_VARIABLE, kind="ordinal", low=1.0, high=last, comes_from="decision number")
