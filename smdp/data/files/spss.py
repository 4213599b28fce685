"""SPSS files (.sav, .zsav)."""

from __future__ import annotations

from smdp.data.files.pyreadstat_file import reader_apart

SPSS = reader_apart(
    name="SPSS",
    description="an SPSS file",
    endings=(".sav", ".zsav"),
    recognise=lambda data: data.startswith((b"$FL2", b"$FL3")),
    function="read_sav",
)
