"""What systems do each in their own way: processes, locks, and files that somebody has open.

All that is peculiar to POSIX or to Windows is here, and nowhere else.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

WINDOWS = sys.platform == "win32"
#: Seconds for which Windows keeps a file that a virus scanner or an indexer looks at.
PATIENCE = 2.0
DAY = 86400
#: Folders that a program works in: what for, and the process that made them.
FOLDER = re.compile(r"smdp-(job|workers|reading)-(?:(\d+)-)?[a-z0-9_]+")


if sys.platform == "win32":
    import ctypes
    import msvcrt

    def alive(process: int) -> bool:
        """Whether there is such a process. Asked as on POSIX, Windows would end it."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        may_ask, still_active, no_such = 0x1000, 259, 87
        handle = kernel.OpenProcess(may_ask, False, process)
        if not handle:
            return ctypes.get_last_error() != no_such
        try:
            code = ctypes.c_ulong()
            kernel.GetExitCodeProcess(handle, ctypes.byref(code))
            return code.value == still_active
        finally:
            kernel.CloseHandle(handle)

    def is_orphan(parent: int) -> bool:
        """Whether the process that started this one has ended; here its number would stay."""
        return not alive(parent)

    def lock(handle: int, *, alone: bool) -> None:
        """Alone, or beside others who share it; here nobody shares, and the first one has it."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def settle(folder: Path) -> None:
        """New names survive a power cut without being asked to."""

    def bound_this_process(memory: int, seconds: int) -> None:
        """Here a process can be bounded by the one that started it only."""

    def become(command: list[str], folder: Path) -> int:
        """Run the command in the folder, and wait for it."""
        with subprocess.Popen(command, cwd=folder) as child:
            while True:
                try:
                    return child.wait()
                except KeyboardInterrupt:  # the child has had it too, and is stopping
                    continue

else:
    import fcntl
    import resource

    def alive(process: int) -> bool:
        """Whether there is such a process."""
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except OSError:  # somebody else's
            return True
        return True

    def is_orphan(parent: int) -> bool:
        """Whether the process that started this one has ended."""
        return os.getppid() != parent

    def lock(handle: int, *, alone: bool) -> None:
        """Alone, or beside others who share it; the latter waits while somebody looks."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)

    def settle(folder: Path) -> None:
        """Make a new name in the folder survive a power cut."""
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def bound_this_process(memory: int, seconds: int) -> None:
        """Let it take so many bytes and so many seconds of a processor, and no more."""
        for what, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
            with contextlib.suppress(OSError, ValueError):  # no system has to know every bound
                resource.setrlimit(what, (most, most))

    def become(command: list[str], folder: Path) -> int:
        """Run the command in the folder as this process.

        Then every signal reaches it, and none is left behind by a killed parent.
        """
        os.chdir(folder)
        os.execv(command[0], command)


def put_in_place(new: Path, path: Path) -> None:
    """Let a file take the place of another, which on Windows waits while that is open."""
    _patiently(lambda: os.replace(new, path))


def remove_folder(folder: Path) -> None:
    """With all that is in it; what cannot be removed now is swept another time."""
    with contextlib.suppress(OSError):
        _patiently(lambda: _removed(folder))


def _removed(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _patiently(do: Callable[[], None]) -> None:
    deadline = time.monotonic() + (PATIENCE if WINDOWS else 0)
    while True:
        try:
            return do()
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.05)


def new_folder(kind: str) -> Path:
    """A folder for temporary files that nobody else can read, named after this process."""
    sweep_once()
    return Path(tempfile.mkdtemp(prefix=f"smdp-{kind}-{os.getpid()}-"))


@contextlib.contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """The same, gone afterwards."""
    folder = new_folder(kind)
    try:
        yield folder
    finally:
        remove_folder(folder)


@cache
def sweep_once() -> None:
    """Of the system's folder for temporary files."""
    sweep(Path(tempfile.gettempdir()))


def sweep(temporary: Path) -> None:
    """Remove what processes that were killed have left, for it holds people's data."""
    for folder in temporary.glob("smdp-*"):
        found = FOLDER.fullmatch(folder.name)
        if found is None or not _is_own(folder):
            continue
        if not alive(int(found[2])) if found[2] else _age(folder) > DAY:
            remove_folder(folder)


def _is_own(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        facts = folder.lstat()
        mine = WINDOWS or facts.st_uid == os.getuid()
        return mine and folder.is_dir() and not folder.is_symlink()
    return False


def _age(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return time.time() - folder.stat().st_mtime
    return 0.0
