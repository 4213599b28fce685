"""Behind a real proxy that signs people in: nginx, with the configuration of docs/nginx.conf."""

from __future__ import annotations

import base64
import http.client
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from dashboard_server import HANDSHAKE, DashboardServer, ask
from playwright.sync_api import Browser, expect
from waiting import wait_until

from smdp.simulation.samples import sample_file

SLOW = 60_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
SECRET = "a-secret-that-only-the-proxy-and-the-process-know"
EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "nginx.conf"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")

pytestmark = pytest.mark.skipif(
    NGINX is None or shutil.which("openssl") is None, reason="needs nginx and openssl"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def proxy() -> int:
    return free_port()


@pytest.fixture(scope="module")
def behind(proxy: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardServer]:
    """Anna's process, and the proxy before it that knows Anna and Ben."""
    folder = tmp_path_factory.mktemp("proxy")
    public = f"https://localhost:{proxy}/anna"
    options = ("--behind-proxy", public, "--for-user", "anna")
    server = DashboardServer(folder, *options, SMDP_PROXY_SECRET=SECRET)
    nginx = None
    try:
        server.start()
        nginx = subprocess.Popen(
            [
                str(NGINX),
                "-p",
                str(folder),
                "-e",
                "stderr",
                "-c",
                str(configured(folder, server, proxy)),
            ]
        )
        wait_until(lambda: nginx.poll() is not None or _listens(proxy), 30)
        server.address = f"http://127.0.0.1:{server.port}/anna"
        yield server
        server.stop()
    finally:
        if nginx is not None:
            nginx.terminate()
            nginx.wait()
        server.kill()


def configured(folder: Path, server: DashboardServer, port: int) -> Path:
    """The documented configuration, with the places of this test."""
    certificate = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost"
    subprocess.run(
        [*certificate.split(), "-keyout", "smdp.key", "-out", "smdp.crt"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    (folder / "smdp.users").write_text("anna:{PLAIN}anna's\nben:{PLAIN}ben's\n")
    text = EXAMPLE.read_text(encoding="utf-8")
    for there, here in {
        "/etc/nginx/": f"{folder}/",
        "443 ssl": f"127.0.0.1:{port} ssl",
        "smdp.clinic.example": "localhost",
        "127.0.0.1:8501": f"127.0.0.1:{server.port}",
        "the secret of anna's process": SECRET,
    }.items():
        assert there in text
        text = text.replace(there, here)
    folder.chmod(0o755)
    own = "".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi"))
    own += "".join(f"{kind}_temp_path {folder};" for kind in ("uwsgi", "scgi"))
    user = "user root;" if os.geteuid() == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(
        f"{user} daemon off; pid {folder}/nginx.pid; events {{}}\n"
        f"http {{ access_log off; {own}\n{text}\n}}"
    )
    return file


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def through(proxy: int, path: str, user: str = "", **headers: str) -> int:
    """The status of the answer that the proxy gives."""
    if user:
        signed = base64.b64encode(f"{user}:{user}'s".encode()).decode()
        headers["Authorization"] = f"Basic {signed}"
    unverified = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection("localhost", proxy, timeout=20, context=unverified)
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_the_person_whom_the_proxy_names_comes_in(behind, proxy):
    assert through(proxy, "/anna/") == 401
    assert through(proxy, "/anna/", "ben") == 403
    assert through(proxy, "/anna/", "anna") == 200
    assert through(proxy, "/anna/", "anna", Origin="https://clinic.example") == 403
    forged = {"X-Forwarded-User": "anna", "X-Smdp-Proxy": SECRET}
    assert through(proxy, "/anna/", "ben", **forged) == 403
    assert through(proxy, "/anna/_stcore/stream", "anna", **HANDSHAKE) == 101
    assert through(proxy, "/anna/_stcore/stream", "ben", **HANDSHAKE) == 403


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"X-Forwarded-User": "anna"},
        {"X-Forwarded-User": "anna", "X-Smdp-Proxy": ""},
        {"X-Forwarded-User": "anna", "X-Smdp-Proxy": "x" * len(SECRET)},
        {"X-Forwarded-User": "ben", "X-Smdp-Proxy": SECRET},
        {"X-Smdp-Proxy": SECRET},
        {"Cookie": f"smdp_pass={SECRET}"},
    ],
)
def test_going_round_the_proxy_leads_nowhere(behind, proxy, given):
    host = f"localhost:{proxy}"
    for path in ("/", "/_stcore/health", f"/?key={SECRET}"):
        assert ask(behind, path, known=False, Host=host, **given)[0] == 403
    assert ask(behind, "/_stcore/stream", known=False, Host=host, **HANDSHAKE, **given)[0] == 403


def test_it_answers_to_its_public_name_only(behind, proxy):
    known = {"X-Forwarded-User": "anna", "X-Smdp-Proxy": SECRET}
    assert ask(behind, "/", known=False, Host=f"localhost:{proxy}", **known)[0] == 200
    assert ask(behind, "/", known=False, Host=f"127.0.0.1:{proxy}", **known)[0] == 403
    _, headers, _ = ask(behind, "/", known=False, Host=f"localhost:{proxy}", **known)
    assert "wss://localhost:" in headers["content-security-policy"]
    assert "Secure" in headers["set-cookie"]
    assert "Path=/anna" in headers["set-cookie"]


def test_signed_in_everything_works(behind, proxy, browser: Browser):
    context = browser.new_context(
        ignore_https_errors=True,
        http_credentials={"username": "anna", "password": "anna's"},
        accept_downloads=True,
    )
    page = context.new_page()
    page.set_default_timeout(SLOW)
    page.goto(f"https://localhost:{proxy}/anna/")
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
    context.close()
