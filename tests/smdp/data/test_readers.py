"""What every file format must do, a new one included that is registered from outside."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from pandas.testing import assert_frame_equal
from table_files import TABLE, Example, examples
from toy_reader import JSON_LINES, json_lines

import smdp
from smdp.cli import main
from smdp.data.files import limits, registry
from smdp.data.files.reader import Reader
from smdp.errors import ReadError

READERS = [*registry.readers(), JSON_LINES]


@pytest.fixture
def toy() -> Iterator[Reader]:
    registry.register(JSON_LINES)
    yield JSON_LINES
    registry.unregister(JSON_LINES)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Example]:
    rows = TABLE.astype(object).where(TABLE.notna(), None).to_dict("records")
    content = json_lines(rows)
    own = Example(content, content[:-10], TABLE, {}, {})
    return {**examples(tmp_path_factory.mktemp("files")), ".jsonl": own}


@pytest.fixture(params=READERS, ids=lambda reader: reader.endings[0])
def reader(request: pytest.FixtureRequest, toy: Reader) -> Reader:
    return request.param


@pytest.fixture
def example(reader: Reader, files: dict[str, Example]) -> Example:
    assert reader.endings[0] in files, f"tests/table_files.py has no example of {reader.name}"
    return files[reader.endings[0]]


def test_the_same_bytes_give_the_same_frame_under_any_name(
    reader: Reader, example: Example
) -> None:
    named = f"study{reader.endings[0].upper()}"
    first, again = (smdp.read_table(example.content, name=n) for n in (named, "export.pdf.csv"))
    assert_frame_equal(first, example.frame)
    assert_frame_equal(first, again)
    assert first.attrs.pop("source") == named
    assert again.attrs.pop("source") == "export.pdf.csv"
    assert first.attrs == again.attrs
    assert first.attrs.pop("format").startswith(reader.name)
    assert first.attrs == {
        "synthetic": False,
        "decimal_comma": example.decimal_comma,
        "fingerprint": hashlib.sha256(example.content).hexdigest(),
        "variable_labels": example.variable_labels,
        "value_labels": example.value_labels,
    }


def test_a_damaged_file_is_one_clear_message(reader: Reader, example: Example) -> None:
    assert registry.reader_of(example.damaged, "study") is reader
    with pytest.raises(ReadError, match=r"'study\.x' ") as refused:
        smdp.read_table(example.damaged, name="study.x")
    assert refused.value.remedy
    assert "\n" not in str(refused.value)


def test_an_empty_file_is_refused(reader: Reader) -> None:
    with pytest.raises(ReadError, match="is empty"):
        smdp.read_table(b"", name=f"study{reader.endings[0]}")


def test_a_table_that_is_too_large_is_refused(
    reader: Reader, example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_ROWS", 2)
    with pytest.raises(ReadError, match=r"'study\.x' has .* rows, and the limit is 2\."):
        smdp.read_table(example.content, name="study.x")
    monkeypatch.setattr(limits, "MAX_FILE_BYTES", len(example.content) - 1)
    with pytest.raises(ReadError, match=r"'study\.x' is too large"):
        smdp.read_table(example.content, name="study.x")


def test_sheets_are_those_of_the_format(reader: Reader, example: Example) -> None:
    names = registry.sheet_names(example.content)
    if reader.sheets is None:
        assert names == []
        with pytest.raises(ReadError, match=r"'study\.x' is .*no sheet 'Data'"):
            smdp.read_table(example.content, name="study.x", sheet="Data")
    else:
        assert names
        assert_frame_equal(smdp.read_table(example.content, sheet=names[0]), example.frame)


def test_an_ending_belongs_to_one_format(toy: Reader) -> None:
    endings = [ending for reader in registry.readers() for ending in reader.endings]
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending.islower() for ending in endings)


def test_a_new_format_is_known_wherever_formats_are_named(
    toy: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    every = "CSV, Excel, SPSS, Stata, SAS, Parquet or JSON lines"
    with pytest.raises(ReadError, match=f"PNG image, not a table. Give a {every} file"):
        smdp.read_table(b"\x89PNG\r\n")
    with pytest.raises(ReadError, match="is named like a file of JSON lines, but its content"):
        smdp.read_table(bytes(20), name="study.jsonl")
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert every in " ".join(capsys.readouterr().out.split())


def test_without_its_reader_the_file_is_what_it_was(files: dict[str, Example]) -> None:
    with pytest.raises(ReadError, match="is a JSON file, not a table"):
        smdp.read_table(files[".jsonl"].content)
