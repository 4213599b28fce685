"""One file holds the analysis; what is not, to the byte, what was saved is refused."""

from __future__ import annotations

import io
import os
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from saved_members import members, resealed

from smdp import archive, atomic_write
from smdp.analysis.analysis import load_analysis, run_analysis
from smdp.analysis.saved_file import analysis_to_bytes, save_analysis
from smdp.analysis.table_file import table_from_parquet, table_to_parquet
from smdp.archive import Archive, is_sealed, pack
from smdp.errors import DataError, ReadError, SmdpError
from smdp.plain_data import fingerprint


@pytest.fixture(scope="module")
def saved(analysis) -> bytes:
    return analysis_to_bytes(analysis)


def test_everything_comes_back(analysis, saved):
    back = load_analysis(saved)
    assert back.plan == analysis.plan
    assert back.source == analysis.source
    assert back.records == analysis.records
    pd.testing.assert_frame_equal(back.table, analysis.table)
    assert back.table.attrs == analysis.table.attrs
    assert list(back.results) == list(analysis.results)
    for step, result in analysis.results.items():
        assert fingerprint(back.results[step]) == fingerprint(result), step
    policy, again = analysis.policies[1], back.policies[1]
    states = analysis.prepared.trajectories.select(policy.variables).states
    np.testing.assert_array_equal(policy.q_values(states), again.q_values(states))


def test_saved_again_every_member_is_the_same_byte_for_byte(saved):
    again = analysis_to_bytes(load_analysis(saved))
    assert members(again) == members(saved)
    assert again == saved


def test_without_the_data_nobody_is_in_it(analysis, plan, saved):
    plan = plan.replace(preparation=replace(plan.preparation, also_exclude=()))
    records = {name: replace(r, asked=None) for name, r in analysis.records.items()}
    bare = analysis_to_bytes(replace(analysis, plan=plan, records=records), with_data=False)
    back = load_analysis(bare)
    assert back.table is None
    assert list(back.results) == [
        "trial", "screening", "features", "stability", "markov", "policy", "folds",
        "evaluation", "rule", "trade_off", "placebo", "twin", "imputations", "passport",
        "new_data",
    ]  # fmt: skip
    assert any(b"Anna" in content for content in members(saved).values())
    assert not any(b"Anna" in content for content in members(bare).values())
    assert analysis_to_bytes(back) == bare


def test_an_unfinished_analysis_can_be_saved(partial, tmp_path):
    choices = {"level": 0.3, "roles": pd.DataFrame({"column": ["a"], "low": [np.nan]}), "x": None}
    path = save_analysis(replace(partial, choices=choices), tmp_path / "a.smdp")
    back = load_analysis(path)
    assert list(back.results) == ["data", "missing"]
    assert back.choices["level"] == 0.3
    pd.testing.assert_frame_equal(back.choices["roles"], choices["roles"])
    assert analysis_to_bytes(back) == path.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["a.smdp"]


def test_saved_results_can_be_worked_on_with_the_same_numbers(partial, analysis, plan):
    """The rest of the plan on what came out of a file, as after a reload of the page."""
    back = load_analysis(analysis_to_bytes(partial))
    from smdp.data.prepare import finish

    prepared = finish(back.completed, plan.rescaling)
    assert fingerprint(prepared.trajectories) == analysis.records["rescaling"].output


def test_any_changed_byte_is_refused(saved):
    for place in [*range(0, len(saved), 97), *range(len(saved) - 400, len(saved))]:
        wrong = bytearray(saved)
        wrong[place] ^= 0x01
        with pytest.raises(ReadError):
            load_analysis(bytes(wrong))


def test_a_changed_member_is_named(saved):
    parts = members(saved)
    wrong = {**parts, "plan.json": parts["plan.json"].replace(b"stress", b"strass")}
    data = pack(wrong, compress=True, seal=True)
    with pytest.raises(ReadError, match=r"'plan.json' of 'the file' has been changed or damaged"):
        load_analysis(data)


@pytest.mark.parametrize("share", [0.0001, 0.3, 0.9, 0.9999])
def test_a_file_cut_short_is_refused(saved, share):
    with pytest.raises(ReadError, match=r"damaged|not an analysis"):
        load_analysis(saved[: int(len(saved) * share) + 1])


def test_bytes_at_the_end_are_refused(saved):
    with pytest.raises(ReadError):
        load_analysis(saved + b"\0")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", os.urandom(999), b"[]"])
def test_what_is_no_analysis_is_refused(content):
    with pytest.raises(ReadError):
        load_analysis(content)


def test_another_zip_is_refused():
    with pytest.raises(ReadError, match=r"not an analysis that smdp saved: it has no manifest"):
        load_analysis(pack({"hello.txt": b"x"}, compress=True))


def test_a_missing_member_is_refused(saved):
    parts = members(saved)
    del parts["arrays.npz"]
    with pytest.raises(ReadError, match=r"lacks the part arrays.npz"):
        load_analysis(pack(parts, compress=True, seal=True))
    with pytest.raises(ReadError, match=r"does not have the parts of an analysis: arrays.npz"):
        load_analysis(resealed(parts))


def test_an_extra_member_is_refused(saved):
    parts = {**members(saved), "more.json": b"{}"}
    with pytest.raises(ReadError, match=r"should not have: more.json.*do not trust it"):
        load_analysis(pack(parts, compress=True, seal=True))
    with pytest.raises(ReadError, match=r"does not have the parts of an analysis: more.json"):
        load_analysis(resealed(parts))


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "a/../../x", "C:\\x", "\\\\server\\x", "a\\..\\x", "./x", "a//b", "d/"],
)
def test_a_path_out_of_the_file_is_refused(saved, name):
    with pytest.raises(ReadError, match="points outside of the file"):
        load_analysis(pack({**members(saved), name: b"x"}, compress=True, seal=True))


