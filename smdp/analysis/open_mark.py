"""A mark that a file is in use: a lock, which the system takes away when its process ends."""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections.abc import Iterator
from pathlib import Path

from smdp.atomic_write import PRIVATE
from smdp.system import WINDOWS, lock

HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class OpenMark:
    """Holds until it is released or nobody has this object any more, at the latest until the
    process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.release = weakref.finalize(self, os.close, _held(path))


@contextlib.contextmanager
def if_not_open(path: Path) -> Iterator[bool]:
    """Whether nobody holds the mark; nobody can begin to meanwhile. A mark of nobody is removed."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
    free = False
    try:
        try:
            lock(handle, alone=True)
            free = True
        except OSError as error:
            free = error.errno not in HELD  # else a file system without locks
        yield free
        if free and not WINDOWS:  # elsewhere a file that is open cannot be removed
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)
    if free and WINDOWS:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _held(path: Path) -> int:
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
        try:
            lock(handle, alone=False)
            if _is_at(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # removed while we waited


def _is_at(handle: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False
