"""A file is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from smdp.errors import SmdpError
from smdp.system import put_in_place, settle

#: What may be done with a new file; the user's own mask applies to the first.
ORDINARY, PRIVATE = 0o666, 0o600


def make_folder(folder: Path, *, mode: int = 0o777) -> Path:
    """Make the folder, and those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
    except OSError as error:
        raise SmdpError(
            f"The folder '{folder}' cannot be made: {error.strerror or error}.", "Name another one."
        ) from None
    return folder


def write_whole(path: Path, content: bytes, *, mode: int = ORDINARY) -> Path:
    """Write beside the file and then put it in its place: a crash leaves the old one as it was."""
    beside = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.part")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put_in_place(beside, path)
        settle(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise SmdpError(
            f"'{path.name}' cannot be written: {error.strerror or error}.",
            "Check that the folder exists, that you may write there, and that the disk has room. "
            "An earlier file of that name is as it was.",
        ) from None
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    return path


_BINARY = getattr(os, "O_BINARY", 0)
