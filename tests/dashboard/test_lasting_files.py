"""Files that a page offers, while other pages run and the page itself is drawn anew."""

import time

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dashboard.lasting_files import KEEP_SECONDS, LastingFiles
from tests.long_jobs import wait_until


@pytest.fixture
def clock(monkeypatch):
    """A clock that is moved on by hand."""
    now = [1000.0]
    monkeypatch.setattr("dashboard.lasting_files.time.monotonic", lambda: now[0])
    return now


def ticks(files: MediaFileManager, times: int = 5) -> None:
    """The ends of runs, of any page."""
    for _ in range(times):
        files.remove_orphaned_files()


def offered(files: MediaFileManager, content: bytes = b"plan", place: str = "1.2") -> str:
    """A button of this page that makes the file."""
    return files.add_deferred(lambda: content, "text/plain", place, "plan.toml")


def content(files: MediaFileManager, url: str) -> bytes:
    return files.read_file(url.rpartition("/")[2].partition(".")[0]).content


def gone(files: MediaFileManager, url: str) -> bool:
    return files.read_file(url.rpartition("/")[2].partition(".")[0]) is None


def test_streamlit_alone_deletes_it_before_it_is_fetched():
    """When this fails, ours may not be needed any more."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    url = files.execute_deferred(offered(files))
    ticks(files)
    assert gone(files, url)


def test_a_file_made_on_a_click_lasts_for_minutes(clock):
    files = LastingFiles(MemoryMediaFileStorage("/media"))
    button = offered(files)
    url = files.execute_deferred(button)
    ticks(files)
    clock[0] += KEEP_SECONDS - 1
    ticks(files)
    assert content(files, url) == b"plan"
    assert files.execute_deferred(button) == url  # made again, it lasts anew
    clock[0] += KEEP_SECONDS - 1
    ticks(files)
    assert content(files, url) == b"plan"
    clock[0] += KEEP_SECONDS
    ticks(files)
    assert gone(files, url)
    assert content(files, files.execute_deferred(button)) == b"plan"  # the button is still there


def test_a_button_works_while_its_page_is_drawn_anew(clock):
    files = LastingFiles(MemoryMediaFileStorage("/media"))
    before = offered(files, b"before")
    files.clear_session_refs()  # as a new run begins
    ticks(files)
    assert content(files, files.execute_deferred(before)) == b"before"
    after = offered(files, b"after")
    clock[0] += KEEP_SECONDS
    ticks(files)
    clock[0] += KEEP_SECONDS
    ticks(files)
    with pytest.raises(MediaFileStorageError, match="not found"):
        files.execute_deferred(before)
    assert content(files, files.execute_deferred(after)) == b"after"


def test_what_a_page_names_stays(clock):
    files = LastingFiles(MemoryMediaFileStorage("/media"), most_bytes=1)
    url = files.add(b"a table", "text/csv", "1.3", "table.csv", is_for_static_download=True)
    clock[0] += 100 * KEEP_SECONDS
    ticks(files)
    assert content(files, url) == b"a table"


def test_the_room_is_bounded_but_the_newest_always_lasts(clock):
    files = LastingFiles(MemoryMediaFileStorage("/media"), most_bytes=100)
    urls = []
    for number in range(4):
        size = 40 if number < 3 else 1000
        urls.append(files.execute_deferred(offered(files, bytes([number]) * size, "1.2")))
        clock[0] += 1
        ticks(files)
        if number == 2:
            assert [gone(files, url) for url in urls] == [True, False, False]
    assert [gone(files, url) for url in urls] == [True, True, True, False]


def test_nothing_has_to_run_for_it_to_be_deleted():
    files = LastingFiles(MemoryMediaFileStorage("/media"), seconds=0.2)
    url = files.execute_deferred(offered(files))
    files.remove_orphaned_files()
    assert not gone(files, url)
    time.sleep(0.1)
    wait_until(lambda: gone(files, url), seconds=10)
