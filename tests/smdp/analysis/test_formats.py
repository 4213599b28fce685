"""Files of other formats than this version writes: migrated, or refused with a clear message."""

from __future__ import annotations

import json

import pytest
from saved_members import members, resealed

from smdp.analysis import saved_file
from smdp.analysis.analysis import load_analysis
from smdp.analysis.formats import from_format_1
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.data.exclude import Exclusion
from smdp.errors import ReadError
from smdp.plain_data import from_plain

NOW = saved_file.FORMAT


@pytest.fixture(scope="module")
def saved(analysis) -> bytes:
    return analysis_to_bytes(analysis)


def test_a_newer_format_is_refused_with_the_remedy(saved):
    data = resealed({**members(saved), "future.bin": b"x"}, format=NOW + 1)
    later = rf"has format {NOW + 1}; .*up to {NOW}.*Install a later version"
    with pytest.raises(ReadError, match=later):
        load_analysis(data)


def as_in_a_format_before(saved):
    """A file of a version that called the plan otherwise, and had a key of it in another place."""
    parts = members(saved)
    plan = json.loads(parts.pop("plan.json"))
    name = plan.pop("data_name")
    parts["settings.json"] = json.dumps({"file": name or "old.csv", "plan": plan}).encode()
    return resealed(parts, format=NOW)


def to_the_next(parts):
    return {("plan.json" if name == "settings.json" else name): c for name, c in parts.items()}


def to_the_one_after(parts):
    old = json.loads(parts["plan.json"])
    return {**parts, "plan.json": json.dumps(old["plan"] | {"data_name": old["file"]}).encode()}


def test_an_older_format_is_migrated_step_by_step(analysis, saved, monkeypatch):
    monkeypatch.setattr(saved_file, "FORMAT", NOW + 2)
    monkeypatch.setattr(saved_file, "MIGRATIONS", {NOW: to_the_next, NOW + 1: to_the_one_after})
    opened = load_analysis(as_in_a_format_before(saved))
    assert opened.plan == analysis.plan.replace(data_name="old.csv")
    assert opened.records == analysis.records
    assert json.loads(members(analysis_to_bytes(opened))["manifest.json"])["format"] == NOW + 2
    assert load_analysis(analysis_to_bytes(opened)).plan == opened.plan


@pytest.mark.parametrize(
    "known", [{}, {NOW + 1: to_the_one_after}, {NOW: to_the_one_after, NOW + 1: to_the_next}]
)
def test_an_older_format_that_cannot_be_migrated_is_refused(saved, monkeypatch, known):
    monkeypatch.setattr(saved_file, "FORMAT", NOW + 2)
    monkeypatch.setattr(saved_file, "MIGRATIONS", known)
    with pytest.raises(
        ReadError, match=rf"old format {NOW}, which this version .* cannot read\. Open"
    ):
        load_analysis(as_in_a_format_before(saved))


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("left out by hand", "by hand"),
        ("has a single row, so no step from one decision to the next", "single row"),
        ("75 % of the values that change over time are missing (limit 50 %)", "too much missing"),
        ("75.00 % of the values that change over time are missing (limit 74.99 %)",
         "too much missing"),
        ("has no value at all of age, mood", "empty series"),
    ],
)  # fmt: skip
def test_the_cause_of_an_exclusion_is_read_from_its_sentence_once(reason, cause):
    old = {"$class": "smdp.data.exclude:Exclusion",
           "fields": {"subject": "s1", "reason": reason, "missing_share": 0.75}}  # fmt: skip
    plan = {"roles": {"states": ["age"], "action": "sent"}}
    parts = {"plan.json": json.dumps(plan).encode(), "results/x.json": json.dumps(old).encode()}
    found = from_plain(json.loads(from_format_1(parts)["results/x.json"]), {})
    assert isinstance(found, Exclusion)
    assert (found.cause, found.reason, found.missing_share) == (cause, reason, 0.75)


@pytest.mark.parametrize(
    ("name", "synthetic"),
    [("three_action_synthetic.csv", True), ("non-synthetic_trial.csv", False), ("a.csv", False)],
)
def test_the_samples_of_format_1_are_known_by_their_names(name, synthetic):
    fields = {"name": name, "file_fingerprint": "", "fingerprint": "", "rows": 1, "columns": 1}
    source = {"$class": "smdp.analysis.provenance:TableSource", "fields": fields}
    facts = {"$map": [["source", name], ["format", "CSV, semicolon, decimal comma, UTF-8"]]}
    plan = {"roles": {"states": ["age"], "action": "sent"}}
    old = {"plan.json": plan, "analysis.json": source, "table.json": facts}
    parts = from_format_1({member: json.dumps(code).encode() for member, code in old.items()})
    found, attributes = (
        from_plain(json.loads(parts[member]), {}) for member in ("analysis.json", "table.json")
    )
    assert found.synthetic is attributes["synthetic"] is synthetic
    assert attributes["decimal_comma"] is True
