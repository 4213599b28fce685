"""A long job in a real browser: seen on every page, cancelled at once, ended with the browser."""

from playwright.sync_api import expect
from screening_walk import SLOW, resting, start_a_long_screening
from waiting import wait_until


def test_progress_follows_to_other_pages_and_cancel_is_quick(open_page, running, screenshot):
    page = open_page()
    start_a_long_screening(page)
    expect(page.get_by_test_id("stMain")).to_contain_text("left", timeout=SLOW)
    screenshot("screening-running")
    (worker,) = running.workers()
    sidebar = page.get_by_test_id("stSidebar")
    with resting(worker):
        sidebar.get_by_role("link", name="Start").click()
        expect(sidebar).to_contain_text("Screening:")
    page.get_by_role("button", name="Cancel").click()
    wait_until(lambda: not running.workers(), told=lambda: "the worker went on")
    expect(sidebar).not_to_contain_text("Screening:")


def test_a_closed_browser_leaves_no_worker_and_is_told_on_return(open_page, running, server):
    page = open_page()
    start_a_long_screening(page)
    assert running.workers()
    context, address = page.context, page.url
    page.close()
    wait_until(lambda: not running.workers(), told=lambda: "the worker outlived its browser")
    again = context.new_page()
    again.goto(address)
    main = again.get_by_test_id("stMain")
    expect(main).to_contain_text("still running when its page was closed", timeout=SLOW)
    expect(again.get_by_role("button", name="Screen 15 variables")).to_be_enabled()
