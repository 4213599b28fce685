"""Nobody comes in without the key of this start, and with it everything works."""

from __future__ import annotations

import contextlib
import http.server
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dashboard_server import HANDSHAKE, DashboardServer, ask, exchanged
from playwright.sync_api import Browser, expect

from smdp.commands.dashboard import PINNED
from smdp.simulation.samples import sample_file

SLOW = 60_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
STREAM, MEDIA = "/_stcore/stream", "/media/" + "0" * 56 + ".csv"
UPLOAD = "/_stcore/upload_file/some-session/some-file"
OTHER_KEY = "A" * 43
XSRF = {"Cookie": "_streamlit_xsrf=x", "X-Xsrftoken": "x"}

#: Each with the folder of the pages found out, which alone nobody could guess.
WAYS = {
    "the first page": ("/", {}),
    "another page": ("/data", {}),
    "a page of kept work": ("/?work=" + "a" * 32, {}),
    "the socket": (STREAM, HANDSHAKE),
    "the socket from an own page": (STREAM, HANDSHAKE | {"Origin": "{origin}"}),
    "the socket of a known session": (
        STREAM,
        HANDSHAKE | {"Sec-WebSocket-Protocol": "streamlit, x, some-session"},
    ),
    "a media file": (MEDIA, {}),
    "a download": (MEDIA + "?title=state.csv", {}),
    "an upload": (UPLOAD, {"method": "PUT"}),
    "an upload with a token": (UPLOAD, {"method": "PUT"} | XSRF),
    "deleting an upload": (UPLOAD, {"method": "DELETE"} | XSRF),
    "the options of an upload": (UPLOAD, {"method": "OPTIONS"}),
    "health": ("/_stcore/health", {}),
    "health of the script": ("/_stcore/script-health-check", {}),
    "metrics": ("/_stcore/metrics", {}),
    "what the host allows": ("/_stcore/host-config", {}),
    "static files of Streamlit": ("/static/js/index.js", {}),
    "static files of our own": ("/app/static/icon.svg", {}),
    "a component": ("/component/x/index.html", {}),
    "the interface for agents": ("/_stcore/agent/mcp", {"method": "POST"}),
    "the icon": ("/favicon.png", {}),
    "the headers alone": ("/", {"method": "HEAD"}),
    "another host": ("/", {"Host": "clinic.example"}),
    "this machine by another name": ("/", {"Host": "localhost:{port}"}),
    "another origin": ("/", {"Origin": "http://localhost:1"}),
    "an empty cookie": ("/", {"Cookie": "smdp_pass="}),
    "an invented cookie": ("/", {"Cookie": f"smdp_pass={OTHER_KEY}"}),
    "the key as a cookie": ("/", {"Cookie": "smdp_pass={key}"}),
    "a cookie of a longer name": ("/", {"Cookie": "x{cookie}"}),
    "an invented key": (f"/?key={OTHER_KEY}", {}),
    "an empty key": ("/?key=", {}),
    "the key of a proxy": ("/", {"X-Smdp-Proxy": "{key}", "X-Forwarded-User": "root"}),
    "the key as where one came from": ("/", {"Referer": "http://127.0.0.1:{port}/?key={key}"}),
    "this machine, by a proxy's word": ("/", {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "::1"}),
    "the host, by a proxy's word": ("/", {"X-Forwarded-Host": "127.0.0.1:{port}"}),
    "another address, by a proxy's word": ("/data", {"X-Original-URL": "/", "X-Rewrite-URL": "/"}),
    "the cookie in quotes": ("/", {"Cookie": 'smdp_pass="{key}"'}),
    "a folder above": ("/static/../../etc/passwd", {}),
    "a folder above, encoded": ("/app/static/%2e%2e/%2e%2e/server.py", {}),
    "two slashes": ("//_stcore//health", {}),
    "a slash that is encoded": ("%2f_stcore%2fhealth", {}),
    "a part after a semicolon": ("/;/_stcore/health", {}),
    "a byte that ends names": ("/%00", {}),
    "tracing": ("/", {"method": "TRACE"}),
    "another method in a header": ("/", {"method": "POST", "X-HTTP-Method-Override": "GET"}),
    "a header as Jupyter has it": ("/", {"Authorization": "token {key}"}),
    "a name and a password": ("/", {"Authorization": "Basic cm9vdDpyb290"}),
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardServer]:
    """A server started where the environment asks for open doors."""
    hostile = {
        "STREAMLIT_SERVER_ENABLE_AGENT_API": "true",
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
        "STREAMLIT_SERVER_ENABLE_CORS": "false",
        "STREAMLIT_SERVER_ALLOWED_HOSTS": "*",
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_SERVER_BASE_URL_PATH": "known",
        "STREAMLIT_SERVER_SCRIPT_HEALTH_CHECK_ENABLED": "true",
        "STREAMLIT_CLIENT_SHOW_ERROR_DETAILS": "full",
    }
    server = DashboardServer(tmp_path_factory.mktemp("own"), **hostile)
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_in_without_the_key(running, way):
    path, given = WAYS[way]
    parts = urlsplit(running.address)
    known = {
        "port": parts.port,
        "origin": f"http://{parts.netloc}",
        "key": running.key_address.partition("=")[2],
        "cookie": running.cookie,
    }
    given = {name: value.format(**known) for name, value in given.items()}
    method = given.pop("method", "GET")
    body = b"x" if method in ("PUT", "POST") else None
    status, headers, content = ask(running, path, method, body, known=False, **given)
    assert status == 403
    assert "smdp_pass" not in headers.get("set-cookie", "")
    assert "upgrade" not in headers
    assert parts.path.strip("/").encode() not in content
    if method == "GET" and not {"Upgrade", "Host", "Origin"} & set(given):
        assert b"smdp dashboard" in content


