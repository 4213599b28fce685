"""Boxes that open slowly."""

from playwright.sync_api import Page


def open_box(page: Page, name: str) -> None:
    """Return when it is all open.

    Until then a button in it that was scrolled to slides away between press and release.
    """
    title = page.get_by_test_id("stMain").get_by_text(name, exact=True)
    title.click()
    box = page.locator("details[open]").filter(has=page.get_by_text(name, exact=True))
    page.wait_for_function(
        "box => box.getAnimations().length === 0", arg=box.first.element_handle()
    )
