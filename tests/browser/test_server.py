"""The running server: what it tells, whom it answers, and what it takes."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from dashboard_server import HANDSHAKE, ask
from playwright.sync_api import expect

PATHS = (
    "/",
    "/data",
    "/_stcore/health",
    "/_stcore/host-config",
    "/app/static/icon.svg",
    "/nothing",
)
ELSEWHERE = "clinic.example"


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_forbids_framing_sniffing_and_the_outside(running, path):
    _, headers, _ = ask(running, path)
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == "'none'"
    assert "'unsafe-inline'" not in policy["script-src"]
    assert "'unsafe-eval'" not in policy["script-src"]
    assert not re.search(r"https?:|\*(?!;|$| )", headers["content-security-policy"])
    assert set(re.findall(r"ws://(\S+):", policy["connect-src"])) == {"127.0.0.1", "localhost"}


@pytest.mark.parametrize("path", PATHS)
def test_another_hosts_name_is_not_answered(running, path):
    port = urlsplit(running.address).port
    for host in (ELSEWHERE, f"{ELSEWHERE}:{port}", f"127.0.0.1.{ELSEWHERE}:{port}", "x@localhost"):
        assert ask(running, path, Host=host)[0] == 403, host
    assert ask(running, path, Host=f"localhost:{port}")[0] != 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 101),
        ("{server}", 101),
        (f"http://{ELSEWHERE}", 403),
        ("http://localhost:1", 403),  # another program's page on this machine
        ("https://{netloc}", 403),
        ("null", 403),
    ],
)
def test_another_sites_page_cannot_connect(running, origin, status):
    headers = dict(HANDSHAKE)
    if origin is not None:
        netloc = urlsplit(running.address).netloc
        headers["Origin"] = origin.format(server=f"http://{netloc}", netloc=netloc)
    assert ask(running, "/_stcore/stream", **headers)[0] == status


def test_an_upload_needs_the_pages_token_and_its_session(running):
    path = "/_stcore/upload_file/some-session/some-file"
    assert ask(running, path, "PUT", b"x")[0] == 403
    assert ask(running, path, "PUT", b"x", Origin=f"http://{ELSEWHERE}")[0] == 403
    cookie = ask(running, "/_stcore/health")[1]["set-cookie"]
    assert "samesite" in cookie.lower()
    token = cookie.split(";")[0].split("=", 1)[1]
    own = {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}
    assert ask(running, path, "PUT", b"x", **own)[0] == 400
    assert ask(running, path, "DELETE", **own)[0] in (204, 400)


def test_a_file_beyond_the_limit_is_refused(open_page, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(1_001 * 1024 * 1024)  # takes no room on the disk
    page = open_page()
    page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(large)
    expect(page.get_by_role("alert")).to_contain_text("must be 1.0GB or smaller")


def test_only_this_machine_can_reach_it(running):
    address, process = running.address, running.pid
    port = urlsplit(address).port
    if not Path("/proc/net/tcp").exists():
        pytest.skip("needs the system's list of open ports")
    listening = "0A"
    own = [
        line.split()[1]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{process}/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == listening and int(line.split()[1].split(":")[1], 16) == port
    ]
    assert own == [f"0100007F:{port:04X}"]
    for other in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}:
        if not other.startswith("127.") and ":" not in other:
            with socket.socket() as probe:
                probe.settimeout(5)
                assert probe.connect_ex((other, port)) != 0


@pytest.mark.parametrize(
    "path",
    [
        "/app/static/",
        "/app/static/../app.py",
        "/app/static/%2e%2e/app.py",
        "/app/static/..%5capp.py",
        "/app/static//etc/passwd",
        "/media/",
        "/media/../../../etc/passwd",
        "/component/../../etc/passwd",
        "/.streamlit/config.toml",
    ],
)
def test_no_folder_is_listed_and_no_other_file_is_served(running, path):
    status, _, content = ask(running, path)
    page = ask(running, "/")[2]
    assert status in (301, 400, 403, 404) or content == page
    for word in (b"root:", b"inter-latin", b"st.navigation", b"[server]"):
        assert word not in content


def test_nothing_is_reported_to_anybody(running, open_page, requests_seen):
    host = ask(running, "/_stcore/host-config")[2]
    assert b'"allowedOrigins":[]' in host
    open_page()
    assert {urlsplit(url).hostname for url in requests_seen} <= {"127.0.0.1", None}
    tracked = [
        url for url in requests_seen if re.search("segment|fivetran|analytics|webhooks", url)
    ]
    assert tracked == []


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="needs the list of connections")
def test_a_refused_page_makes_the_server_ask_nobody(running):
    """Streamlit's own check would ask a service outside for this machine's address."""
    process = running.pid
    ask(running, "/_stcore/stream", **HANDSHAKE, Origin=f"http://{ELSEWHERE}")
    inodes = set()
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            found = re.match(r"socket:\[(\d+)\]", os.readlink(entry))
        except OSError:
            continue
        inodes |= {found[1]} if found else set()
    lines = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    remote = {parts[2].split(":")[0] for parts in lines if parts[9] in inodes}
    assert remote <= {"0100007F", "00000000"}
