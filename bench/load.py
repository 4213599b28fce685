"""Ten browsers at once against one dashboard, each with data of its own.

Each client uploads a study like the sample's (another seed) and goes from Data to Screening.
Checked: every one gets, to the last digit, what the library gives for its own data, and no page
shows another's. Told: seconds, workers at once, and the server's memory for each session.

Usage: python bench/load.py [clients]
"""

from __future__ import annotations

import asyncio
import io
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import pandas as pd
from playwright.async_api import Browser, Error, Page, async_playwright, expect

from smdp.data.export import to_csv
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.parallel import cores
from smdp.screening import screen
from smdp.simulation.basics_like import basics_like

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from dashboard_server import DashboardServer

CLIENTS = 10
SUBJECTS = 30
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE = 300_000  # milliseconds, for one step of one client on a busy machine


@dataclass
class Client:
    """One browser, its data, and what it saw."""

    number: int
    file: Path
    downloaded: bytes = b""
    seen: str = ""
    seconds: float = 0.0

    @property
    def expected(self) -> bytes:
        """What the library gives for this client's data, as the page would export it."""
        frame = read_table(self.file)
        how = PreparationSettings(rescaling=RescalingSettings())
        found = screen(prepare(frame, guess_roles(frame), how).trajectories)
        return to_csv(found.table.reset_index())


async def walk(client: Client, browser: Browser, address: str) -> None:
    """From the upload to the table of screened variables."""
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    began = perf_counter()
    await page.goto(address)
    await page.get_by_test_id("stFileUploaderDropzoneInput").first.set_input_files(client.file)
    for name in (
        "Use these roles",
        "Next: missing values",
        re.compile("impute", re.IGNORECASE),
        "Next: rescaling",
        "Rescale all variables",
        "Next: screening",
        re.compile(r"Screen \d+ variables"),
    ):
        await note(client, page)
        await page.get_by_role("button", name=name).click()
    await page.get_by_role("button", name="Download as CSV").wait_for()
    client.seconds = perf_counter() - began
    client.downloaded = await download(page)
    await expect(page.get_by_test_id("stSidebar")).to_contain_text(client.file.name)
    await note(client, page)


async def download(page: Page, attempts: int = 5) -> bytes:
    """What the button gives; a page that is just being drawn anew may cancel a download."""
    for attempt in range(attempts):
        await page.locator(IDLE).wait_for()
        try:
            async with page.expect_download() as coming:
                await page.get_by_role("button", name="Download as CSV").click()
            return Path(await (await coming.value).path()).read_bytes()
        except Error:
            if attempt == attempts - 1:
                raise
    raise AssertionError


async def note(client: Client, page: Page) -> None:
    client.seen += await page.locator("body").inner_text()


async def most_workers(server: DashboardServer, done: asyncio.Event) -> int:
    most = 0
    while not done.is_set():
        most = max(most, len(server.workers()))
        await asyncio.sleep(0.1)
    return most


async def run(clients: list[Client], server: DashboardServer) -> None:
    address, pid = server.key_address, server.pid
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("No Chromium was found. Install one, on Debian with: apt-get install chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        empty = memory(pid)
        first, *others = clients
        await walk(first, browser, address)
        one = memory(pid)
        done = asyncio.Event()
        counting = asyncio.create_task(most_workers(server, done))
        began = perf_counter()
        await asyncio.gather(*(walk(client, browser, address) for client in others))
        seconds = perf_counter() - began
        done.set()
        most, many = await counting, memory(pid)
        await browser.close()
    slowest = max(client.seconds for client in others)
    print(f"alone: {first.seconds:.1f} s from the first page to the screened variables")
    print(
        f"{len(others)} at once: {seconds:.1f} s until all had them, the slowest {slowest:.1f} s; "
        f"at most {most} workers at once on {cores()} cores"
    )
    print(
        f"server: {empty:.0f} MiB before the first page, {one:.0f} with one session, "
        f"{many:.0f} with {len(clients)}: {(many - one) / len(others):.1f} MiB for each further one"
    )
    check(clients, most)


def check(clients: list[Client], most: int) -> None:
    for client in clients:
        if pd.read_csv(io.BytesIO(client.downloaded)).empty or client.downloaded != client.expected:
            sys.exit(f"client {client.number} did not get the library's result for its data")
        for other in clients:
            if other is not client and other.file.name in client.seen:
                sys.exit(f"client {client.number} saw the data of client {other.number}")
    different = len({client.downloaded for client in clients})
    if different != len(clients) or most > cores():
        sys.exit(f"{different} different results of {len(clients)}; {most} workers at once")
    print(
        f"{len(clients)} of {len(clients)} got the library's own result for their data, all differ"
    )


def memory(pid: int) -> float:
    """The server's resident memory, MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def main() -> None:
    if not Path("/proc/self/status").exists():
        print("Skipped: processes and their memory are looked up as on Linux.")
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CLIENTS
    with tempfile.TemporaryDirectory() as name:
        server = DashboardServer(Path(name))
        clients = []
        for number in range(count + 1):  # the first alone, to see what the others add
            file = Path(name) / f"study-{number:02d}.csv"
            basics_like(number, subjects=SUBJECTS).to_csv(file, index=False)
            clients.append(Client(number, file))
        try:
            server.start()
            asyncio.run(run(clients, server))
            server.stop()
        finally:
            server.kill()


if __name__ == "__main__":
    main()
