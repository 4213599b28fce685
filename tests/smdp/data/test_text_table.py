"""Text files: every encoding, delimiter and decimal mark, and what their cells become."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame
from pandas.testing import assert_frame_equal

from smdp.data.files import limits
from smdp.data.read_table import read_table
from smdp.errors import ReadError


def read(text: str | bytes, **options: object) -> DataFrame:
    data = text.encode() if isinstance(text, str) else text
    return read_table(data, name="diary.csv", **options)  # type: ignore[arg-type]


def texts(frame: DataFrame, column: str) -> list[object]:
    return [None if value != value else value for value in frame[column]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,mood\na,1.5\nb,2\n", "CSV, comma, UTF-8"),
        ("id;mood\na;1.5\nb;2\n", "CSV, semicolon, UTF-8"),
        ("id;mood\na;1,5\nb;2\n", "CSV, semicolon, decimal comma, UTF-8"),
        ("id\tmood\na\t1,5\nb\t2\n", "CSV, tab, decimal comma, UTF-8"),
        ("id|mood\na|1.5\nb|2\n", "CSV, pipe, UTF-8"),
        ('"id","mood"\r\n"a","1,5"\r\n"b","2"\r\n', "CSV, comma, decimal comma, UTF-8"),
        ("sep=;\nid;mood\na;1,5\nb;2\n", "CSV, semicolon, decimal comma, UTF-8"),
        ("\n  \nid,mood\na,1.5\n \nb,2", "CSV, comma, UTF-8"),
        ("id,mood\ra,1.5\rb,2\r", "CSV, comma, UTF-8"),
        (" id , mood \n a , 1.5 \n b , 2 \n , \n,\n", "CSV, comma, UTF-8"),
        ("id,mood,,\na,1.5,,\nb,2,,\n", "CSV, comma, UTF-8"),
    ],
)
def test_layouts_give_the_same_table(text: str, expected: str) -> None:
    frame = read(text)
    assert_frame_equal(frame, DataFrame({"id": ["a", "b"], "mood": [1.5, 2.0]}))
    assert frame.attrs["format"] == expected


@pytest.mark.parametrize(
    ("codec", "expected"),
    [
        ("utf-8", "UTF-8"),
        ("utf-8-sig", "UTF-8"),
        ("utf-16", "UTF-16"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings(codec: str, expected: str) -> None:
    frame = read("größe;Straße\n1,5;Köln €\n".encode(codec))
    assert list(frame.columns) == ["größe", "Straße"]
    assert frame["Straße"].tolist() == ["Köln €"]
    assert frame.attrs["format"].endswith(expected)


def test_utf16_with_the_high_byte_first() -> None:
    assert read(b"\xfe\xff" + "id,ß\n1,2\n".encode("utf-16-be")).columns.tolist() == ["id", "ß"]


def test_an_encoding_that_is_not_known() -> None:
    with pytest.raises(ReadError, match=r"'diary\.csv'.*encoding.*CSV UTF-8"):
        read(b"id,name\n1,\x81\x8d\n")


def test_one_column_with_decimal_commas() -> None:
    frame = read("mood\n1,5\n2,5\n")
    assert frame["mood"].tolist() == [1.5, 2.5]
    assert "one column" in frame.attrs["format"]


def test_missing_texts_are_missing_and_others_are_not() -> None:
    frame = read(
        "a,b\n1,\n2,NA\n3,N/A\n4,NaN\n5,nan\n6,NULL\n7,null\n8,#N/A\n9,.\n10,na\n11,none\n"
    )
    assert texts(frame, "b") == [None] * 9 + ["na", "none"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["1e5", "-.5"], [1e5, -0.5]),
        (["+1.5", "2."], [1.5, 2.0]),
        (["1.0", "3"], [1, 3]),
        (["inf", "-Infinity"], [np.inf, -np.inf]),
        (["TRUE", "FALSE"], [1, 0]),
        (["true", "False"], [1, 0]),
        (["007", "008"], ["007", "008"]),
        (["-01", "2"], ["-01", "2"]),
        (["0x1F", "0x20"], ["0x1F", "0x20"]),
        (["0", "0.5"], [0, 0.5]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["9007199254740993", "1"], [9007199254740993, 1]),
        (["1_000", "2"], ["1_000", "2"]),
        (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"]),
        (["yes", "1"], ["yes", "1"]),
        (["TRUE", "1"], ["TRUE", "1"]),
        (["<b>bold</b>", "=cmd()"], ["<b>bold</b>", "=cmd()"]),
        (['"a ""b"""', '"c, d\ne"'], ['a "b"', "c, d\ne"]),
    ],
)
def test_cells(cells: list[str], expected: list[object]) -> None:
    column = read("id,x\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))["x"]
    assert column.tolist() == expected
    assert (column.dtype == "str") == isinstance(expected[0], str)


def test_long_integers_beside_missing_values_keep_their_digits() -> None:
    assert texts(read("id,x\n1,90071992547409931\n2,\n"), "x") == ["90071992547409931", None]


def test_a_number_of_thousands_is_not_taken_for_a_decimal() -> None:
    assert read('id,x\n1,"12,345"\n2,"1,000"\n')["x"].tolist() == ["12,345", "1,000"]
    assert read("id;x\n1;12,345\n2;1,000\n")["x"].tolist() == [12.345, 1.0]
    assert read("id\tx\ty\n1\t12,345\t0,5\n")["x"].tolist() == [12.345]
    assert read("id;x;y\n1;12.345;0,5\n")["x"].tolist() == ["12.345"]


def test_names() -> None:
    frame = read("=cmd(),,<b>x</b>,column_2\n1,2,3,4\n")
    assert frame.columns.tolist() == ["=cmd()", "column_2_", "<b>x</b>", "column_2"]


def test_names_that_occur_twice() -> None:
    with pytest.raises(ReadError, match=r"'mood' \(columns 2, 4\).*name of its own"):
        read("id,mood,x, mood \n1,2,3,4\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"'diary\.csv' is empty \(0 bytes\)"),
        (b" \n\n\t\n", "is empty: it holds blanks only"),
        (b"id,mood\n", "column names but no rows"),
        (b"id,mood\n,\nNA,\n", "column names but no rows"),
        (b"a,b\n1,2\n1,2,3\n\n4\n", r"header, which has 2: line 3 has 3, line 5 has 1\..*comma"),
        (b'a,b\n"x\ny",2\n1,2,3\n', r"line 4 has 3"),
        (b"My study\n\na;b;c\n1;2;3\n4;5;6\n", r"header, which has 1: line 3 has 3.*first line"),
        (b"a,b\n" + b"1,2,3\n" * 9, r"line 6 has 3, and so on\."),
        (b'a,b\n1,"2\n3,4\n', "near line 2.*quotation marks"),
        (b'a,b\n1,2\n1,"x\n3,"y"\n', "near line 3.*quotation marks"),
        (b'"a,b\n1,2\n3,4\n', "quotation marks"),
    ],
)
def test_what_cannot_be_read(text: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(text)


def test_two_million_rows_are_refused_before_they_are_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smdp.data.files.text_table._parse", None)
    for cell in (b"1", b'"x"'):
        with pytest.raises(ReadError, match=r"more than 1,000,000 rows.*limit is 1,000,000.*split"):
            read(b"id,x\n" + (b"1," + cell + b"\n") * 2_000_000)


def test_line_breaks_within_cells_are_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_ROWS", 10)
    assert len(read("id,x\n" + '1,"a\nb\nc"\n' * 10)) == 10
    with pytest.raises(ReadError, match="more than 10 rows"):
        read("id,x\n" + '1,"a\nb\nc"\n' * 11)


def test_too_many_columns() -> None:
    names = ",".join(f"c{n}" for n in range(5001))
    with pytest.raises(ReadError, match=r"5,001 columns.*limit is 5,000"):
        read(names + "\n" + "1," * 5000 + "1\n")


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CELLS", 100)
    with pytest.raises(ReadError, match="limit is 100"):
        read("a,b\n" + "1,2\n" * 51)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(WORDS, st.none() | NUMBERS), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_round_trip(
    rows: list[tuple[str, float | None]], delimiter: str, decimal: str, codec: str, newline: str
) -> None:
    """What is written is read back; the last row settles what is text and what is a decimal."""
    frame = DataFrame([*rows, ("a;,|\t'b", 0.5)], columns=["wörter", "zahl, x"])
    text = frame.to_csv(
        sep=delimiter, decimal=decimal, index=False, na_rep="NA", lineterminator=newline
    )
    back = read(text.encode(codec))
    tokens = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "#N/A", ".")
    assert texts(back, "wörter") == [
        None if word in tokens else word for word in frame["wörter"].tolist()
    ]
    np.testing.assert_array_equal(back["zahl, x"].to_numpy(), frame["zahl, x"].to_numpy(float))


def test_utf32() -> None:
    assert read("id,ß\n1,2\n".encode("utf-32")).columns.tolist() == ["id", "ß"]
    with pytest.raises(ReadError, match="a text in UTF-16 that is damaged"):
        read("id,\0\n1,2\n".encode("utf-16"))
