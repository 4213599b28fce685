"""Several figures as one, with panel letters: drawn each in its place, then put together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any

from smdp.blocks import NamedFigure
from smdp.progress import Progress, silent
from smdp.report.browser import Drawing, draw
from smdp.report.figure_theme import FigureTheme
from smdp.report.journal import WIDTHS, PrintSize, for_print
from smdp.settings import require

GAP_MM = 4.0
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FORMATS = ("svg", "png", "tiff")
#: What figures of the report are put together by default: the first of each of these sections.
USUAL = ("weights", "effects", "q_functions", "policy")
NAMES = re.compile(r'(\bid="|url\(#|url\(&quot;#|href="#)')
HEAD = re.compile(r"<svg\b[^>]*>")


def usual_panels(figures: Sequence[NamedFigure]) -> list[NamedFigure]:
    """Weights, effects, Q-differences and values, as far as they are there."""
    found = []
    for section in USUAL:
        prefix = section.replace("_", "-")
        own = [each for each in figures if each.name.startswith(f"{prefix}-")]
        if section == "q_functions":
            own = [each for each in own if each.name.endswith("-differences")] or own
        found += own[:1]
    return found


def panel_files(
    figures: Sequence[NamedFigure], kinds: Iterable[str], *, theme: FigureTheme, **look: Any
) -> dict[str, bytes]:
    """The usual panels together in each of the formats that can hold them; none of fewer than two.

    `look`: as `composed_figure` has it. Never narrower than two columns.
    """
    panels = usual_panels(figures)
    wide = replace(theme, width_mm=max(theme.width_mm, WIDTHS["double"]))
    return {
        _panels_name(panels, kind): composed_figure(panels, kind, theme=wide, **look)
        for kind in (kinds if len(panels) > 1 else ())
        if kind in FORMATS
    }


def _panels_name(panels: Sequence[NamedFigure], kind: str) -> str:
    """Marked as its panels are: synthetic, out of date."""
    marks = tuple(dict.fromkeys(mark for panel in panels for mark in panel.marks))
    return f"{replace(panels[0], name='panels', marks=marks).file_name}.{kind}"


def composed_figure(
    panels: Sequence[NamedFigure],
    kind: str = "png",
    *,
    theme: FigureTheme | None = None,
    columns: int = 2,
    dpi: int = 300,
    titles: bool = True,
    greyscale: bool = False,
    browser: str | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The file's content. `columns`: panels side by side; with `titles` beside their letters."""
    require(kind in FORMATS, "kind", f"one of {FORMATS}", kind)
    require(1 <= len(panels) <= len(LETTERS), "panels", "1 to 26 figures", len(panels))
    require(1 <= columns <= 4, "columns", "1 to 4", columns)
    whole = theme or FigureTheme(width_mm=170.0)
    across = min(columns, len(panels))
    width = (whole.width_mm - GAP_MM * (across - 1)) / across
    own = replace(whole, width_mm=max(width, 40.0))
    sized = [
        for_print(_lettered(each, place, titles), own, greyscale=greyscale)
        for place, each in enumerate(panels)
    ]
    sizes = [size for _, size in sized]
    drawn = "svg" if kind == "svg" else "png"
    scale = 1.0 if kind == "svg" else (sizes[0].pixels(dpi) + 0.25) / sizes[0].width
    say = progress or silent
    contents = draw(
        [Drawing(figure, drawn, scale) for figure, _ in sized],
        browser=browser,
        done=lambda count: say(count / (len(sized) + 1), f"Panel {count} of {len(sized)}"),
    )
    if kind == "svg":
        return _one_svg(contents, sizes, across, own.width_mm)
    return _one_picture(contents, across, kind, dpi, greyscale)


def _lettered(panel: NamedFigure, place: int, titles: bool) -> NamedFigure:
    letter = LETTERS[place]
    title = f"{letter}  {panel.title}" if titles else letter
    return replace(panel, title=title)


def _places(heights: Sequence[float], across: int, gap: float) -> tuple[list[float], float]:
    """The top of each panel, and the height of all."""
    tops: list[float] = []
    top = 0.0
    for start in range(0, len(heights), across):
        row = heights[start : start + across]
        tops += [top] * len(row)
        top += max(row) + gap
    return tops, top - gap


def _one_svg(
    contents: Sequence[bytes], sizes: Sequence[PrintSize], across: int, width: float
) -> bytes:
    tops, height = _places([size.height_mm for size in sizes], across, GAP_MM)
    parts = []
    for place, (content, size, top) in enumerate(zip(contents, sizes, tops, strict=True)):
        text = content.decode()
        text = text[text.index("<svg") :]
        text = NAMES.sub(lambda found, mark=LETTERS[place]: f"{found.group(1)}{mark}-", text)  # type: ignore[misc]
        left = (place % across) * (width + GAP_MM)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'xmlns:xlink="http://www.w3.org/1999/xlink" x="{left:g}" y="{top:g}" '
            f'width="{width:g}" height="{size.height_mm:g}" '
            f'viewBox="0 0 {size.width} {size.height}">'
        )
        parts.append(HEAD.sub(lambda _, own=head: own, text, count=1))  # type: ignore[misc]
    whole = across * width + GAP_MM * (across - 1)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole:g}mm" height="{height:g}mm" '
        f'viewBox="0 0 {whole:g} {height:g}">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    ).encode()


def _one_picture(
    contents: Sequence[bytes], across: int, kind: str, dpi: int, greyscale: bool
) -> bytes:
    from PIL import Image

    gap = round(GAP_MM / 25.4 * dpi)
    images = [Image.open(BytesIO(content)).convert("RGB") for content in contents]
    tops, height = _places([image.height for image in images], across, gap)
    wide = max(image.width for image in images)
    whole = Image.new("RGB", (across * wide + gap * (across - 1), round(height)), "white")
    for place, (image, top) in enumerate(zip(images, tops, strict=True)):
        whole.paste(image, ((place % across) * (wide + gap), round(top)))
    whole = whole.convert("L") if greyscale else whole
    buffer = BytesIO()
    if kind == "tiff":
        whole.save(buffer, "TIFF", dpi=(dpi, dpi), compression="tiff_lzw")
    else:
        whole.save(buffer, "PNG", dpi=(dpi, dpi))
    return buffer.getvalue()
