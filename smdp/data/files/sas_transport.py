"""SAS transport files (.xpt)."""

from __future__ import annotations

from smdp.data.files.pyreadstat_file import reader_apart

SAS_TRANSPORT = reader_apart(
    name="SAS",
    description="a SAS transport file",
    endings=(".xpt",),
    recognise=lambda data: data.startswith(b"HEADER RECORD*******LIB"),
    function="read_xport",
    format_name="SAS transport",
)
