"""Figures drawn by a browser on this machine, one browser for a whole batch.

Nothing is asked of the network: plotly.js is the installed package's own, the page may load
nothing but local scripts, and whatever else the browser would ask for goes to a closed door.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from smdp.errors import SmdpError
from smdp.text import shorten

#: Names under which Chrome and its relatives are installed.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: The environment variable that names another one.
VARIABLE = "BROWSER_PATH"
#: Nobody listens at this port.
CLOSED_DOOR = "127.0.0.1:9"
SECONDS_EACH = 120.0
POLICY = (
    "default-src 'none'; script-src file: 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
IN_BROWSER = (
    "Without it, every figure can still be saved from its own menu in the dashboard or in the HTML "
    "report (the camera), as SVG or PNG."
)


class BrowserError(SmdpError):
    """Figures could not be drawn into files: there is no Chrome, or it does not work."""


@dataclass(frozen=True)
class Drawing:
    """One figure in one format; `scale`: pixels of the file for each of the figure."""

    figure: go.Figure  # with its width and height
    format: str  # png, svg or pdf
    scale: float


def find_browser() -> str | None:
    """The Chrome (Chromium, Edge) that draws figures into files; None if there is none."""
    named = os.environ.get(VARIABLE, "").strip()
    if named:
        return named if Path(named).is_file() else None
    here = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if here is not None:
        return here
    from choreographer.browsers import Chromium  # knows where other systems keep theirs

    return Chromium.find_browser(skip_local=False)


def draw(
    drawings: Sequence[Drawing],
    *,
    browser: str | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> list[bytes]:
    """The files' contents, in order. `done` hears how many are finished, and may raise to stop."""
    if not drawings:
        return []
    program = _program(browser)
    # A thread of its own: the caller's may have an event loop already.
    with ThreadPoolExecutor(1) as thread, _failures_explained(program):
        return thread.submit(asyncio.run, _draw(drawings, program, done)).result()


async def _draw(
    drawings: Sequence[Drawing], program: str, done: Callable[[int], None]
) -> list[bytes]:
    found = []
    async with _studio()(
        path=program, page_generator=_Page(), timeout=SECONDS_EACH, proxy_server=CLOSED_DOOR
    ) as studio:
        for each in drawings:
            size = {"width": each.figure.layout.width, "height": each.figure.layout.height}
            options: Any = {"format": each.format, "scale": each.scale, **size}
            found.append(await studio.calc_fig(each.figure, opts=options))
            done(len(found))
    return found


def _studio() -> Any:
    """Kaleido's browser, but plotly.js is not read again after each figure: three times as fast."""
    import kaleido

    class Studio(kaleido.Kaleido):
        async def _return_kaleido_tab(self, tab: Any) -> None:
            await self.tabs_ready.put(tab)

    return Studio


class _Page:
    """Kaleido's page, with the local plotly.js alone, without the margins that it prints with."""

    def generate_index(self) -> str:
        from kaleido import PageGenerator

        page = PageGenerator(mathjax=False).generate_index()
        head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        head += "<style>@page { margin: 0 } img { display: block }</style>"
        return str(page).replace("<head>", f"<head>{head}", 1)


def _program(browser: str | None) -> str:
    named = browser or os.environ.get(VARIABLE, "").strip()
    if named and not Path(named).is_file():
        raise BrowserError(
            f"Figures are drawn into files by Chrome, but there is none at '{shorten(named)}'.",
            f"Correct the path (the environment variable {VARIABLE}). {IN_BROWSER}",
        )
    program = named or find_browser()
    if program is None:
        raise BrowserError(
            "Figures are drawn into files by Chrome, and none was found on this machine.",
            "Install Chrome or Chromium (on Debian: apt-get install chromium), or name one in the "
            f"environment variable {VARIABLE}. {IN_BROWSER}",
        )
    return program


@contextmanager
def _failures_explained(program: str) -> Iterator[None]:
    from choreographer.errors import BrowserClosedError, BrowserFailedError, ChannelClosedError
    from kaleido.errors import JavascriptError, KaleidoError

    try:
        yield
    except (TimeoutError, JavascriptError, KaleidoError) as error:
        raise BrowserError(
            f"Chrome could not draw one of the figures: {shorten(error) or 'it took too long'}.",
            f"Try again, or export fewer figures. {IN_BROWSER}",
        ) from error
    except (BrowserClosedError, BrowserFailedError, ChannelClosedError, OSError) as error:
        raise BrowserError(
            f"Chrome ('{shorten(program)}') could not be started, or stopped by itself.",
            f"Try again, or name another in the environment variable {VARIABLE}. {IN_BROWSER}",
        ) from error
