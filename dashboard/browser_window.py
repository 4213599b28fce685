"""The first page, opened in the browser when the server is up.

Every account can read the words of a running command. So the browser is not handed the address with
its key, but a file that leads there, which nobody else may read and which is gone soon after.
"""

from __future__ import annotations

import contextlib
import html
import os
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path

from smdp.atomic_write import PRIVATE, write_whole
from smdp.commands.entrance import HERE, Entrance
from smdp.errors import SmdpError

FILE_SECONDS = 30.0
LEADS_THERE = """<!doctype html><meta charset="utf-8"><title>smdp</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open the dashboard</a>
"""


@contextlib.contextmanager
def browser_window(entrance: Entrance, port: int) -> Iterator[None]:
    """Open it if that is wanted; leave no file behind."""
    if not entrance.opens_browser or not _has_screen():
        yield
        return
    file = _folder() / f"smdp-dashboard-{port}.html"
    ended = threading.Event()
    opening = threading.Thread(target=_open, args=(entrance, port, file, ended), daemon=True)
    opening.start()
    try:
        yield
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def _open(entrance: Entrance, port: int, file: Path, ended: threading.Event) -> None:
    while not _answers(port):
        if ended.wait(0.05):
            return
    address = html.escape(entrance.address(port))
    with contextlib.suppress(SmdpError, OSError, webbrowser.Error):
        write_whole(file, LEADS_THERE.format(address=address).encode(), mode=PRIVATE)
        webbrowser.open(file.as_uri())
        ended.wait(FILE_SECONDS)
        file.unlink(missing_ok=True)


def _folder() -> Path:
    """Browsers that are shut off from the system see nothing but what lies openly in the home."""
    home = Path.home()
    usable = sys.platform == "linux" and os.access(home, os.W_OK)
    return home if usable else Path(tempfile.gettempdir())


def _has_screen() -> bool:
    """Without one, Python would open a browser inside the terminal."""
    if sys.platform != "linux":
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HERE[0], port), timeout=1):
        return True
    return False
