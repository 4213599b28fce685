"""A study whose names and cells are markup, formulas and worse, on every page of the dashboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hostile_study import BEFORE, quick_plan, study_frame
from playwright.sync_api import Page, expect
from screening_walk import rest

from smdp.analysis.analysis import Analysis, run_analysis
from smdp.analysis.saved_file import save_analysis

SLOW = 60_000
PAGES = {
    "data": "What the program understood",
    "missing_values": "What this says",
    "rescaling": "What this says",
    "effects": "What this says",
    "screening": "What this says",
    "feature_dimension": "What this says",
    "weights": "What this says",
    "markov_check": "What this says",
    "q_functions": "What this says",
    "policy": "What this says",
    "twin": "What this says",
    "passport": "What this says",
    "patient": "What this says",
    "report": "Report",
    "simulation": "Simulation",
}
TITLES = {
    "q_functions": "Q-functions",
    "twin": "Could this trial have found it",
    "passport": "Can this be trusted",
}
LINK = '[data-testid="stSidebar"] a[href$="{}"]'

#: Words of hostile names whose text, as the page shows it, no longer has its marks before it.
UNMASKED = """(before) => {
  const found = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const [word, marks] of Object.entries(before)) {
      let place = node.data.indexOf(word);
      for (; place >= 0; place = node.data.indexOf(word, place + 1)) {
        const shown = node.data.slice(Math.max(0, place - marks.length), place);
        const tame = shown.endsWith("-") || shown.includes("…");
        if (shown !== marks && !tame) found.push(node.data.slice(0, 200));
      }
    }
  }
  return found;
}"""
#: Names that a figure would take as markup, a formula or a place to fill in, hover texts included.
LIVE_IN_FIGURES = r"""() => [...document.querySelectorAll(".js-plotly-plot")].flatMap((plot) =>
  JSON.stringify([plot.data, plot.layout]).match(
    /<i>m\w+7|<b>who7|<script|<img|[$]tex7|%{x}"|[\u202e\u0007]/g) || [])"""
#: Elements that only a name could have made.
PLANTED = 'img[src="x"], [onerror], a[href^="javascript"], a[href*="example.org"], .katex, .MathJax'


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return run_analysis(study_frame(), quick_plan())


@pytest.fixture(scope="module")
def saved(analysis, tmp_path_factory) -> Path:
    return save_analysis(analysis, tmp_path_factory.mktemp("hostile") / "<b>study7<!b>.smdp")


def leaks(page: Page) -> list[str]:
    """What of the page was made of a name instead of showing it."""
    found = page.evaluate(UNMASKED, BEFORE) + page.evaluate(LIVE_IN_FIGURES)
    found += page.evaluate(
        "(q) => [...document.querySelectorAll(q)].map(e => e.outerHTML)", PLANTED
    )
    return found + page.evaluate(
        "[...document.scripts].map(s => s.textContent).filter(t => t.includes('alert'))"
    )


def test_every_page_shows_it_as_text(open_page, saved, screenshot, console_errors):
    dialogs: list[str] = []
    page = open_page()
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(saved)
    page.wait_for_url("**/passport**", timeout=SLOW)
    seen, drawn, found = 0, False, {}
    for name, words in PAGES.items():
        rest(page)
        page.locator(LINK.format(name)).first.click()
        title = TITLES.get(name, name.replace("_", " "))
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text(re.compile(title, re.IGNORECASE), timeout=SLOW)
        expect(page.locator('[data-testid="stApp"]')).to_have_attribute(
            "data-test-script-state", "notRunning", timeout=SLOW
        )
        expect(page.locator("body")).to_contain_text(words, timeout=SLOW)
        for tab in page.get_by_role("tab").all():
            if tab.is_visible():
                tab.click()
        for closed in page.locator("details:not([open]) > summary").all():
            if closed.is_visible():
                closed.click()
        page.wait_for_timeout(700)
        screenshot(f"hostile-{name}")
        found[name] = [leak[:300] for leak in leaks(page)]
        drawn |= page.evaluate(
            "[...document.querySelectorAll('.js-plotly-plot')]"
            ".some((plot) => JSON.stringify(plot.data).includes('markup7'))"
        )
        seen += sum(word in (page.locator("body").inner_text()) for word in BEFORE)
        expect(page.get_by_test_id("stException")).to_have_count(0)
    assert found == {name: [] for name in PAGES}
    assert seen > 20
    assert drawn
    page.locator(LINK.format("report")).first.click()
    with page.expect_download(timeout=SLOW) as waiting:
        page.get_by_role("button", name="Analysis (.smdp)").click()
    taken = waiting.value.suggested_filename
    assert taken.endswith(".smdp")
    assert not set(taken) & set("<>:\"/\\|?*'")
    assert dialogs == []
    assert console_errors == []
