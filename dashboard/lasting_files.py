"""A file that a page offers can be fetched for minutes, whatever this page and others do meanwhile.

At the end of every run of every page, Streamlit deletes what no page names just then: a file that
was made on a click, before the browser has fetched it, and the buttons of a page that is being
drawn anew.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

KEEP_SECONDS = 300.0
KEEP_BYTES = 500_000_000


class LastingFiles(MediaFileManager):
    """Streamlit's files and buttons; what no page names any more is kept for a while."""

    def __init__(
        self,
        storage: MemoryMediaFileStorage,
        *,
        seconds: float = KEEP_SECONDS,
        most_bytes: int = KEEP_BYTES,
    ) -> None:
        super().__init__(storage)
        self._memory, self._seconds, self._most_bytes = storage, seconds, most_bytes
        #: What no page names, and since when; a file that is made again is another thing.
        self._left: dict[str, tuple[object, float]] = {}
        self._later: threading.Timer | None = None

    def remove_orphaned_files(self) -> None:
        """Delete what no page has named for a while; beyond the room for these, the oldest."""
        with self._lock:
            now = time.monotonic()
            self._left = self._unnamed(now)
            newest_first = sorted(self._left, key=lambda name: self._left[name][1], reverse=True)
            room = self._most_bytes
            for place, name in enumerate(newest_first):
                size = self._size(name)
                room -= size
                too_much = size > 0 and room < 0 and place > 0
                if too_much or now - self._left[name][1] >= self._seconds:
                    self._delete(name)
            self._look_again()

    def _unnamed(self, now: float) -> dict[str, tuple[object, float]]:
        of_sessions = self._files_by_session_and_coord.values()
        named = {name for of_session in of_sessions for name in of_session.values()}
        left = {}
        for name, thing in [*self._file_metadata.items(), *self._deferred_callables.items()]:
            if name not in named:
                before = self._left.get(name)
                left[name] = before if before and before[0] is thing else (thing, now)
        return left

    def _size(self, name: str) -> int:
        return self._memory.get_file(name).content_size if name in self._file_metadata else 0

    def _delete(self, name: str) -> None:
        del self._left[name]
        if name in self._file_metadata:
            self._delete_file(name)
        else:
            self._drop_deferred_id(name)

    def _look_again(self) -> None:
        """Also when no page runs any more."""
        if self._left and self._later is None:
            self._later = threading.Timer(self._seconds, self._look_later)
            self._later.daemon = True
            self._later.start()

    def _look_later(self) -> None:
        self._later = None
        self.remove_orphaned_files()


@asynccontextmanager
async def lasting_files(app: st.App) -> AsyncIterator[None]:
    """As long as the server runs."""
    runtime = st.runtime.get_instance()
    storage = runtime.media_file_mgr._storage
    assert isinstance(storage, MemoryMediaFileStorage)
    runtime._media_file_mgr = LastingFiles(storage)
    yield