#: As no library sends them; 403 and 400 are the only answers.
RAW = {
    "an old browser that names no host": "GET {room}/ HTTP/1.0\r\n\r\n",
    "no host": "GET {room}/ HTTP/1.1\r\n\r\n",
    "two hosts": "GET {room}/ HTTP/1.1\r\nHost: {host}\r\nHost: x.example\r\n\r\n",
    "an empty host": "GET {room}/ HTTP/1.1\r\nHost:\r\n\r\n",
    "the whole address": "GET http://{host}{room}/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "another host's address": "GET http://x.example{room}/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a second request behind the first": "GET {room}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"
    "GET {room}/_stcore/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a second request inside the first": "POST {room}/ HTTP/1.1\r\nHost: {host}\r\n"
    "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    "GET {room}/_stcore/health HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a header in two lines": "GET {room}/ HTTP/1.1\r\nHost: {host}\r\nX: y\r\n"
    " Cookie: smdp_pass=x\r\n\r\n",
    "the first request of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a request without a version": "GET {room}/\r\n\r\n",
}


@pytest.mark.parametrize("way", RAW)
def test_no_way_leads_in_with_requests_of_ones_own(running, way):
    parts = urlsplit(running.address)
    sent = RAW[way].format(room=parts.path, host=parts.netloc).encode()
    answer = b""
    with socket.create_connection((parts.hostname, parts.port), timeout=2) as line:
        line.sendall(sent)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while more := line.recv(65536):
                answer += more
    statuses = set(re.findall(rb"^HTTP/1.1 (\d+)", answer, re.MULTILINE))
    assert statuses
    assert statuses <= {b"403", b"400"}
    for secret in ("smdp_pass", parts.path.strip("/")):
        assert secret.encode() not in answer


def test_outside_the_folder_of_the_pages_there_is_nothing(running):
    """Not even for who was let in: a browser shows the cookie inside it only."""
    address = running.address
    try:
        running.address = address.rpartition("/")[0]
        for path in ("/", "/data", "/_stcore/health", STREAM, MEDIA, "/app/static/icon.svg"):
            assert ask(running, path, known=False)[0] == 403
    finally:
        running.address = address


def test_a_new_start_knows_no_old_key_and_no_old_cookie(own):
    key_address, address, cookie = own.key_address, own.address, own.cookie
    own.stop()
    own.start()
    assert own.key_address != key_address
    room, old_room = urlsplit(own.address).path, urlsplit(address).path
    assert room != old_room
    for path in ("/", "/_stcore/health", STREAM):
        assert ask(own, path, known=False, Cookie=cookie)[0] == 403
    with pytest.raises((TypeError, ValueError)):
        exchanged(key_address)
    new, own.address = own.address, address
    assert ask(own, "/", known=False, Cookie=cookie)[0] == 403
    own.address = new
    assert ask(own, "/")[0] == 200


