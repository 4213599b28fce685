"""Zip archives that are the same bytes each time, and that are read with suspicion.

An archive ends with a seal, the SHA-256 of all its other bytes, so that no byte of it can change
unnoticed. Sizes are bounded as they are declared and as they are unpacked.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping
from io import BytesIO

from smdp.errors import ReadError
from smdp.text import shorten

WRITTEN = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can state
SEAL = b"sealed by smdp, sha256 "
SEAL_LENGTH = 64

MAX_MEMBERS = 10_000
MAX_UNPACKED_BYTES = 4_000_000_000
MAX_UNPACK_RATIO = 200  # an honest analysis shrinks to a half or a twentieth when packed ..
RATIO_COUNTS_FROM_BYTES = 200_000_000  # .. and below this a bad ratio does no harm
UNSAFE = re.compile(r"^$|^[/\\]|^[A-Za-z]:|\\|(^|/)\.{1,2}(/|$)|//|/$|[\x00-\x1f]")


def pack(members: Mapping[str, bytes], *, compress: bool, seal: bool = False) -> bytes:
    """The members in their order; neither times nor the computer's name go in."""
    check_unpacked(sum(map(len, members.values())), None, "The analysis")
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", kind, compresslevel=1 if compress else None) as file:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, WRITTEN)
            info.create_system, info.external_attr, info.compress_type = 3, 0o600 << 16, kind
            file.writestr(info, content)
        if seal:
            file.comment = SEAL + b"0" * SEAL_LENGTH
    data = buffer.getvalue()
    if not seal:
        return data
    return data[:-SEAL_LENGTH] + _digest_before_seal(data)


def is_sealed(data: bytes) -> bool:
    """Whether the archive is, to the byte, what was written."""
    ending = data[-SEAL_LENGTH - len(SEAL) :]
    return ending.startswith(SEAL) and ending[len(SEAL) :] == _digest_before_seal(data)


def _digest_before_seal(data: bytes) -> bytes:
    return hashlib.sha256(memoryview(data)[:-SEAL_LENGTH]).hexdigest().encode()


def check_unpacked(unpacked: int, packed: int | None, name: str) -> None:
    """Refuse what would fill the memory."""
    suspicious = (
        packed is not None
        and unpacked > RATIO_COUNTS_FROM_BYTES
        and unpacked > MAX_UNPACK_RATIO * packed
    )
    if unpacked > MAX_UNPACKED_BYTES or suspicious:
        raise ReadError(
            f"{name} is too large once unpacked: {unpacked / 1e9:.3g} GB (the limit is "
            f"{MAX_UNPACKED_BYTES / 1e9:g} GB, and {MAX_UNPACK_RATIO} times the packed size).",
            "Leave the data out of the file, or analyse fewer columns.",
        )


class Archive:
    """An archive in memory; nothing of it is unpacked before names and sizes have been checked."""

    def __init__(self, data: bytes, name: str, *, compressed: bool = True) -> None:
        self.name = name
        try:
            self._file = zipfile.ZipFile(BytesIO(data))
            infos = self._file.infolist()
        except Exception:  # a damaged directory fails in many ways
            raise not_readable(data, name) from None
        if len(infos) > MAX_MEMBERS:
            raise ReadError(
                f"{name} has {len(infos):,} parts, and the limit is {MAX_MEMBERS:,}.", _ANOTHER
            )
        self._infos: dict[str, zipfile.ZipInfo] = {}
        kinds = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) if compressed else (zipfile.ZIP_STORED,)
        for info in infos:
            shown = shorten(repr(info.filename))
            if UNSAFE.search(info.filename):
                raise ReadError(
                    f"{name} has a part called {shown}, which points outside of the file.",
                    "smdp never writes such a file; do not trust it.",
                )
            if info.filename in self._infos:
                raise ReadError(f"{name} has two parts called {shown}.", _ANOTHER)
            if info.flag_bits & 0x1 or info.compress_type not in kinds:
                raise ReadError(
                    f"The part {shown} of {name} is encrypted or packed in a way that smdp does "
                    "not use.",
                    _ANOTHER,
                )
            self._infos[info.filename] = info
        check_unpacked(sum(i.file_size for i in infos), len(data), name)

    @property
    def names(self) -> list[str]:
        return list(self._infos)

    def unpacked_bytes(self, ending: str = "") -> int:
        """Of the parts whose names end so, as they are declared; no more of them can be read."""
        return sum(i.file_size for name, i in self._infos.items() if name.endswith(ending))

    def read(self, member: str) -> bytes:
        """A part's content; never more than its declared size is unpacked."""
        info = self._infos[member]
        try:
            with self._file.open(info) as part:
                content = part.read(info.file_size + 1)
            whole = len(content) == info.file_size
        except MemoryError:
            raise ReadError(
                f"{self.name} does not fit into the memory of this computer.",
                "Close other programs, or open it on a larger computer.",
            ) from None
        except Exception:  # a wrong checksum, a cut end, a wrong length
            whole = False
        if not whole:
            raise changed(self.name, member)
        return content


_ANOTHER = "Get another copy of the file."


def changed(name: str, member: str) -> ReadError:
    return ReadError(
        f"The part '{shorten(member)}' of {name} has been changed or damaged since it was saved.",
        "Get another copy of the file, or save the analysis again.",
    )


def not_readable(data: bytes, name: str) -> ReadError:
    if data[:2] == b"PK":
        return ReadError(f"{name} is damaged or was cut short.", _ANOTHER)
    return ReadError(
        f"{name} is not an analysis that smdp saved.",
        "Choose a file that ends in .smdp. A table is read with smdp.read_table.",
        concerns="table or analysis",
    )
