"""A long job in a real browser: seen on every page, cancelled at once, ended with the browser."""

import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

SLOW = 30_000


def start_a_long_screening(page: Page) -> None:
    def press(name: str) -> None:
        page.get_by_role("button", name=name).click()

    press("Smoking in students")
    press("Use these roles")
    press("Next: missing values")
    press("Leave out 2 and impute")
    press("Next: rescaling")
    press("Rescale all variables")
    press("Next: screening")
    page.get_by_text("More", exact=True).click()
    permutations = page.get_by_role("spinbutton", name="Permutations (B)")
    permutations.fill("1000000")
    permutations.press("Enter")
    press("Screen 15 variables")
    expect(page.get_by_test_id("stSidebar")).to_contain_text(
        re.compile(r"Screening: [1-9]\d* %"), timeout=SLOW
    )


def children(pid: int) -> set[int]:
    """The processes that this one started and that are still there."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.add(int(stat.parent.name))
    return found


def test_progress_follows_to_other_pages_and_cancel_is_quick(open_page, running, screenshot):
    page = open_page()
    start_a_long_screening(page)
    expect(page.get_by_test_id("stMain")).to_contain_text("left", timeout=SLOW)
    screenshot("screening-running")
    page.get_by_test_id("stSidebar").get_by_role("link", name="Start").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_contain_text("Screening:")
    page.get_by_role("button", name="Cancel").click()
    began = time.monotonic()
    while children(running[1]):
        assert time.monotonic() - began < 2, "the worker was still there after two seconds"
        time.sleep(0.05)
    expect(sidebar).not_to_contain_text("Screening:")


def test_a_closed_browser_leaves_no_worker(open_page, running):
    page = open_page()
    start_a_long_screening(page)
    assert children(running[1])
    page.close()
    began = time.monotonic()
    while children(running[1]):
        assert time.monotonic() - began < 25, "the worker outlived its browser"
        time.sleep(0.2)
