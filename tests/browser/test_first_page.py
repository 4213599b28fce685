from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest


def test_it_opens_without_errors_and_asks_only_this_machine(
    open_page, requests_seen, console_errors, screenshot
):
    page = open_page()
    page.get_by_text("smdp").filter(visible=True).first.wait_for()
    screenshot("first_page")
    assert console_errors == []
    assert {urlsplit(url).hostname for url in requests_seen} - {None} == {"127.0.0.1"}


def test_its_font_is_our_own_copy_of_inter(open_page, requests_seen):
    page = open_page()
    page.evaluate("document.fonts.ready")
    loaded = "[...document.fonts].some(font => font.family === 'Inter' && font.status === 'loaded')"
    assert page.evaluate(loaded)
    assert page.evaluate("document.fonts.check('16px Inter')")
    body_font = "getComputedStyle(document.querySelector('[data-testid=stApp]')).fontFamily"
    assert page.evaluate(body_font).startswith("Inter")
    assert any(url.endswith("/app/static/inter-latin.woff2") for url in requests_seen)


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 101), ("clinic.example", 403)])
def test_the_server_answers_only_to_this_machines_names(running, host, status):
    parts = urlsplit(running.address)
    handshake = {
        "Host": f"{host}:{parts.port}",
        "Cookie": running.cookie,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "c21kcC1zbWRwLXNtZHAtcw==",
    }
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    connection.request("GET", f"{parts.path}/_stcore/stream", headers=handshake)
    assert connection.getresponse().status == status
    connection.close()
