"""From the sample study to what a researcher takes away; and a reload that loses nothing."""

import contextlib
import io
import re
import zipfile
from pathlib import Path

import docx
from open_box import open_box
from playwright.sync_api import Browser, Page, TimeoutError, expect
from screening_walk import IDLE, press

from smdp.analysis.analysis import load_analysis
from smdp.analysis.plan import AnalysisPlan

SLOW = 60_000


def main(page: Page):
    return page.get_by_test_id("stMain")


def sidebar(page: Page):
    return page.get_by_test_id("stSidebar")


def go(page: Page, name: str) -> None:
    sidebar(page).get_by_role("link", name=name).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.sub(r"^\d  ", "", name))


def choose(page: Page, box: str, option: str) -> None:
    wanted = page.get_by_role("option", name=option)
    for _ in range(5):  # what the page still draws may close the list again
        page.locator(IDLE).wait_for()
        page.get_by_role("combobox", name=box).click()
        with contextlib.suppress(TimeoutError):
            wanted.click(timeout=2000)
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"'{option}' could not be chosen")


def download(page: Page, name: str) -> tuple[str, bytes]:
    page.locator(IDLE).wait_for()
    ends_so = re.compile(rf"(^|\W|_){re.escape(name)}$")  # an icon's name may come before it
    with page.expect_download(timeout=SLOW) as waiting:
        page.get_by_role("button", name=ends_so).click()
    return waiting.value.suggested_filename, waiting.value.path().read_bytes()


def opened_alone(browser: Browser, folder: Path, html: bytes) -> list[str]:
    """What the file asks of the network when it is opened."""
    asked: list[str] = []
    file = folder / "report.html"
    file.write_bytes(html)
    reader = browser.new_context().new_page()
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(file.as_uri())
    figure = reader.locator("[data-figure]").first
    figure.scroll_into_view_if_needed()  # it is drawn when it is looked at
    figure.locator(".main-svg").first.wait_for(timeout=SLOW)
    reader.context.close()
    return [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def analyse(page: Page) -> None:
    """To principal components, with a note."""
    press(page, "Smoking in students")
    press(page, "Use these roles")
    expect(main(page)).to_contain_text("30 subjects with 28 decisions each", timeout=SLOW)
    main(page).get_by_text("My note", exact=True).click()
    page.get_by_role("textbox", name="My note on this step").fill("Two students joined late.")
    page.get_by_role("textbox", name="My note on this step").blur()
    press(page, "Next: missing values")
    press(page, "Leave out 2 and impute")
    press(page, "Next: rescaling")
    press(page, "Rescale all variables")
    press(page, "Next: effects")
    press(page, "Next: screening")
    press(page, "Screen 15 variables")
    press(page, "Next: feature dimension")
    expect(page.get_by_role("heading", name="Feature dimension", exact=True)).to_be_visible()
    open_box(page, "More")
    choose(page, "Kind of map", "Principal components")
    press(page, "Fit the feature map")
    expect(sidebar(page)).to_contain_text("dimension", timeout=SLOW)
    page.get_by_role("button", name="Next: weights").wait_for(timeout=SLOW)


def test_sample_study_to_report_and_back(
    open_page, screenshot, console_errors, browser, running, tmp_path
):
    page = open_page()
    page.set_default_timeout(SLOW)
    analyse(page)

    press(page, "Next: weights")
    chart = main(page).locator(".js-plotly-plot").first
    chart.hover()
    with page.expect_download() as waiting:
        chart.locator("[data-title^='Download plot']").click()
    picture = waiting.value.path().read_text()
    assert waiting.value.suggested_filename == "smdp-synthetic-weights.svg"
    assert picture.startswith("<svg")
    assert "cigs" in picture

    go(page, "Report")
    page.get_by_role("textbox", name="Title").fill("Smoking in thirty students")
    page.get_by_role("textbox", name="Title").press("Enter")
    expect(main(page)).to_contain_text("Smoking in thirty students")
    page.locator(IDLE).wait_for()
    done = "Done so far: Data, Missing values, Rescaling, Effects, Screening"
    expect(main(page)).to_contain_text(done)
    screenshot("report")

    name, html = download(page, "HTML")
    text = html.decode()
    assert name == "smdp-basics_mobile_synthetic-report.html"
    assert "Smoking in thirty students" in text
    assert "Two students joined late." in text
    assert "Screening of variables" in text
    assert "Synthetic data" in text
    assert opened_alone(browser, tmp_path, html) == []

    press(page, "Make Word")
    page.get_by_role("button", name="Download Word").wait_for()
    screenshot("report-word")
    name, word = download(page, "Download Word")
    document = docx.Document(io.BytesIO(word))
    said = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert name.endswith("report.docx")
    assert "Two students joined late." in said
    assert len(document.inline_shapes) > 5

    name, plan = download(page, "Plan (TOML)")
    name, content = download(page, "Analysis (.smdp)")
    analysis = load_analysis(content)
    assert name.endswith("analysis.smdp")
    assert AnalysisPlan.from_toml(plan.decode()) == analysis.plan
    assert analysis.plan.features.kind == "pca"
    assert analysis.plan.notes == {"data": "Two students joined late."}
    steps = ["data", "missing", "rescaling", "trial", "screening", "features"]
    assert list(analysis.results) == steps

    states = sidebar(page).inner_text()
    assert console_errors == []  # on a reload Streamlit itself asks for what is not there
    page.reload()
    expect(sidebar(page)).to_contain_text("28 of 30 subjects kept")
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Smoking in thirty students")
    assert sidebar(page).inner_text() == states

    other = browser.new_context().new_page()
    other.set_default_timeout(SLOW)
    other.goto(running.key_address)
    other.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(
        {"name": name, "mimeType": "application/zip", "buffer": content}
    )
    expect(other.get_by_role("heading", level=1)).to_contain_text("Feature dimension")
    assert sidebar(other).inner_text().split("\n")[:24] == states.split("\n")[:24]
    other.context.close()


def test_two_tabs_with_one_address_keep_work_of_their_own(open_page):
    page = open_page()
    page.set_default_timeout(SLOW)
    press(page, "Walking after a knee operation")
    press(page, "Use these roles")
    expect(sidebar(page)).to_contain_text("24 subjects")
    page.wait_for_url(re.compile(r"work=[0-9a-f]{32}"))
    other = page.context.new_page()
    other.set_default_timeout(SLOW)
    other.goto(page.url)
    expect(sidebar(other)).to_contain_text("24 subjects")
    other.wait_for_url(lambda url: "work=" in url and url != page.url)
    press(other, "Forget everything")
    expect(sidebar(other)).to_contain_text("load a file first")
    page.reload()
    expect(sidebar(page)).to_contain_text("24 subjects")


def test_figures_in_a_zip(open_page):
    page = open_page()
    page.set_default_timeout(SLOW)
    press(page, "Smoking in students")
    press(page, "Use these roles")
    expect(main(page)).to_contain_text("30 subjects with 28 decisions each", timeout=SLOW)
    page.locator(IDLE).wait_for()
    go(page, "Report")
    press(page, "Make figures")
    page.get_by_role("button", name="Download figures").wait_for()
    _, content = download(page, "Download figures")
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert {name.rpartition(".")[2] for name in names} == {"png", "csv"}
