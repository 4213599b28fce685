"""Files that somebody made who knows how: small ones that say they are large, and wrong kinds."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from saved_members import members, resealed
from small_trial import quick_plan

from smdp.analysis import opened_apart
from smdp.analysis.analysis import load_analysis
from smdp.analysis.opened_apart import try_apart
from smdp.analysis.plan import AnalysisPlan, plan_from_json, plan_to_json
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.table_file import table_from_parquet
from smdp.errors import ReadError, SettingError
from smdp.plain_data import from_plain, to_plain

MANY = 300_000_000
GIGABYTE = 10**9


@pytest.fixture
def parts(partial) -> dict[str, bytes]:
    return members(analysis_to_bytes(partial))


def frame_code(**changes: object) -> dict[str, object]:
    return to_plain(pd.DataFrame({"a": ["x", "y"]}), {}) | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": MANY, "$frame": [1.5]},
        {"rows": MANY, "$frame": [None]},
        {"rows": MANY},
        {"rows": -1},
        {"rows": 2.0},
        {"rows": "2"},
        {"index": 3, "index type": "int64"},
        {"index": {"$objects": [1], "shape": [1]}, "index type": "int64"},
        {"types": ["<U99999999"]},
        {"types": ["S99999999"]},
        {"types": ["(99999,99999)f8"]},
        {"types": [None]},
    ],
)
def test_lengths_are_checked_before_a_table_is_made(changes):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises((ValueError, TypeError)):
        from_plain(frame_code(**changes), {})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_tables_of_every_kind_come_back():
    frame = pd.DataFrame(
        {
            "number": [1.5, None], "whole": [1, 2], "text": ["a", None], "true": [True, False],
            "day": pd.to_datetime(["2020-01-01", None]), "kind": pd.Categorical(["x", "y"]),
        },
        index=pd.Index(["p", "q"], name="who"),
    )  # fmt: skip
    arrays: dict[str, np.ndarray] = {}
    code = json.loads(json.dumps(to_plain(frame, arrays)))
    pd.testing.assert_frame_equal(from_plain(code, arrays), frame)


def test_a_sealed_file_of_a_forger_takes_no_memory(parts, tmp_path):
    name = next(name for name in parts if name.startswith("results/"))
    code = json.dumps(frame_code(rows=MANY, **{"$frame": [1.5]}))
    path = tmp_path / "small.smdp"
    path.write_bytes(resealed(parts | {name: code.encode()}))
    assert path.stat().st_size < 60_000
    # In a process of its own that may take one gigabyte more than it takes to begin with.
    program = (
        "import resource, sys; from smdp.analysis.analysis import load_analysis; import smdp.steps;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load_analysis(sys.argv[1])\n"
        "except Exception as error: print(type(error).__name__)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    kind, kilobytes = done.stdout.split()
    assert kind == "ReadError"
    assert int(kilobytes) < 300_000


@pytest.fixture
def crowded(parts) -> bytes:
    """Small, and holds a million things, each of which may be there."""
    lists = b",".join([b"[]"] * 1_000_000)
    return resealed(parts | {"choices.json": b'{"$map":[["controls",[' + lists + b"]]]}"})


def test_what_holds_much_is_tried_in_a_process_of_its_own(parts, crowded, monkeypatch):
    asked = []
    monkeypatch.setattr(opened_apart, "_ask", lambda each: asked.append(each) or {})
    try_apart(resealed(parts), "small.smdp")
    assert asked == []
    try_apart(crowded, "study.smdp")
    assert asked[0]["name"] == "study.smdp"
    assert 1.03e9 < asked[0]["memory"] < 1.1e9
    for said, problem in {
        None: "takes more time or memory to open",
        "of a later version": "of a later version",
    }.items():
        found = said and {"problem": said, "remedy": "", "concerns": ""}
        monkeypatch.setattr(opened_apart, "_ask", lambda _, found=found: found)
        with pytest.raises(ReadError, match=problem):
            try_apart(crowded, "study.smdp")


def test_that_process_is_bounded(crowded, monkeypatch):
    assert len(crowded) < 100_000
    for name in ("PROGRAM_BYTES", "BYTES_A_BYTE_OF_JSON", "BYTES_A_BYTE"):
        monkeypatch.setattr(opened_apart, name, 1)
    with pytest.raises(ReadError, match="memory"):
        try_apart(crowded, "study.smdp")


@pytest.mark.parametrize("good", [True, False])
def test_that_process_says_whether_it_can_be_opened(parts, tmp_path, monkeypatch, capsys, good):
    path = tmp_path / "file.smdp"
    path.write_bytes(resealed(parts if good else parts | {"choices.json": b"3"}))
    asked = json.dumps({"path": str(path), "name": "study.smdp", "memory": 1})
    monkeypatch.setattr(sys, "stdin", io.StringIO(asked))
    monkeypatch.setattr(opened_apart, "bound_this_process", lambda memory, seconds: None)
    opened_apart.main()
    said = json.loads(capsys.readouterr().out)
    assert said == {} if good else "'study.smdp' holds results" in said["problem"]


def parquet(table: pa.Table, **how: object) -> bytes:
    buffer = io.BytesIO()
    settings = {"compression": "none", "use_dictionary": False, "write_statistics": False} | how
    pyarrow.parquet.write_table(table, buffer, **settings)
    return buffer.getvalue()


def test_a_table_of_cells_without_values_is_as_large_as_it_says():
    rows = 900_000
    empty = pa.nulls(rows, pa.float64())
    many = parquet(pa.table({f"c{k}": empty for k in range(200)}))
    assert len(many) < GIGABYTE / 1000
    with pytest.raises(ReadError, match="too large once unpacked"):
        table_from_parquet(many, "x.smdp")
    few = parquet(pa.table({"a": pa.nulls(1000, pa.float64()), "b": pa.array(range(1000))}))
    assert table_from_parquet(few, "x.smdp").shape == (1000, 2)


def test_a_table_of_lists_is_refused():
    inside = pa.array([[None] * 1_000_000], pa.list_(pa.float64()))
    with pytest.raises(ReadError, match="packed as smdp never does"):
        table_from_parquet(parquet(pa.table({"a": inside})), "x.smdp")


WRONG = (3, "text", [1, 2], None, True, {"$map": [[1, 2]]}, {"$tuple": []})


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("member", ["choices.json", "table.json"])
def test_choices_and_attributes_of_a_wrong_kind_are_refused(parts, member, wrong):
    with pytest.raises(ReadError, match="cannot read"):
        load_analysis(resealed(parts | {member: json.dumps(wrong).encode()}))


@pytest.mark.parametrize(
    "changed",
    [
        {"source": 3},
        {"format": ["CSV"]},
        {"decimal_comma": "no"},
        {"synthetic": 1},
        {"variable_labels": ["a"]},
        {"variable_labels": {"$map": [["stress", 3]]}},
        {"value_labels": {"$map": [["stress", "low"]]}},
        {"value_labels": {"$map": [["stress", {"$map": [[1, ["low"]]]}]]}},
        {"unknown": "x"},
    ],
)
def test_each_attribute_has_its_kind(parts, changed):
    known = dict(json.loads(parts["table.json"])["$map"]) | changed
    code = {"$map": [[name, value] for name, value in known.items()]}
    with pytest.raises(ReadError, match="cannot read"):
        load_analysis(resealed(parts | {"table.json": json.dumps(code).encode()}))


@pytest.mark.parametrize("count", [2**70, 10**12])
def test_a_plan_that_would_never_end_is_refused(count):
    text = plan_to_json(quick_plan())
    table = json.loads(text)
    found = 0
    for section in ("screening", "features", "markov", "evaluation", "stability"):
        own = (table.get(section) or {}).get("settings") or table.get(section) or {}
        for name in ("permutations", "bootstraps"):
            if name in own:
                found += 1
                before, own[name] = own[name], count
                with pytest.raises(SettingError, match=f"'{name}' must be .*at most"):
                    plan_from_json(json.dumps(table))
                own[name] = before
    assert found
    assert isinstance(plan_from_json(text), AnalysisPlan)


def test_names_that_cannot_be_seen_are_refused():
    table = json.loads(plan_to_json(quick_plan()))
    for bad in ("study\0.csv", "study\u202evsc.exe", "a\u2066b"):
        with pytest.raises(SettingError, match="cannot be seen"):
            plan_from_json(json.dumps(table | {"data_name": bad}))
    roles = table["roles"] | {"subject": "per\0son"}
    with pytest.raises(SettingError, match="'subject' has a character that cannot be seen"):
        plan_from_json(json.dumps(table | {"roles": roles}))
    hebrew = plan_from_json(json.dumps(table | {"data_name": "מחקר.csv"}))
    assert hebrew.data_name == "מחקר.csv"
