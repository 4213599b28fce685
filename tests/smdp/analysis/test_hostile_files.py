"""A saved file whose seal fits but whose content was made to do harm is one clear error."""

from __future__ import annotations

import json

import numpy as np
import pytest
from saved_members import members, resealed

from smdp.analysis.analysis import load_analysis
from smdp.analysis.array_file import arrays_from_npz, arrays_to_npz
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.archive import pack
from smdp.errors import ReadError, SmdpError


@pytest.fixture(scope="module")
def saved(analysis) -> bytes:
    return analysis_to_bytes(analysis)


def mutated(saved: bytes, member: str, *changes: tuple[str, str]) -> bytes:
    parts = members(saved)
    text = parts[member].decode()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return resealed({**parts, member: text.encode()})


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("results/screening.json", ('"$class":"screening"', '"$class":"os:system"')),
        ("results/screening.json", ('"$class":"screening"', '"$class":"nowhere"')),
        ("results/screening.json", ('"$class":"screening"', '"$class":"worker request"')),
        ("results/screening.json", ('"selected"', '"chosen"')),
        ("results/screening.json", ('"$array":"a', '"$array":"b')),
        ("results/features.json", ('"fields"', '"field"')),
        ("results/policy.json", ("{", "[", "}", "]")[:2]),
        ("analysis.json", ('"records"', '"recordings"')),
        ("analysis.json", ('"source"', '"sauce"')),
        ("plan.json", ('"seed": 3', '"seed": -3')),
        ("plan.json", ('"roles"', '"rolls"')),
    ],
)
def test_a_forged_content_is_one_clear_error(saved, member, change):
    with pytest.raises(ReadError, match=r"'the file' (cannot be opened|holds results)"):
        load_analysis(mutated(saved, member, change))


def test_a_result_of_the_wrong_kind_is_refused(saved):
    parts = members(saved)
    parts["results/screening.json"] = parts["results/features.json"]
    with pytest.raises(ReadError, match="holds results that this version"):
        load_analysis(resealed(parts))


def test_deep_nesting_is_refused(saved):
    parts = {**members(saved), "choices.json": b"[" * 100_000}
    with pytest.raises(ReadError):
        load_analysis(resealed(parts))


def test_one_array_cannot_be_asked_for_forever(saved, monkeypatch):
    monkeypatch.setattr("smdp.analysis.array_file.MAX_UNPACKED_BYTES", 50_000_000)
    parts = members(saved)
    name = "a" * 41
    parts["arrays.npz"] = arrays_to_npz(
        {**arrays_from_npz(parts["arrays.npz"], "x"), name: np.zeros(500_000)}
    )
    parts["choices.json"] = json.dumps([{"$array": name}] * 100).encode()
    with pytest.raises(ReadError, match="too large once unpacked"):
        load_analysis(resealed(parts))


def npy(header: str, content: bytes) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,)}", b"12345678"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", b"12345678"),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", b"12345678"),
        npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1,)}", b"12345678"),
        npy("__import__('os')", b""),
        b"\x93NUMPY\x02\x00",
        b"",
    ],
)
def test_an_array_that_is_not_what_it_says_is_refused(content):
    with pytest.raises(ReadError, match="changed or damaged"):
        arrays_from_npz(pack({"a.npy": content}, compress=False), "x")


def test_a_packed_array_file_is_refused():
    with pytest.raises(ReadError, match="packed in a way"):
        arrays_from_npz(pack({"a.npy": bytes(10_000)}, compress=True), "x")


def test_chance_changes_under_a_fitting_seal_are_errors_for_people(saved):
    """Whatever comes of a changed byte in a part, it is the analysis or an `SmdpError`."""
    parts = members(saved)
    random = np.random.default_rng(0)
    refused = 0
    for name in sorted(parts):
        for _ in range(5 if name != "manifest.json" else 0):
            content = bytearray(parts[name])
            for place in random.integers(0, len(content), random.integers(1, 4)):
                content[place] = random.integers(0, 256)
            try:
                load_analysis(resealed({**parts, name: bytes(content)}))
            except SmdpError:
                refused += 1
    assert refused > 30
