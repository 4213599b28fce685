from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace

import pytest
from hostile_study import ENDLESS, FORMULA, MARKDOWN, MARKUP
from page_reader import Page

from smdp.blocks import Report, Section, Table
from smdp.report.collect import build_report, section_titles
from smdp.report.html import to_html
from smdp.text import interval_text, p_text
from smdp.words.policy_value import digits_of

#: No plan was locked, no cost followed, no new data looked at.
NOT_ASKED = ("deviations", "trade_off", "new_data")


@pytest.fixture(scope="module")
def written(analysis) -> str:
    return to_html(build_report(analysis, title="A <b>title</b>", author="An & author"))


@pytest.fixture(scope="module")
def page(written) -> Page:
    return Page(written)


def test_every_section_is_there_and_the_page_is_well_formed(page):
    ids = [attrs["id"] for tag, attrs in page.tags if tag == "section"]
    keys = [key for key in section_titles() if key not in NOT_ASKED]
    assert ids == keys
    assert page.open == []
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == [f"#{key}" for key in keys]
    assert "A <b>title</b>" in page.text("")
    assert "An & author" in page.text("")


def test_numbers_are_those_of_the_results(page, analysis):
    value = analysis.values[0]
    digits = digits_of(value)
    shown = page.table_with("policy", "method")
    column = "value (95 % interval)"
    for row, (_, expected) in zip(shown, value.table.iterrows(), strict=False):
        text = interval_text(expected["estimate"], expected["lower"], expected["upper"], digits)
        assert row[column] == text
    gain = value.gain
    against = page.table_with("policy", "against")
    text = interval_text(gain["estimate"], gain["lower"], gain["upper"], digits)
    assert against[0]["difference (95 % interval)"] == text
    screened = {row["variable"]: row["p alone"] for row in page.table_with("variable", "status")}
    expected = analysis.screening.table.loc[MARKDOWN, "p_value"]
    assert screened[MARKDOWN] == p_text(expected)
    weights = {row["variable"]: row for row in page.table_with("variable", "feature 1")}
    own = analysis.feature_map.weights.loc["feature 1", FORMULA]
    assert float(weights[FORMULA]["feature 1"]) == pytest.approx(own, abs=5e-4)
    tried = page.table_with("pass", "dimension", "exact test")
    for row, p in zip(tried, analysis.feature_map.candidates["p_exact"], strict=True):
        assert row["exact test"] == p_text(p)
    effects = page.table_with("action", "against", "term")
    assert effects[0]["p"] == p_text(analysis.trial.effects["p_value"].iloc[0])
    assert p_text(analysis.placebo.p_value) in page.text("checks")


def test_the_origin_is_in_the_appendix(page, analysis):
    text = page.text("appendix")
    assert analysis.source.fingerprint in text
    assert analysis.records["screening"].output[:16] in text
    assert "permutations = 299" in text


def test_nothing_is_loaded_from_anywhere(page, written):
    for tag, attrs in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            target = attrs.get(name)
            assert target is None or target.startswith("#"), (tag, name, target)
        assert not any(name.startswith("on") for name in attrs)
    styles = re.findall(r"<style[^>]*>(.*?)</style>", written, re.DOTALL)
    assert styles
    assert not any("url(" in style or "@import" in style for style in styles)


def test_only_the_two_scripts_of_the_report_may_run(page, written):
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy
    allowed = set(re.findall(r"sha256-[A-Za-z0-9+/=]+", policy))
    programs = [text for attrs, text in page.scripts if "type" not in attrs]
    digests = {
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in programs
    }
    assert digests == allowed
    assert len(programs) == 2
    assert len(re.findall(r"plotly\.js v\d", written)) == 1
    assert "unsafe-eval" not in policy
    assert written.index("charset") < 200


def test_figures_are_data_that_fit_their_places(page, analysis):
    blocks = {a["id"]: json.loads(text) for a, text in page.scripts if "type" in a}
    places = [a for _, a in page.tags if "data-figure" in a]
    assert [a["data-figure"] for a in places] == list(blocks)
    assert len(places) == len(build_report(analysis).figures)
    assert all(block["data"] for block in blocks.values())
    assert "screening-strength" in [a["data-name"] for a in places]


@pytest.mark.parametrize("name", [MARKUP, FORMULA, MARKDOWN])
def test_hostile_names_are_text(page, name):
    cells = [cell for rows in page.tables for row in rows for cell in row]
    assert name in cells
    assert name in page.text("methods")


def test_markup_in_names_makes_no_elements(page, written):
    assert not any(tag in ("i", "center") for tag, _ in page.tags)
    assert "<script>alert" not in written
    assert "=<i>message7</i>" in page.text("policy")
    assert "Stress <u>note7</u> <was> expected.\nSo was craving." in page.text("screening")


def test_an_endless_name_is_cut_but_for_the_plan(page):
    cells = [cell for rows in page.tables for row in rows for cell in row]
    assert ENDLESS not in cells
    assert any(cell.startswith("nnnnnnnn") and "…" in cell for cell in cells)
    assert ENDLESS in page.text("appendix")
    for key in section_titles():
        if key not in ("appendix", *NOT_ASKED):
            assert all(len(word) < 100 for word in page.text(key).split())


def test_numbers_line_up(analysis):
    import pandas as pd

    frame = pd.DataFrame({"name": ["a", "b", "c"], "share": [0.5, 12.25, None], "n": [1, 20000, 3]})
    blocks = (Table("Small", frame),)
    found = Page(to_html(_report(blocks))).tables[0]
    assert found == [
        ["name", "share", "n"], ["a", "0.50", "1"], ["b", "12.25", "20,000"], ["c", "", "3"],
    ]  # fmt: skip


def test_a_report_without_figures_has_no_script():
    written = to_html(_report(()))
    assert "<script" not in written
    assert "script-src 'none'" in written


def test_control_characters_are_replaced():
    from smdp.blocks import Paragraph

    written = to_html(_report((Paragraph("a\x00b\x1fc\ud800d"),)))
    assert "a�b�c�d" in written
    written.encode()


def _report(blocks) -> Report:
    return Report("Title", "", "today", "x", False, (), (Section("study", "Study", blocks),))


def test_it_opens_without_the_network(analysis, chrome, tmp_path):
    from playwright.sync_api import sync_playwright

    path = tmp_path / "report.html"
    shown = build_report(analysis, sections=["screening", "weights", "policy"])
    path.write_text(to_html(shown), encoding="utf-8")
    requests, troubles = [], []
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chrome, args=["--no-sandbox"]) as browser,
    ):
        context = browser.new_context(offline=True, viewport={"width": 1440, "height": 900})
        context.on("request", lambda request: requests.append(request.url))
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda line: line.type == "error" and troubles.append(line.text))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.goto(path.as_uri())
        for figure in page.locator("[data-figure]").all():
            figure.scroll_into_view_if_needed()
            figure.locator(".main-svg").first.wait_for()
        ticks = page.locator("[data-figure] .ytick text").all_text_contents()
        wide = page.evaluate("document.documentElement.scrollWidth")
    assert requests == [path.as_uri()]
    assert troubles == []
    assert any(html.unescape(text).startswith("<i>markup7") for text in ticks)
    assert wide <= 1440


def test_a_synthetic_study_says_so_on_top_and_at_each_figure(analysis):
    source = replace(analysis.source, synthetic=True)
    shown = Page(to_html(build_report(replace(analysis, source=source), sections=["screening"])))
    assert "Synthetic data" in shown.text("")
    figures = sum("data-figure" in attrs for _, attrs in shown.tags)
    assert shown.text("screening").count("(synthetic data)") == figures > 0
