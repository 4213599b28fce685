"""A dashboard as a process of its own, which can be killed and started again."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from waiting import wait_until

PRINTED = re.compile(r"The dashboard is at (\S+)")


class DashboardServer:
    """Serves at an address of its own, and keeps work in the folder.

    Each start has a new `key_address`, as it is printed: opened in a browser, it leads to
    `address`, under which all pages are. `cookie` is what it gives the browser.
    """

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.key_address = self.address = self.cookie = ""
        self.log = folder / "log.txt"
        self._options = options
        self.command = [sys.executable, "-m", "smdp.cli"]
        self._environment = os.environ | {"SMDP_AUTOSAVE": str(folder / "autosave")} | environment
        self.process: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Return when it answers, and know how to get in."""
        command = [*self.command, "dashboard", "--no-browser", "--port"]
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                [*command, str(self.port), *self._options],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
        wait_until(
            lambda: self._answers() or self.process.poll() is not None, told=self.log.read_text
        )
        assert self.process.poll() is None, f"It did not start:\n{self.log.read_text()}"
        self.key_address = PRINTED.search(self.log.read_text())[1]
        if "?key=" in self.key_address:
            self.address, self.cookie = exchanged(self.key_address)

    def let_in(self, context: Any) -> Any:
        """Give a browser what it would get for the printed address."""
        name, _, value = self.cookie.partition("=")
        parts = urlsplit(self.address)
        given = {"name": name, "value": value, "domain": parts.hostname, "path": parts.path}
        context.add_cookies([given | {"httpOnly": True, "sameSite": "Strict"}])
        return context

    def stop(self) -> None:
        """As with Ctrl+C."""
        assert self.process is not None
        self.process.terminate()
        assert self.process.wait(timeout=30) == 0, self.log.read_text()

    def kill(self) -> None:
        """As by a power cut."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def workers(self) -> set[int]:
        """The processes that it started and that are still there."""
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == self.pid and fields[0] != "Z":
                found.add(int(stat.parent.name))
        return found

    def _answers(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=5),
        ):
            return True
        return False


def exchanged(key_address: str) -> tuple[str, str]:
    """The address of the pages and the cookie that a browser gets for the printed address."""
    parts = urlsplit(key_address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    connection.request("GET", f"{parts.path}?{parts.query}")
    reply = connection.getresponse()
    (given,) = (v for v in reply.headers.get_all("Set-Cookie") if v.startswith("smdp_pass="))
    connection.close()
    path = re.search(r"Path=([^;]+)", given)[1]
    return f"http://{parts.netloc}{path}", given.split(";")[0]


def ask(
    server: DashboardServer,
    path: str,
    method: str = "GET",
    body: bytes | None = None,
    *,
    known: bool = True,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content of the answer to a path below the pages' address, asked as a
    browser that was let in, or as a stranger who found out that address; a header has _ for -."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if known:
        given["Cookie"] = "; ".join(filter(None, (server.cookie, given.get("Cookie"))))
    parts = urlsplit(server.address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    connection.request(method, parts.path + path, body=body, headers=given)
    reply = connection.getresponse()
    content = b"" if reply.status == 101 else reply.read()
    connection.close()
    return reply.status, {k.lower(): v for k, v in reply.getheaders()}, content


#: Of a web socket.
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "c21kcC1zbWRwLXNtZHAtcw==",
}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before, or while it was looked at
        return False
