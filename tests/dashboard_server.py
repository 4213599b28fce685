"""A dashboard as a process of its own, which can be killed and started again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from waiting import wait_until


class DashboardServer:
    """Serves at an address of its own, and keeps work in the folder."""

    def __init__(self, folder: Path, **environment: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = str(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self._port}"
        self.log = folder / "log.txt"
        self._environment = os.environ | {"SMDP_AUTOSAVE": str(folder / "autosave")} | environment
        self.process: subprocess.Popen | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Return when it answers."""
        command = [sys.executable, "-m", "smdp.cli", "dashboard", "--no-browser", "--port"]
        with self.log.open("a") as output:
            self.process = subprocess.Popen(
                [*command, self._port],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._environment,
            )
        wait_until(
            lambda: self._healthy() or self.process.poll() is not None, told=self.log.read_text
        )
        assert self.process.poll() is None, f"It did not start:\n{self.log.read_text()}"

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

    def _healthy(self) -> bool:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"{self.address}/_stcore/health") as reply,
        ):
            return reply.status == 200
        return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before, or while it was looked at
        return False
