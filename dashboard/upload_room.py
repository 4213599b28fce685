"""How much the pages may upload, each and together: all of it lies in the server's memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

PAGE_BYTES = 2_000 * 1024**2
SERVER_BYTES = 4_000 * 1024**2
UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/[^/]+")


class UploadRoom:
    """Counts what lies there, told by `stored` for each session, and what is on its way."""

    def __init__(
        self,
        stored: Callable[[], Mapping[str, int]],
        *,
        page_bytes: int = PAGE_BYTES,
        server_bytes: int = SERVER_BYTES,
    ) -> None:
        self._stored, self._page, self._server = stored, page_bytes, server_bytes
        self._coming: Counter[str] = Counter()

    def take(self, session: str, size: int) -> bool:
        """Whether so much more can come from the page; if so, `leave` has to follow."""
        stored = self._stored()
        of_page = stored.get(session, 0) + self._coming[session] + size
        of_all = sum(stored.values()) + self._coming.total() + size
        if of_page > self._page or of_all > self._server:
            return False
        self._coming[session] += size
        return True

    def leave(self, session: str, size: int) -> None:
        """It has come, or will not."""
        self._coming[session] -= size
        if not self._coming[session]:
            del self._coming[session]


def session_of_upload(path: str) -> str | None:
    """Of a request that brings a file; None of any other."""
    found = UPLOAD.fullmatch(path)
    return found[1] if found else None


def stored_in_streamlit() -> dict[str, int]:
    """Bytes for each session."""
    import streamlit as st

    if not st.runtime.exists():
        return {}
    files = st.runtime.get_instance().uploaded_file_mgr
    by_session = dict(getattr(files, "file_storage", {}))
    return {
        session: sum(len(file.data) for file in list(held.values()))
        for session, held in by_session.items()
    }