def test_a_member_twice_is_refused(saved):
    buffer = io.BytesIO(saved)
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(buffer, "a") as file,
    ):
        file.writestr("plan.json", b"{}")
    with pytest.raises(ReadError, match=r"two parts called 'plan.json'"):
        load_analysis(buffer.getvalue())


def test_a_zip_bomb_is_refused_before_it_is_unpacked(saved, monkeypatch):
    monkeypatch.setattr(archive, "RATIO_COUNTS_FROM_BYTES", 10_000_000)
    bomb = pack({**members(saved), "results/data.json": bytes(30_000_000)}, compress=True)
    assert len(bomb) < 200_000
    unpacked = []
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *a, **k: unpacked.append(a))
    with pytest.raises(ReadError, match=r"too large once unpacked: 0.03\d* GB"):
        load_analysis(bomb)
    assert unpacked == []


def test_a_bomb_that_understates_its_size_is_not_unpacked_beyond_it(saved):
    """The declared size is what is read, and then the content does not fit its checksum."""
    data = bytearray(pack({"manifest.json": bytes(5_000_000)}, compress=True))
    small = (1000).to_bytes(4, "little")
    real = (5_000_000).to_bytes(4, "little")
    assert data.count(real) == 2
    with pytest.raises(ReadError, match="changed or damaged"):
        load_analysis(bytes(data).replace(real, small))


def test_too_many_members_are_refused(saved):
    many = {f"{i}.json": b"" for i in range(archive.MAX_MEMBERS + 1)}
    with pytest.raises(ReadError, match=r"10,001 parts"):
        load_analysis(pack(many, compress=True))


def test_arrays_are_an_ordinary_npz(saved):
    with np.load(io.BytesIO(members(saved)["arrays.npz"]), allow_pickle=False) as file:
        assert len(file.files) > 10
        assert all(file[name].dtype != object for name in file.files)


def test_equal_arrays_are_kept_once(analysis, saved):
    """A study's values stand in three of the results."""
    with np.load(io.BytesIO(members(saved)["arrays.npz"])) as file:
        own = [file[name] for name in file.files]
    study = analysis.completed.arranged.values
    same = [a for a in own if a.shape == study.shape and np.array_equal(a, study, equal_nan=True)]
    assert len(same) == 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"i": [1, 2], "f": [0.1, np.nan], "s": ["a", None], "b": [True, False]}),
        pd.DataFrame({"d": pd.to_datetime(["2024-03-31 14:30", None])}),
        pd.DataFrame({"c": pd.Categorical(["x", "y"]), "n": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"ü\u202e\n": ["=1+1", "\U0001f600"]}),
    ],
)
def test_a_table_comes_back_in_cells_and_types(frame):
    back = table_from_parquet(table_to_parquet(frame), "x")
    pd.testing.assert_frame_equal(back, frame)
    assert table_to_parquet(back) == table_to_parquet(frame)


def test_a_table_that_the_file_cannot_hold_is_refused():
    with pytest.raises(DataError, match=r"columns of a type .* without its data"):
        table_to_parquet(pd.DataFrame({"mixed": [1, "a", object()]}))


@pytest.mark.parametrize(
    "how", [{"compression": "zstd"}, {"compression": "none", "use_dictionary": True}]
)
def test_a_table_packed_in_another_way_is_refused(how):
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"s": ["a long text"] * 1000}), buffer, **how)
    with pytest.raises(ReadError, match="packed as smdp never does"):
        table_from_parquet(buffer.getvalue(), "x")


def test_a_damaged_table_is_refused():
    with pytest.raises(ReadError, match="cannot be read"):
        table_from_parquet(b"PAR1" + bytes(50) + b"PAR1", "x")


def test_the_seal_sees_every_byte():
    data = pack({"a.json": b"{}"}, compress=True, seal=True)
    assert is_sealed(data)
    for place in range(len(data)):
        assert not is_sealed(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
    assert not is_sealed(b"")
    assert Archive(data, "x").read("a.json") == b"{}"


def test_a_failed_write_leaves_the_old_file(analysis, partial, tmp_path, monkeypatch):
    path = save_analysis(partial, tmp_path / "a.smdp")
    before = path.read_bytes()

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    for broken in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(atomic_write.os, broken, full)
            with pytest.raises(SmdpError, match=r"'a.smdp' cannot be written: No space left.*room"):
                save_analysis(analysis, path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["a.smdp"]
    with pytest.raises(SmdpError, match="Check that the folder exists"):
        save_analysis(partial, tmp_path / "no" / "a.smdp")


def test_it_can_be_read_from_a_path_and_an_open_file(partial, tmp_path):
    path = save_analysis(partial, str(tmp_path / "a.smdp"))
    with path.open("rb") as file:
        assert load_analysis(file).plan == load_analysis(path).plan == partial.plan
    with pytest.raises(ReadError, match=r"There is no file 'b.smdp'"):
        load_analysis(tmp_path / "b.smdp")


def test_a_table_in_memory_has_a_fingerprint_too(plan, study_file):
    frame = pd.read_csv(study_file)
    found = run_analysis(frame, plan.replace(stop_after="data"))
    assert found.source.name == "a table in memory"
    assert found.source.file_fingerprint == ""
    pd.testing.assert_frame_equal(load_analysis(analysis_to_bytes(found)).table, frame)
