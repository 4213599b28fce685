"""A researcher's way through the pages in a real browser, with a real upload."""

import re

from playwright.sync_api import Page, expect

from smdp.simulation.samples import sample_file

SLOW = 30_000


def main(page: Page):
    return page.get_by_test_id("stMain")


def test_sample_to_trajectories(open_page, screenshot, console_errors):
    page = open_page()
    screenshot("start")
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(
        sample_file("basics_mobile_synthetic.csv")
    )
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=SLOW)
    screenshot("data")
    page.get_by_role("button", name="Use these roles").click()
    expect(main(page)).to_contain_text("30 subjects with 28 decisions each", timeout=SLOW)
    expect(main(page).locator(".js-plotly-plot")).to_have_count(1)
    screenshot("data-used")

    page.get_by_role("button", name="Next: missing values").click()
    expect(main(page)).to_contain_text("2 of 30 subjects would be left out", timeout=SLOW)
    page.get_by_role("tab", name="One subject's series").click()
    screenshot("missing-values")
    page.get_by_role("button", name="Leave out 2 and impute").click()
    expect(main(page)).to_contain_text("28 of 30 subjects are kept", timeout=SLOW)
    screenshot("imputed")

    page.get_by_role("button", name="Next: rescaling").click()
    page.get_by_role("button", name="Rescale all variables").click()
    expect(main(page)).to_contain_text("18 levels of 'cigs'", timeout=SLOW)
    expect(page.get_by_test_id("stSidebar")).to_contain_text("756 transitions, 18 levels")
    screenshot("rescaling")
    page.get_by_role("tab", name="Ranges").click()
    main(page).get_by_text("Own units", exact=True).click()
    expect(main(page)).to_contain_text("are not those that the result below", timeout=SLOW)
    expect(page.get_by_role("tab", name="Ranges")).to_have_attribute("aria-selected", "true")

    sidebar = page.get_by_test_id("stSidebar")
    sidebar.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    expect(sidebar).not_to_contain_text("756 transitions", timeout=SLOW)
    expect(page.get_by_role("radio", name="Ordinal: common levels")).to_be_checked()
    sidebar.get_by_role("button", name="Redo").click()
    expect(sidebar).to_contain_text("756 transitions", timeout=SLOW)
    screenshot("redone")

    for title in ("Missing values", "Data", "From a mobile-health trial to a policy you can read"):
        page.go_back()
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=SLOW)
    assert console_errors == []


def test_bad_file_shows_one_message_and_no_traceback(open_page, tmp_path):
    bad = tmp_path / "empty.csv"
    bad.write_bytes(b"")
    page = open_page()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(bad)
    alert = main(page).get_by_test_id("stAlert")
    expect(alert).to_have_count(1, timeout=SLOW)
    expect(alert).to_contain_text("empty")
    expect(main(page)).not_to_contain_text(re.compile("Traceback|Error:"))


def test_two_sessions_do_not_see_each_other(open_page, browser, running):
    page = open_page()
    page.get_by_role("button", name="Walking after a knee operation").click()
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible(timeout=SLOW)
    other = running.let_in(browser.new_context()).new_page()
    other.goto(f"{running.address}/data")
    expect(main(other)).to_contain_text("No file is loaded yet", timeout=SLOW)
    other.context.close()
