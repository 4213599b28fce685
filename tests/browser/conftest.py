"""The dashboard in a real Chromium; every test also checks that no request left this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dashboard_server import DashboardServer
from playwright.sync_api import Browser, Page, expect, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
#: Milliseconds: a machine that does other things as well may be slow, and that is no fault.
PATIENCE = 90_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def server(running: DashboardServer) -> str:
    """The address of a running dashboard."""
    return running.address


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardServer]:
    """A running dashboard."""
    own = DashboardServer(tmp_path_factory.mktemp("server"))
    try:
        own.start()
        yield own
        own.stop()
    finally:
        own.kill()


@pytest.fixture(scope="module")  # while it is open, no other test could use asyncio
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        message = "No Chromium was found. Install one, on Debian with: apt-get install chromium"
        if os.environ.get("SMDP_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=list(QUIET))
        yield chromium
        chromium.close()


@pytest.fixture
def requests_seen() -> list[str]:
    """The URL of every request and web socket of this test's page."""
    return []


@pytest.fixture
def console_errors() -> list[str]:
    """Every error of this test's page: logged, or raised by its scripts."""
    return []


@pytest.fixture
def page(
    browser: Browser,
    running: DashboardServer,
    requests_seen: list[str],
    console_errors: list[str],
) -> Iterator[Page]:
    """Of a browser that was let in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    running.let_in(context)
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE / 3)
    context.on("request", lambda request: requests_seen.append(request.url))
    page = context.new_page()
    page.on("websocket", lambda socket: requests_seen.append(socket.url))
    page.on("pageerror", lambda error: console_errors.append(str(error)))
    page.on("console", lambda line: line.type == "error" and console_errors.append(line.text))
    yield page
    context.close()
    assert [url for url in requests_seen if not _stays_here(url)] == []


@pytest.fixture
def open_page(server: str, page: Page) -> Callable[..., Page]:
    """Opens a page of the dashboard by its path and waits until its script has run."""

    def open_it(path: str = "") -> Page:
        page.goto(f"{server}/{path}")
        page.locator(IDLE).wait_for()
        return page

    return open_it


@pytest.fixture
def screenshot(page: Page) -> Callable[[str], None]:
    """Keeps a picture of the whole page when SMDP_SCREENSHOTS names a folder to put it in."""
    folder = os.environ.get("SMDP_SCREENSHOTS")

    def take(name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return take


def _stays_here(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"data", "blob", "about"} or parts.hostname in {"127.0.0.1", "localhost"}
