"""Files of other formats than this version writes: migrated, or refused with a clear message."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from saved_members import members, resealed

from smdp import load_analysis
from smdp.analysis import saved_file
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.errors import ReadError


@pytest.fixture(scope="module")
def saved(analysis) -> bytes:
    return analysis_to_bytes(analysis)


def test_a_newer_format_is_refused_with_the_remedy(saved):
    data = resealed({**members(saved), "future.bin": b"x"}, format=2)
    with pytest.raises(ReadError, match=r"has format 2; .*up to 1.*Install a later version"):
        load_analysis(data)


def as_in_format_1(saved):
    """A file of a version that called the plan otherwise, and had a key of it in another place."""
    parts = members(saved)
    plan = json.loads(parts.pop("plan.json"))
    name = plan.pop("data_name")
    parts["settings.json"] = json.dumps({"file": name or "old.csv", "plan": plan}).encode()
    return resealed(parts, format=1)


def to_format_2(parts):
    return {("plan.json" if name == "settings.json" else name): c for name, c in parts.items()}


def to_format_3(parts):
    old = json.loads(parts["plan.json"])
    return {**parts, "plan.json": json.dumps(old["plan"] | {"data_name": old["file"]}).encode()}


def test_an_older_format_is_migrated_step_by_step(analysis, saved, monkeypatch):
    monkeypatch.setattr(saved_file, "FORMAT", 3)
    monkeypatch.setattr(saved_file, "MIGRATIONS", {1: to_format_2, 2: to_format_3})
    opened = load_analysis(as_in_format_1(saved))
    assert opened.plan == replace(analysis.plan, data_name="old.csv")
    assert opened.records == analysis.records
    assert json.loads(members(analysis_to_bytes(opened))["manifest.json"])["format"] == 3
    assert load_analysis(analysis_to_bytes(opened)).plan == opened.plan


@pytest.mark.parametrize("known", [{}, {2: to_format_3}, {1: to_format_3, 2: to_format_2}])
def test_an_older_format_that_cannot_be_migrated_is_refused(saved, monkeypatch, known):
    monkeypatch.setattr(saved_file, "FORMAT", 3)
    monkeypatch.setattr(saved_file, "MIGRATIONS", known)
    with pytest.raises(ReadError, match=r"old format 1, which this version .* cannot read\. Open"):
        load_analysis(as_in_format_1(saved))
