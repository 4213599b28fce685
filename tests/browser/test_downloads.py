"""Files that are made on a click arrive whole while another window's page computes."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from dashboard_server import DashboardServer
from open_box import open_box
from playwright.sync_api import Browser, Download, Page, expect
from screening_walk import SLOW, start_a_long_screening
from small_trial import study_frame

from smdp.analysis.analysis import load_analysis, run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.errors import SmdpError
from smdp.policy.policy_settings import PolicySettings
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
TIMES, PATIENCE = 2, 30.0
PLAN = AnalysisPlan(
    roles=ColumnRoles(
        "person",
        "day",
        "treated",
        ["stress", "noise", "craving"],
        NextValue("craving", -1),
        action_levels={"0": "nothing", "1": "a message"},
    ),
    features=FeatureMapPlan("identity", True),
    policies=(PolicyPlan(PolicySettings(discount=0.5, bootstraps=3), 4),),
)
#: By button: whether the content is the whole file.
ON_REPORT: dict[str, Callable[[bytes], object]] = {
    "HTML": lambda content: content.rstrip().endswith(b"</html>"),
    "Analysis (.smdp)": load_analysis,
    "Plan (TOML)": lambda content: AnalysisPlan.from_toml(content.decode()),
    "Script (Python)": lambda content: ast.parse(content.decode()).body,
}
ON_Q_FUNCTIONS: dict[str, Callable[[bytes], object]] = {
    "Policy (JSON)": json.loads,
    "Reader (Python)": lambda content: ast.parse(content.decode()).body,
}


@pytest.fixture
def busy(open_page: Callable[..., Page], other: Page, running: DashboardServer) -> Iterator[Page]:
    """A window in which a job runs, begun when the other one is ready.

    Its page goes on asking for the progress; the worker rests, for all it does is to take time.
    """
    page = open_page()
    page.set_default_timeout(SLOW)
    start_a_long_screening(page)
    (worker,) = running.workers()
    os.kill(worker, signal.SIGSTOP)
    yield page
    os.kill(worker, signal.SIGKILL)


@pytest.fixture
def other(browser: Browser, running: DashboardServer) -> Iterator[Page]:
    """Another window, with an analysis that has a policy."""
    table = io.BytesIO(study_frame().to_csv(index=False).encode())
    table.name = "trial.csv"
    content = analysis_to_bytes(run_analysis(table, PLAN))
    page = browser.new_context(accept_downloads=True).new_page()
    page.set_default_timeout(SLOW)
    page.goto(running.key_address)
    page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(
        {"name": "trial.smdp", "mimeType": "application/zip", "buffer": content}
    )
    expect(page.get_by_role("heading", level=1)).to_contain_text("Q-functions", timeout=SLOW)
    page.locator(IDLE).wait_for()
    yield page
    page.context.close()


def go(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebar").get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name, timeout=SLOW)
    page.locator(IDLE).wait_for()


class Clicks:
    """Clicks on the buttons of a page, and what comes of them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._came: list[Download] = []
        self._refused: list[str] = []
        page.on("download", lambda download: self._came.append(download))
        page.on("response", lambda r: r.status >= 400 and self._refused.append(r.url))

    def take(self, name: str) -> bytes:
        """The file that arrives; nothing where none does."""
        self._came.clear()
        self._refused.clear()
        ends_so = re.compile(rf"(^|\W|_){re.escape(name)}$")  # an icon's name may come before it
        button = self._page.get_by_role("button", name=ends_so)
        button.click()
        deadline = time.monotonic() + PATIENCE
        while not self._came and not self._refused and time.monotonic() < deadline:
            self._page.wait_for_timeout(50)
        if not self._came or self._came[0].failure():
            return b""
        return self._came[0].path().read_bytes()


def test_every_click_brings_the_whole_file(busy, other):
    clicks, tried, arrived = Clicks(other), [], []
    for page_name, buttons in (("Q-functions", ON_Q_FUNCTIONS), ("Report", ON_REPORT)):
        if page_name == "Q-functions":  # where the window already is
            open_box(other, "Take the policy with you")
        else:
            go(other, page_name)
        for again in range(TIMES):
            for name, whole in buttons.items():
                if again and page_name == "Report":  # the page itself is drawn anew meanwhile
                    other.get_by_text("With the data", exact=True).click()
                content = clicks.take(name)
                tried.append(name)
                with contextlib.suppress(SmdpError, SyntaxError, ValueError):
                    if whole(content):
                        arrived.append(name)
    expect(busy.get_by_test_id("stSidebar")).to_contain_text(re.compile(r"Screening: \d+ %"))
    assert arrived == tried
