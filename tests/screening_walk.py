"""From Start to a long job, in a real browser."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from functools import cache

from open_box import open_box
from playwright.sync_api import Page, expect

from smdp.analysis.analysis import run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.read_table import read_table
from smdp.simulation.samples import sample_file

SLOW = 90_000  # a machine that does other things as well may be slow, and that is no fault
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def rest(page: Page) -> None:
    """Until the page rests: between two runs of its script it seems to for a moment.

    What is pressed while it draws itself anew may be lost.
    """
    for _ in range(3):
        page.locator(IDLE).wait_for()
        page.wait_for_timeout(120)
    page.locator(IDLE).wait_for()


def press(page: Page, name: str) -> None:
    button = page.get_by_role("button", name=name)
    expect(button).to_be_visible()
    rest(page)
    button.click()


def walk_to_screening(page: Page) -> None:
    """From Start, with the sample study as it was saved after rescaling."""
    page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(
        {"name": "rescaled.smdp", "mimeType": "application/zip", "buffer": rescaled_sample()}
    )
    press(page, "Next: effects")
    press(page, "Next: screening")
    expect(page.get_by_role("heading", name="Screening", exact=True)).to_be_visible(timeout=SLOW)


@cache
def rescaled_sample() -> bytes:
    """What a page would save: other tests go the whole way by clicks."""
    path = sample_file("basics_mobile_synthetic.csv")
    preparation = PreparationSettings(rescaling=RescalingSettings("cigs"))
    roles = guess_roles(read_table(path))
    plan = AnalysisPlan(roles=roles, preparation=preparation, data_name=path.name)
    return analysis_to_bytes(run_analysis(path, plan.replace(stop_after="rescaling")))


def set_permutations(page: Page, number: int) -> None:
    """Of the paper's tests; 0 for the default, which takes seconds; a million, half a minute."""
    rest(page)
    open_box(page, "More")
    page.get_by_text("Whatever is related, as in the paper").click()
    permutations = page.get_by_role("spinbutton", name="Rearrangements (B)")
    expect(permutations).to_be_visible()
    rest(page)
    permutations.fill(str(number))
    permutations.press("Enter")
    rest(page)


def start_a_long_screening(page: Page) -> None:
    walk_to_screening(page)
    set_permutations(page, 1_000_000)
    press(page, "Screen 15 variables")
    expect_progress(page)


@contextlib.contextmanager
def resting(worker: int) -> Iterator[None]:
    """The worker waits meanwhile, so that a fast machine does not end its job before the test."""
    os.kill(worker, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker, signal.SIGCONT)


def expect_progress(page: Page) -> None:
    expect(page.get_by_test_id("stSidebar")).to_contain_text(
        re.compile(r"Screening: [1-9]\d* %"), timeout=SLOW
    )
