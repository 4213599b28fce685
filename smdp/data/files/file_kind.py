"""What a file really is, told from its content and not from its name."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal

from smdp.errors import ReadError

FileKind = Literal["text", "workbook", "spss", "stata", "sas_transport", "sas", "parquet"]

READABLE = "Give a CSV, Excel (.xlsx), SPSS, Stata, SAS or Parquet file."
OLE_CONTAINER = bytes.fromhex("d0cf11e0a1b11ae1")  # legacy Office files, and encrypted new ones
PACKAGE = (b"PK\x03\x04", b"PK\x05\x06")
BYTE_ORDER_MARKS_16 = (b"\xff\xfe", b"\xfe\xff")
BYTE_ORDER_MARKS_32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")

_SAS_START = bytes(12)
_SAS_DATA = _SAS_START + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_SAS_CATALOGUE = _SAS_START + bytes.fromhex("c2ea8163b31411cfbd92080009c7318c181f1011")
_TABLE_STARTS: tuple[tuple[bytes, FileKind], ...] = (
    (b"$FL2", "spss"),
    (b"$FL3", "spss"),
    (b"<stata_dta>", "stata"),
    (b"HEADER RECORD*******LIB", "sas_transport"),
    (_SAS_DATA, "sas"),
    (b"PAR1", "parquet"),
)
_OTHER_STARTS: tuple[tuple[bytes, str], ...] = (
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
_NAMED_LIKE = {
    ".xlsx": "an Excel workbook",
    ".xlsm": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".dta": "a Stata file",
    ".xpt": "a SAS transport file",
    ".sas7bdat": "a SAS file",
    ".parquet": "a Parquet file",
}
_WEB_PAGE = re.compile(rb"\s*<(!doctype\s+html|html|head|table)[\s>]", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*("|\})|\[\s*\{)')
_CONTROL_CHARACTERS = bytes(c for c in range(32) if c not in b"\t\n\v\f\r\x1a\x1b")
_MAX_CONTROL_SHARE = 0.02
_LOOK_AT = 65_536


def identify(data: bytes, name: str) -> FileKind:
    """The kind of table in the file, or the error that says what the file is instead."""
    if data.startswith(PACKAGE):
        return "workbook"
    if data.startswith(OLE_CONTAINER):
        raise _old_or_encrypted(data, name)
    for start, kind in _TABLE_STARTS:
        if data.startswith(start):
            return kind
    if _is_old_stata(data):
        return "stata"
    for start, description in _OTHER_STARTS:
        if data.startswith(start):
            raise _not_a_table(name, f"is {description}, not a table")
    if data.startswith(BYTE_ORDER_MARKS_16 + BYTE_ORDER_MARKS_32):
        return "text"
    _refuse_other_content(data, name)
    return "text"


def damaged(name: str, kind: str, detail: str = "") -> ReadError:
    """The error for a file of a known kind that its reader cannot make sense of."""
    reason = f" ({detail})" if detail else ""
    return ReadError(
        f"'{name}' is {kind} that is damaged or incomplete{reason}.",
        "Export it again, or copy it anew from where it came from.",
    )


def _is_old_stata(data: bytes) -> bool:
    """Before release 117: version 102 to 115, byte order 1 or 2, file type 1."""
    return len(data) > 3 and 102 <= data[0] <= 115 and data[1] in (1, 2) and data[2] == 1


def _old_or_encrypted(data: bytes, name: str) -> ReadError:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return ReadError(
            f"'{name}' is an Excel workbook that is protected with a password.",
            "Open it in Excel, remove the password (File, Info, Protect Workbook) and save it.",
        )
    return ReadError(
        f"'{name}' is a file of the old Excel format (.xls) or another old Office document.",
        "Open it in Excel and save it as an Excel workbook (.xlsx) or as CSV.",
    )


def _refuse_other_content(data: bytes, name: str) -> None:
    start = data[:_LOOK_AT].removeprefix(b"\xef\xbb\xbf")
    if _WEB_PAGE.match(start):
        raise _not_a_table(name, "is a web page (HTML), not a table")
    if _XML.match(start):
        raise _not_a_table(name, "is an XML document, not a table")
    if _JSON.match(start):
        raise _not_a_table(name, "is a JSON file, not a table")
    strange = len(start) - len(start.translate(None, _CONTROL_CHARACTERS))
    if b"\0" in data or strange > _MAX_CONTROL_SHARE * len(start):
        named_like = _NAMED_LIKE.get(PurePath(name).suffix.lower())
        if named_like:
            problem = f"is named like {named_like}, but its content is not one"
        else:
            problem = "is not a table: its content is neither text nor a known table format"
        raise _not_a_table(name, problem)


def _not_a_table(name: str, problem: str) -> ReadError:
    return ReadError(f"'{name}' {problem}.", READABLE)
