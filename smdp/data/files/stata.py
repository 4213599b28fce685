"""Stata files (.dta)."""

from __future__ import annotations

from smdp.data.files.pyreadstat_file import reader_apart


def _recognise(data: bytes) -> bool:
    return data.startswith(b"<stata_dta>") or _is_before_release_117(data)


def _is_before_release_117(data: bytes) -> bool:
    """Version 102 to 115, byte order 1 or 2, file type 1."""
    return len(data) > 3 and 102 <= data[0] <= 115 and data[1] in (1, 2) and data[2] == 1


STATA = reader_apart(
    name="Stata",
    description="a Stata file",
    endings=(".dta",),
    recognise=_recognise,
    function="read_dta",
)
