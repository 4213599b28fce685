"""Unfinished analyses kept on this computer, so that a closed or reloaded page loses nothing.

Files lie in the user's own folder, readable by nobody else. The environment variable SMDP_AUTOSAVE
names another folder, or is "off".
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from smdp.analysis.analysis import Analysis, load_analysis
from smdp.analysis.open_mark import OpenMark, if_not_open
from smdp.analysis.saved_file import save_analysis, saved_plan
from smdp.atomic_write import PRIVATE, make_folder, write_whole
from smdp.errors import SettingError, SmdpError
from smdp.text import shorten

VARIABLE = "SMDP_AUTOSAVE"
NAME = re.compile(r"[a-z0-9]{8,64}")
SUFFIX, RUNNING, OPEN, BROWSER = ".smdp", ".running", ".open", ".browser"
KEEP_DAYS = 30
KEEP_FILES = 50


def autosave_folder() -> Path | None:
    """Where autosaves lie; None if they are switched off."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen:
        return None if chosen.lower() in ("off", "0", "no", "false") else Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    return base / "smdp" / "autosave"


@dataclass(frozen=True)
class Autosaves:
    """The autosaves in one folder, each under the name of the session that it belongs to."""

    folder: Path

    def save(self, name: str, analysis: Analysis) -> Path:
        """Keep the analysis under this name, instead of the one before."""
        path = self._path(name)
        make_folder(self.folder, mode=0o700)
        return save_analysis(analysis, path, mode=PRIVATE)

    def load(self, name: str) -> Analysis | None:
        """What was last kept under this name, None if nothing was."""
        path = self._path(name)
        return load_analysis(path) if path.is_file() else None

    def names(self) -> list[str]:
        """The newest first."""
        found = [p for p in self._files() if NAME.fullmatch(p.stem)]
        return [p.stem for p in sorted(found, key=_age)]

    def saved_at(self, name: str) -> float | None:
        """Seconds since the epoch."""
        with contextlib.suppress(OSError):
            return self._path(name).stat().st_mtime
        return None

    def table_name(self, name: str) -> str:
        """What the table of the kept work is called; "" if that cannot be said."""
        try:
            return saved_plan(self._path(name)).data_name
        except SmdpError:
            return ""

    def mark_running(self, name: str, steps: Sequence[str]) -> None:
        """Keep which steps are being worked out, for when the program ends before they do."""
        path = self._path(name).with_suffix(RUNNING)
        if steps:
            make_folder(self.folder, mode=0o700)
            write_whole(path, "\n".join(steps).encode(), mode=PRIVATE)
        else:
            path.unlink(missing_ok=True)

    def was_running(self, name: str) -> tuple[str, ...]:
        """The steps that were last being worked out."""
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return tuple(self._path(name).with_suffix(RUNNING).read_text("utf-8").split("\n"))
        return ()

    def mark_browser(self, name: str, browser: str) -> None:
        """Keep in which browser it was last worked on, by a mark that tells nothing else."""
        make_folder(self.folder, mode=0o700)
        write_whole(self._path(name).with_suffix(BROWSER), browser.encode(), mode=PRIVATE)

    def of_browser(self, browser: str) -> list[str]:
        """What was last worked on in that browser, the newest first."""
        return [name for name in self.names() if browser and self._browser(name) == browser]

    def _browser(self, name: str) -> str:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            return self._path(name).with_suffix(BROWSER).read_text("utf-8")
        return ""

    def hold(self, name: str) -> OpenMark | None:
        """Keep it from being tidied away, also by other processes, as long as the mark is held.

        None where the folder cannot be written.
        """
        with contextlib.suppress(SmdpError, OSError):
            make_folder(self.folder, mode=0o700)
            return OpenMark(self._path(name).with_suffix(OPEN))
        return None

    def forget(self, name: str) -> None:
        _remove(self._path(name))

    def forget_everything(self) -> None:
        """Delete every autosave, and what an interrupted write may have left."""
        for path in [*self._files(), *self._left_overs(), *self._marks_alone()]:
            _remove(path)

    def tidy(self, *, days: float = KEEP_DAYS, files: int = KEEP_FILES) -> None:
        """Delete what is older than that, and what is more than that, but nothing that is open."""
        kept = 0
        for path in sorted(self._files(), key=_age):
            with contextlib.suppress(OSError), if_not_open(path.with_suffix(OPEN)) as closed:
                if closed and (kept >= files or _age(path) > days * 86400):
                    _remove(path)
                elif closed:
                    kept += 1
        for mark in self._marks_alone():
            with contextlib.suppress(OSError), if_not_open(mark):
                pass  # which removes it
        for path in self._left_overs():
            if _age(path) > 3600:
                with contextlib.suppress(OSError):
                    _remove(path)

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise SettingError(
                f"'{shorten(name)}' cannot be the name of an autosave.",
                "Use 8 to 64 small letters and digits.",
            )
        return self.folder / f"{name}{SUFFIX}"

    def _files(self) -> list[Path]:
        return list(self.folder.glob(f"*{SUFFIX}")) if self.folder.is_dir() else []

    def _left_overs(self) -> list[Path]:
        """What an interrupted write left, and what lies beside work that was never written."""
        if not self.folder.is_dir():
            return []
        beside = [*self.folder.glob(f"*{RUNNING}"), *self.folder.glob(f"*{BROWSER}")]
        alone = [path for path in beside if not path.with_suffix(SUFFIX).exists()]
        return [*self.folder.glob(".*.part"), *alone]

    def _marks_alone(self) -> list[Path]:
        """Marks of work that was never written, or is no more."""
        marks = self.folder.glob(f"*{OPEN}") if self.folder.is_dir() else []
        return [mark for mark in marks if not mark.with_suffix(SUFFIX).exists()]


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.suffix == SUFFIX:
        for beside in (RUNNING, BROWSER):
            path.with_suffix(beside).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # some systems remove nothing that somebody has open
            path.with_suffix(OPEN).unlink(missing_ok=True)


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime
    return float("inf")
