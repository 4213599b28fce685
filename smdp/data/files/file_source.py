"""The bytes and the name of a file, whatever form it comes in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from smdp.data.files import limits
from smdp.errors import ReadError

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
UNNAMED = "the table"


def load(source: Source, name: str | None = None) -> tuple[bytes, str]:
    """The content of the source and its file name without folder."""
    if isinstance(source, bytes | bytearray | memoryview):
        data, found = bytes(source), UNNAMED
    elif isinstance(source, str | os.PathLike):
        data, found = _load_path(Path(source))
    else:
        data, found = _load_stream(source)
    name = _without_folder(name or found)
    limits.check_file_size(len(data), name)
    if not data:
        raise ReadError(f"'{name}' is empty (0 bytes).", "Export the table again.")
    return data, name


def _load_path(path: Path) -> tuple[bytes, str]:
    if path.is_dir():
        raise ReadError(f"'{path.name}' is a folder.", "Choose a file in it.")
    try:
        limits.check_file_size(path.stat().st_size, path.name)
        return path.read_bytes(), path.name
    except FileNotFoundError:
        raise ReadError(f"There is no file '{path.name}'.", "Check its name and folder.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ReadError(
            f"'{path.name}' cannot be opened: {reason}.",
            "Close it in other programs and check that you may read it.",
        ) from None


def _load_stream(stream: BinaryIO) -> tuple[bytes, str]:
    """An upload may have been read before: start from its beginning."""
    if stream.seekable():
        stream.seek(0)
    data = stream.read(limits.MAX_FILE_BYTES + 1)
    if not isinstance(data, bytes):
        raise ReadError("The file was opened as text.", "Open it in binary mode ('rb').")
    return data, str(getattr(stream, "name", UNNAMED))


def _without_folder(name: str) -> str:
    """Uploads from any system: both kinds of slashes separate folders."""
    return name.replace("\\", "/").rsplit("/", 1)[-1] or UNNAMED
