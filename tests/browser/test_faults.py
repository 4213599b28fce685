"""What goes wrong in a real house: killed workers, reloaded pages, two tabs, a killed server."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dashboard_server import DashboardServer, alive
from long_jobs import wait_until
from playwright.sync_api import Browser, Page, expect
from screening_walk import (
    SLOW,
    expect_progress,
    press,
    resting,
    set_permutations,
    start_a_long_screening,
)

RESCALED = "756 transitions, 18 levels"
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardServer]:
    """A dashboard with a place for one worker."""
    own = DashboardServer(tmp_path_factory.mktemp("house"), SMDP_WORKERS="1")
    try:
        own.start()
        yield own
    finally:
        own.kill()


@pytest.fixture
def tab(house: DashboardServer, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(house.key_address)
    yield page
    context.close()


def main(page: Page):
    return page.get_by_test_id("stMain")


def sidebar(page: Page):
    return page.get_by_test_id("stSidebar")


def picture(page: Page, name: str) -> None:
    folder = os.environ.get("SMDP_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"fault-{name}.png")


def test_a_killed_worker_is_explained_and_a_reload_loses_no_job(tab: Page, house: DashboardServer):
    start_a_long_screening(tab)
    (worker,) = house.workers()
    os.kill(worker, signal.SIGKILL)
    expect(main(tab)).to_contain_text("stopped unexpectedly (signal 9)", timeout=SLOW)
    expect(main(tab)).to_contain_text("Run the step again")
    expect(sidebar(tab)).to_contain_text(RESCALED)
    picture(tab, "worker-killed")

    press(tab, "Screen 15 variables")
    expect_progress(tab)
    (worker,) = house.workers()
    with resting(worker):
        tab.reload()
        expect_progress(tab)
        expect(sidebar(tab)).to_contain_text(RESCALED)
        assert house.workers() == {worker}
        picture(tab, "reloaded")
    press(tab, "Cancel")
    expect(main(tab)).to_contain_text("Cancelled. Earlier results are kept.", timeout=SLOW)


def test_two_tabs_keep_their_work_apart_and_wait_for_each_other(tab: Page, house: DashboardServer):
    start_a_long_screening(tab)
    (worker,) = house.workers()
    with resting(worker):
        second = tab.context.new_page()
        second.goto(tab.url)
        expect(sidebar(second)).to_contain_text("A copy: the same work was open", timeout=SLOW)
        expect(sidebar(second)).to_contain_text(RESCALED)
        set_permutations(second, 0)
        press(second, "Screen 15 variables")
        expect(main(second)).to_contain_text("Waiting: 1 job is before yours", timeout=SLOW)
        picture(second, "waiting")
        assert house.workers() == {worker}
    press(tab, "Cancel")
    expect(sidebar(second)).to_contain_text("of 15 variables", timeout=SLOW)
    assert tab.url != second.url
    for page in (tab, second):
        page.reload()
        page.locator(IDLE).wait_for()
        expect(sidebar(page)).to_contain_text(RESCALED)
    expect(sidebar(tab)).not_to_contain_text("of 15 variables")
    expect(sidebar(second)).to_contain_text("of 15 variables")


def test_a_killed_server_leaves_no_worker_and_loses_no_work(tab: Page, house: DashboardServer):
    start_a_long_screening(tab)
    (worker,) = house.workers()
    (folder,) = Path(tempfile.gettempdir()).glob(f"smdp-job-{house.pid}-*")
    house.kill()
    wait_until(lambda: not alive(worker))
    assert not folder.exists()

    before = urlsplit(tab.url)
    house.start()
    tab.reload()  # the key of the start before lets nobody in
    expect(tab.get_by_role("heading")).to_contain_text("opens for its owner only", timeout=SLOW)
    picture(tab, "key-of-another-start")
    house.let_in(tab.context)
    tab.goto(f"{house.address}/{before.path.rpartition('/')[2]}?{before.query}")
    expect(sidebar(tab)).to_contain_text(RESCALED, timeout=SLOW)
    expect(main(tab)).to_contain_text("still running when the program was ended", timeout=SLOW)
    expect(tab.get_by_role("button", name="Screen 15 variables")).to_be_enabled()
    picture(tab, "server-restarted")
    # Opened anew without the work's name in the address, as the command line does it.
    tab.goto(house.key_address)
    expect(main(tab)).to_contain_text("Your last works", timeout=SLOW)
    picture(tab, "offered")
    press(tab, "basics_mobile_synthetic.csv")
    expect(tab.get_by_role("heading", name="Effects", exact=True)).to_be_visible(timeout=SLOW)
    expect(sidebar(tab)).to_contain_text(RESCALED)
    stranger = tab.context.browser.new_context().new_page()
    stranger.goto(house.key_address)
    stranger.locator(IDLE).wait_for()
    expect(main(stranger)).not_to_contain_text(re.compile("Your last works"))
    stranger.context.close()
