"""The browser is opened by a file that nobody else can read, and that is soon gone."""

from __future__ import annotations

import socket
import stat
import webbrowser
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from waiting import wait_until

from dashboard import browser_window
from smdp.commands.entrance import Entrance


@pytest.fixture
def port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


@pytest.fixture
def opened(monkeypatch, tmp_path) -> list[tuple[str, int, str]]:
    """The address that the browser was given, and the rights and content of its file then."""
    seen: list[tuple[str, int, str]] = []

    def look(address: str) -> bool:
        file = Path(url2pathname(urlsplit(address).path))
        seen.append((address, stat.S_IMODE(file.stat().st_mode), file.read_text()))
        return True

    monkeypatch.setattr(webbrowser, "open", look)
    monkeypatch.setattr(browser_window, "_folder", lambda: tmp_path)
    monkeypatch.setattr(browser_window, "_has_screen", lambda: True)
    return seen


def test_a_private_file_leads_to_the_first_page(opened, port, tmp_path):
    entrance = Entrance.for_this_computer(opens_browser=True)
    with browser_window.browser_window(entrance, port):
        wait_until(lambda: bool(opened), 20)
    [(address, rights, content)] = opened
    assert entrance.key not in address
    assert rights == 0o600
    assert entrance.address(port) in content
    assert list(tmp_path.iterdir()) == []


def test_the_file_goes_while_the_server_runs(opened, port, tmp_path, monkeypatch):
    monkeypatch.setattr(browser_window, "FILE_SECONDS", 0.05)
    with browser_window.browser_window(Entrance.for_this_computer(opens_browser=True), port):
        wait_until(lambda: bool(opened) and not list(tmp_path.iterdir()), 20)


def test_nothing_is_opened_where_nobody_asks_or_there_is_no_screen(opened, port, monkeypatch):
    with browser_window.browser_window(Entrance.for_this_computer(opens_browser=False), port):
        pass
    monkeypatch.setattr(browser_window, "_has_screen", lambda: False)
    with browser_window.browser_window(Entrance.for_this_computer(opens_browser=True), port):
        pass
    assert opened == []
