"""The way of a researcher from Start to a long job, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

SLOW = 30_000


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def walk_to_screening(page: Page) -> None:
    """From Start, with the sample study."""
    press(page, "Smoking in students")
    press(page, "Use these roles")
    press(page, "Next: missing values")
    press(page, "Leave out 2 and impute")
    press(page, "Next: rescaling")
    press(page, "Rescale all variables")
    press(page, "Next: screening")


def set_permutations(page: Page, number: int) -> None:
    """0 for the default, which takes seconds; a million takes minutes."""
    page.get_by_text("More", exact=True).click()
    permutations = page.get_by_role("spinbutton", name="Permutations (B)")
    permutations.fill(str(number))
    permutations.press("Enter")


def start_a_long_screening(page: Page) -> None:
    walk_to_screening(page)
    set_permutations(page, 1_000_000)
    press(page, "Screen 15 variables")
    expect_progress(page)


def expect_progress(page: Page) -> None:
    expect(page.get_by_test_id("stSidebar")).to_contain_text(
        re.compile(r"Screening: [1-9]\d* %"), timeout=SLOW
    )
