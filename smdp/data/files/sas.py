"""SAS files (.sas7bdat)."""

from __future__ import annotations

from smdp.data.files.pyreadstat_file import reader_apart

_START = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")

SAS = reader_apart(
    name="SAS",
    description="a SAS file",
    endings=(".sas7bdat",),
    recognise=lambda data: data.startswith(_START),
    function="read_sas7bdat",
)