def test_variables_of_the_environment_open_no_door(own):
    assert ask(own, "/_stcore/agent/mcp", "POST", b"{}")[0] == 404
    assert ask(own, UPLOAD, "PUT", b"x")[0] == 403  # its token is asked for
    assert ask(own, "/", Host="clinic.example")[0] == 403
    assert "/known" not in own.address
    assert ask(own, "/_stcore/script-health-check")[2] == ask(own, "/")[2]  # is no such thing
    words = Path(f"/proc/{own.pid}/cmdline").read_text().split("\0")
    assert {f"--{name}={value}" for name, value in PINNED.items()} <= set(words)


def test_others_on_this_computer_cannot_read_the_key(own):
    """The words of its command, which all can read; its environment, which nobody else can."""
    words = Path(f"/proc/{own.pid}/cmdline").read_text()
    key, room = own.key_address.partition("=")[2], urlsplit(own.address).path.strip("/")
    assert key not in words
    assert room not in words
    if os.geteuid() != 0 or not Path("/usr/bin/head").exists():
        pytest.skip("only the administrator can act as another account")
    for secret in ("environ", "mem", "cmdline"):
        looked = subprocess.run(
            ["/usr/bin/head", "-c", "1", f"/proc/{own.pid}/{secret}"],
            user="nobody",
            capture_output=True,
            cwd="/",
            text=True,
        )
        assert ("Permission denied" in looked.stderr) == (secret != "cmdline"), looked


class Listener(http.server.BaseHTTPRequestHandler):
    """A small server of somebody else, on another port."""

    heard: list[str]

    def do_GET(self) -> None:
        self.heard.append(str(self.headers))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", "smdp_pass=forged; Path=/")
        self.end_headers()
        self.wfile.write(b"<h1>hello</h1>")

    def log_message(self, *args: object) -> None:
        pass


def test_another_port_of_this_computer_is_not_handed_the_cookie(running, browser: Browser):
    heard: list[str] = []
    handler = type("Heard", (Listener,), {"heard": heard})
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(running.key_address)
        page.locator(IDLE).wait_for(timeout=SLOW)
        assert "smdp" not in page.evaluate("document.cookie")
        given = {cookie["name"]: cookie for cookie in context.cookies(running.address)}
        for name in ("smdp_pass", "smdp_browser"):
            assert given[name]["httpOnly"]
            assert given[name]["sameSite"] == "Strict"
        value = given["smdp_pass"]["value"]
        for path in ("", "_stcore/health", "media/x", "?key=x"):
            page.goto(f"http://127.0.0.1:{listener.server_port}/{path}")
        assert len(heard) >= 4
        assert value not in "".join(heard)
        # What it added under the same name locks nobody out.
        page.goto(running.address)
        page.locator(IDLE).wait_for(timeout=SLOW)
    finally:
        context.close()
        listener.shutdown()


def test_opened_from_a_file_as_the_command_does_it(running, browser: Browser, tmp_path):
    """The browser takes such an opening for one from another site."""
    file = tmp_path / "open.html"
    file.write_text(f'<meta http-equiv="refresh" content="0; url={running.key_address}">')
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator(IDLE).wait_for(timeout=SLOW)
    assert page.url.startswith(running.address)
    assert "key" not in page.url
    context.close()


def test_a_stranger_reads_how_to_get_in(running, browser: Browser):
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    for path in ("", "/data"):
        parts = urlsplit(running.address)
        page.goto(f"http://{parts.netloc}{path}")
        expect(page.get_by_role("heading")).to_have_text("This dashboard opens for its owner only")
        expect(page.locator("body")).to_contain_text("Open the address that was printed")
        expect(page.get_by_test_id("stApp")).to_have_count(0)
    folder = os.environ.get("SMDP_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / "closed.png")
    context.close()


def test_with_the_key_everything_works(open_page):
    """Page, socket, upload, media file and download, in a browser that was let in."""
    page = open_page()
    page.set_default_timeout(SLOW)
    table = sample_file("basics_mobile_synthetic.csv")
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(table)
    page.get_by_role("button", name="Use these roles").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_contain_text("30 subjects", timeout=SLOW)
    sidebar.get_by_role("link", name="Report").click()
    page.get_by_role("button", name="Plan (TOML)").wait_for()
    page.locator(IDLE).wait_for()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Plan (TOML)").click()
    assert b"basics_mobile_synthetic.csv" in coming.value.path().read_bytes()
