"""The first steps of the sample study without a mouse."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

SLOW = 30_000
MOST_STOPS = 60
TRIES = 3
FOCUS = """() => {
  const here = document.activeElement;
  const around = [here];
  while (around.length < 5 && around.at(-1).parentElement) around.push(around.at(-1).parentElement);
  const ringed = around.some((e) => parseFloat(getComputedStyle(e).outlineWidth) > 0 &&
    getComputedStyle(e).outlineStyle !== "none");
  const name = here.ariaLabel || (/^(BODY|MAIN)$/.test(here.tagName) ? "" : here.innerText) || "";
  return { name, tag: here.tagName, ringed };
}"""


def tab_to(page: Page, name: str) -> None:
    """By Tab alone; wherever it stops on the way can be seen (a grid draws its own ring)."""
    expect(page.locator(".block-container")).to_have_css("max-width", "1240px")  # ours has come
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    passed = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        passed.append(focus["name"])
        if focus["tag"] not in ("BODY", "CANVAS", "TD"):
            assert focus["ringed"], f"No ring around {focus}"
        if _is(focus, name):
            return
    raise AssertionError(f"'{name}' was not reached: {passed}")


def _is(focus: dict, name: str) -> bool:
    return name in focus["name"] and not focus["name"].startswith("Help for")


def press(page: Page, name: str, key: str, seen: Callable[[], None]) -> None:
    """Go there and press the key; again if nothing came of it: a busy page may lose one."""
    for attempt in range(TRIES):
        if attempt == 0 or not _is(page.evaluate(FOCUS), name):
            tab_to(page, name)
        page.keyboard.press(key)
        try:
            return seen()
        except AssertionError:
            if attempt == TRIES - 1:
                raise
    return None


def go_on(page: Page, button: str, title: str) -> None:
    heading = page.get_by_role("heading", level=1)
    press(page, button, "Enter", lambda: expect(heading).to_have_text(title, timeout=SLOW))
    expect(page).to_have_title(f"{title} · smdp")


def test_from_start_to_rescaling_by_keyboard_alone(open_page, console_errors):
    page = open_page()
    tab_to(page, "Skip to main content")
    page.keyboard.press("Enter")
    go_on(page, "Smoking in students", "Data")
    main = page.get_by_test_id("stMain")

    def says(text: str) -> Callable[[], None]:
        return lambda: expect(main).to_contain_text(text, timeout=SLOW)

    press(page, "Use these roles", "Enter", says("30 subjects with 28 decisions each"))
    go_on(page, "Next: missing values", "Missing values")
    says("2 of 30 subjects would be left out")()

    limit = main.get_by_test_id("stSliderThumbValue").first
    press(page, "Leave out subjects", "ArrowRight", lambda: expect(limit).to_have_text("51"))
    assert page.evaluate(FOCUS)["name"].startswith("Leave out subjects")
    press(page, "Leave out 2 and impute", "Enter", says("28 of 30 subjects are kept"))
    series = page.get_by_role("tab", name="One subject's series")
    press(page, "Who is left out", "ArrowRight", lambda: expect(series).to_be_focused())

    page.emulate_media(color_scheme="dark")  # where the theme's own colour would be 3.8:1
    expect(limit).to_have_css("color", "rgb(108, 184, 240)")
    go_on(page, "Next: rescaling", "Rescaling")
    assert console_errors == []


def test_a_closed_sidebar_takes_no_focus(open_page, page):
    page.set_viewport_size({"width": 640, "height": 360})  # as 1280 x 720, enlarged twice
    open_page()
    tab_to(page, "Expand sidebar")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stSidebarCollapseButton")).to_be_visible()
    expect(page.get_by_role("link", name="1 Data").first).to_be_in_viewport()
