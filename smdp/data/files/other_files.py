"""Files that are no tables: what they are instead, told from their content."""

from __future__ import annotations

import re

from smdp.errors import ReadError

BYTE_ORDER_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")
BYTE_ORDER_MARKS_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")

_OLE_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")  # legacy Office files, and encrypted new ones
_SAS_CATALOGUE = bytes(12) + bytes.fromhex("c2ea8163b31411cfbd92080009c7318c181f1011")
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip archive or an R data file"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"RDX", "an R data file"),
    (b"ASCII SPSS PORT FILE", "a portable SPSS file (.por)"),
    (_SAS_CATALOGUE, "a SAS catalogue of formats"),
    (b"SQLite format 3", "a SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1", "an Arrow file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
)
_TEXTS: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\s*<(!doctype\s+html|html|head|table)[\s>]", re.I), "a web page (HTML)"),
    (re.compile(rb"\s*<\?xml\s", re.I), "an XML document"),
    (re.compile(rb'\s*(\{\s*("|\})|\[\s*\{)'), "a JSON file"),
)
_CONTROL_CHARACTERS = bytes(c for c in range(32) if c not in b"\t\n\v\f\r\x1a\x1b")
_MAX_CONTROL_SHARE = 0.02
_LOOK_AT = 65_536


def file_in_words(data: bytes) -> str | None:
    """What a file is that is no table, 'a PNG image'; None where that is not known."""
    for start, description in _STARTS:
        if data.startswith(start):
            return description
    if data.startswith(BYTE_ORDER_MARKS_16 + BYTE_ORDER_MARKS_32):
        return None
    text = _beginning(data)
    return next((words for pattern, words in _TEXTS if pattern.match(text)), None)


def is_plain_text(data: bytes) -> bool:
    """Whether the file is text, and not of a kind that is known to be no table."""
    if data.startswith(_OLE_CONTAINER) or file_in_words(data):
        return False
    if data.startswith(BYTE_ORDER_MARKS_16 + BYTE_ORDER_MARKS_32):
        return True
    text = _beginning(data)
    strange = len(text) - len(text.translate(None, _CONTROL_CHARACTERS))
    return b"\0" not in data and strange <= _MAX_CONTROL_SHARE * len(text)


def old_office_file(data: bytes, name: str) -> ReadError | None:
    """The error for a file of the old Excel format, or one that is protected; None for others."""
    if not data.startswith(_OLE_CONTAINER):
        return None
    if "EncryptedPackage".encode("utf-16-le") in data:
        return ReadError(
            f"'{name}' is an Excel workbook that is protected with a password.",
            "Open it in Excel, remove the password (File, Info, Protect Workbook) and save it.",
        )
    return ReadError(
        f"'{name}' is a file of the old Excel format (.xls) or another old Office document.",
        "Open it in Excel and save it as an Excel workbook (.xlsx) or as CSV.",
    )


def _beginning(data: bytes) -> bytes:
    return data[:_LOOK_AT].removeprefix(b"\xef\xbb\xbf")
