"""Takes the pictures of docs/images by going through the student sample in a browser.

python docs/make_pictures.py    (three minutes; simulation.png needs a study and is left as it is)
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from browser.conftest import BROWSERS, IDLE, QUIET  # noqa: E402
from dashboard_server import DashboardServer  # noqa: E402

SIZE = {"width": 1440, "height": 900}
SLOW = 600_000


def press(page: Page, name: str) -> None:
    page.locator(IDLE).wait_for()
    page.get_by_role("button", name=name).click()


def do(page: Page, button: str, sidebar: str) -> None:
    """Have a step done; the sidebar says when it is."""
    press(page, button)
    expect(page.get_by_test_id("stSidebar")).to_contain_text(re.compile(sidebar))


def type_in(page: Page, box: str, text: str) -> None:
    page.get_by_label(box, exact=True).fill(text)
    page.get_by_label(box, exact=True).press("Enter")
    page.locator(IDLE).wait_for()


def picture(page: Page, name: str) -> None:
    """The page from its top, drawn to the end, with nothing pointed at or in focus."""
    page.mouse.move(SIZE["width"] - 2, SIZE["height"] - 2)
    page.evaluate("document.activeElement.blur()")
    page.get_by_test_id("stMain").evaluate("part => part.scrollTo(0, 0)")
    for wait in ("stSpinner", "stStatusWidget", "stSkeleton", "stToast"):
        expect(page.get_by_test_id(wait)).to_have_count(0)
    page.locator(IDLE).wait_for()
    page.wait_for_timeout(1500)  # figures move to their places
    page.screenshot(path=HERE / "images" / f"{name}.png", animations="disabled")


def walk(page: Page) -> None:
    press(page, "Smoking in students")
    page.get_by_text("Names of the treatments").click()
    type_in(page, "Label of module = 0", "information")
    type_in(page, "Label of module = 1", "treatment")
    do(page, "Use these roles", "30 subjects, 15 state variables")
    picture(page, "data")
    press(page, "Next: missing values")
    do(page, "Leave out 2 and impute", "28 of 30 subjects kept")
    picture(page, "missing-values")
    press(page, "Next: rescaling")
    do(page, "Rescale all variables", "transitions, .* levels")
    press(page, "Next: effects")
    picture(page, "effects")
    press(page, "Next: screening")
    do(page, "Screen 15 variables", "of 15 variables kept")
    picture(page, "screening")
    press(page, "Next: feature dimension")
    do(page, "Fit the feature map", "dimension .*, (p|keeps)")
    picture(page, "feature-dimension")
    press(page, "Next: weights")
    picture(page, "weights")
    press(page, "Next: Markov check")
    do(page, "Test look-backs", "look-back|not Markov")
    picture(page, "markov-check")
    press(page, "Next: Q-functions")
    do(page, "Learn the Q-functions", "linear and neural, discount")
    picture(page, "q-functions")
    press(page, "Next: policy")
    do(page, "Estimate what it would earn", "observed -")
    picture(page, "policy")
    press(page, "Next: patient")
    picture(page, "patient")


def main() -> None:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("No Chromium was found. Install one, on Debian with: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = DashboardServer(Path(folder))
        try:
            server.start()
            browser = playwright.chromium.launch(executable_path=program, args=list(QUIET))
            page = browser.new_context(viewport=SIZE).new_page()
            page.set_default_timeout(SLOW)
            expect.set_options(timeout=SLOW)
            page.goto(server.key_address)
            walk(page)
            browser.close()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
