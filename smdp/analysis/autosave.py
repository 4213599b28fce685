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
from dataclasses import dataclass
from pathlib import Path

from smdp.analysis.atomic_write import PRIVATE
from smdp.analysis.result import AnalysisResult
from smdp.analysis.saved_file import load_analysis, save_analysis
from smdp.errors import SettingError, shorten

VARIABLE = "SMDP_AUTOSAVE"
NAME = re.compile(r"[a-z0-9]{8,64}")
SUFFIX = ".smdp"
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

    def save(self, name: str, analysis: AnalysisResult) -> Path:
        """Keep the analysis under this name, instead of the one before."""
        path = self._path(name)
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return save_analysis(analysis, path, mode=PRIVATE)

    def load(self, name: str) -> AnalysisResult | None:
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

    def forget(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._path(name).unlink()

    def forget_everything(self) -> None:
        """Delete every autosave, and what an interrupted write may have left."""
        for path in [*self._files(), *self._left_overs()]:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def tidy(self, *, days: float = KEEP_DAYS, files: int = KEEP_FILES) -> None:
        """Delete what is older than that, and what is more than that."""
        limit = days * 86400
        ordered = sorted(self._files(), key=_age)
        stale = [p for place, p in enumerate(ordered) if place >= files or _age(p) > limit]
        for path in [*stale, *(p for p in self._left_overs() if _age(p) > 3600)]:
            with contextlib.suppress(OSError):
                path.unlink()

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
        return list(self.folder.glob(f".*{SUFFIX}.*.part")) if self.folder.is_dir() else []


def _age(path: Path) -> float:
    with contextlib.suppress(OSError):
        return time.time() - path.stat().st_mtime
    return float("inf")
