"""Saved analyses taken apart and put together again, as a forger would do it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

from smdp.analysis.saved_file import FORMAT
from smdp.archive import pack


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def resealed(parts: dict[str, bytes], **manifest: object) -> bytes:
    """As a forger would do it: with a fitting manifest and a fitting seal."""
    own = {k: v for k, v in parts.items() if k != "manifest.json"}
    listed = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in own.items()
    }
    head = {
        "kind": "smdp analysis",
        "format": FORMAT,
        "smdp": "0.1.0",
        "members": listed,
    } | manifest
    return pack({"manifest.json": json.dumps(head).encode(), **own}, compress=True, seal=True)
