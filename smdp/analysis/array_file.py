"""Arrays in an npz file whose bytes depend on the arrays alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import BytesIO

import numpy as np

from smdp.archive import MAX_UNPACKED_BYTES, Archive, changed, pack
from smdp.errors import ReadError

KINDS = "biufUSMm"


def arrays_to_npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    """As `numpy.savez` would write them, in the order of their names and without times."""
    return pack({f"{name}.npy": _npy(arrays[name]) for name in sorted(arrays)}, compress=False)


def arrays_from_npz(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The arrays; none is made before its declared size has been held against what is there."""
    archive = Archive(data, f"the array file in {name}", compressed=False)
    return {
        member.removesuffix(".npy"): _array(archive.read(member), name, member)
        for member in archive.names
    }


class Budget(Mapping[str, np.ndarray]):
    """Arrays that may be taken only so often: a small file must not name a large array forever."""

    def __init__(self, arrays: Mapping[str, np.ndarray], name: str) -> None:
        self._arrays, self._name, self._left = arrays, name, MAX_UNPACKED_BYTES

    def __getitem__(self, key: str) -> np.ndarray:
        array = self._arrays[key]
        self._left -= array.nbytes
        if self._left < 0:
            raise ReadError(f"{self._name} is too large once unpacked.", "Do not trust this file.")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def _npy(array: np.ndarray) -> bytes:
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(data: bytes, name: str, member: str) -> np.ndarray:
    buffer = BytesIO(data)
    try:
        if np.lib.format.read_magic(buffer) != (1, 0):
            raise changed(name, member)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
        fits = dtype.kind in KINDS and dtype.names is None and not fortran
        count = int(np.prod(shape, dtype=object)) if shape else 1
        if not fits or count * dtype.itemsize != len(data) - buffer.tell():
            raise changed(name, member)
        return np.frombuffer(data, dtype, count, buffer.tell()).reshape(shape).copy()
    except ReadError:
        raise
    except Exception:  # a header that is none fails in many ways
        raise changed(name, member) from None
