"""How long until the first page can be read, beside an empty Streamlit app on the same machine.

Two times, the best of several alternating runs: from starting the server, and from opening the page
on a server that is up. The page is ready when its title shows and its script has ended.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from dashboard_server import DashboardServer

RUNS = 5
BAR = 1.5
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
READY = '[data-testid="stApp"][data-test-script-state="notRunning"] h1'


def main() -> None:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("No Chromium was found. Install one, on Debian with: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=program, args=["--no-sandbox"]) as browser,
    ):
        empty = Path(folder) / "empty.py"
        empty.write_text('import streamlit as st\n\nst.title("empty")\n')
        pairs = [
            (measure(empty_app(empty), browser), measure(dashboard(Path(folder)), browser))
            for _ in range(RUNS)
        ]
    for position, label in enumerate(("from server start", "server already up")):
        empty_best = min(empty_times[position] for empty_times, _ in pairs)
        our_best = min(our_times[position] for _, our_times in pairs)
        print(
            f"{label}: empty app {empty_best:.2f} s, dashboard {our_best:.2f} s, "
            f"ratio {our_best / empty_best:.2f} (bar {BAR}; best of {RUNS})"
        )


def measure(running: AbstractContextManager[str], browser: Browser) -> tuple[float, float]:
    """Seconds to a ready page: from starting the server, and once more when it is up."""
    start = time.perf_counter()
    with running as address:
        open_page(browser, address)
        cold = time.perf_counter() - start
        start = time.perf_counter()
        open_page(browser, address)
        return cold, time.perf_counter() - start


@contextlib.contextmanager
def dashboard(folder: Path) -> Iterator[str]:
    server = DashboardServer(folder)
    try:
        server.start()
        yield server.key_address
    finally:
        server.stop()


@contextlib.contextmanager
def empty_app(script: Path) -> Iterator[str]:
    """Serves the script as quietly as our own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = ["-m", "streamlit", "run", str(script), "--logger.level=warning"]
    command += ["--browser.gatherUsageStats=false", "--server.headless=true"]
    command += ["--server.address=127.0.0.1", f"--server.port={port}"]
    server = subprocess.Popen(
        [sys.executable, *command],
        cwd=tempfile.gettempdir(),  # it would take our configuration from the checkout
        stdout=subprocess.DEVNULL,
    )
    try:
        while not healthy(address):
            if server.poll() is not None:
                sys.exit(f"the server ended: {' '.join(command)}")
            time.sleep(0.01)
        yield address
    finally:
        server.terminate()
        server.wait()


def healthy(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health"):
        return True
    return False


def open_page(browser: Browser, address: str) -> None:
    context = browser.new_context()  # with an empty cache, as for a first visit
    page = context.new_page()
    page.goto(address, wait_until="commit")
    page.locator(READY).first.wait_for()
    context.close()


if __name__ == "__main__":
    main()
