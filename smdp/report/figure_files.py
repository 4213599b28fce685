"""Figures in files: SVG, PDF, PNG and TIFF at a journal's width, each with its numbers as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import plotly.graph_objects as go

from smdp.archive import pack
from smdp.atomic_write import make_folder, write_whole
from smdp.blocks import NamedFigure, file_names, named_figures
from smdp.data.export import to_csv
from smdp.progress import Progress, silent
from smdp.report.browser import Drawing, draw
from smdp.report.figure_data import figure_data
from smdp.report.figure_theme import FigureTheme
from smdp.report.journal import Preset, PrintSize, check_preset, for_print
from smdp.settings import require

Format = Literal["svg", "pdf", "png", "tiff"]
FORMATS: tuple[Format, ...] = ("svg", "pdf", "png", "tiff")
Figures: TypeAlias = Mapping[str, go.Figure] | Iterable[NamedFigure]

CSS_PIXELS_AN_INCH = 96
SIZE = re.compile(rb'(<svg\b[^>]*?) width="[^"]*" height="[^"]*"')
ZIP = ".zip"


def export_figures(
    figures: Figures,
    target: str | PathLike[str],
    *,
    formats: Sequence[Format] = ("png",),
    preset: Preset | FigureTheme = "single",
    dpi: int = 300,
    greyscale: bool = False,
    titles: bool = True,
    data: bool = True,
    browser: str | None = None,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Write the figures into a folder, or into one file that ends in .zip; the files written.

    `figures`: by the names of their files, or as `smdp.report.collect` gives them. `preset`:
    "single" (85 mm wide) or "double" (170 mm), with text of 7 points or more, or a `FigureTheme`.
    `dpi`: 300 or 600, of PNG and TIFF, and written into them. `data`: the numbers behind each
    figure too, as CSV.
    `browser`: the Chrome that draws; by default the one found here. Raises `BrowserError` without
    one.
    """
    path = Path(target)
    files = figure_files(
        figures,
        formats=formats,
        preset=preset,
        dpi=dpi,
        greyscale=greyscale,
        titles=titles,
        data=data,
        browser=browser,
        progress=progress,
    )
    if path.suffix.lower() == ZIP:
        return (write_whole(path, zipped(files)),)
    make_folder(path)
    return tuple(write_whole(path / name, content) for name, content in files.items())


def figure_files(
    figures: Figures,
    *,
    formats: Sequence[Format] = ("png",),
    preset: Preset | FigureTheme = "single",
    dpi: int = 300,
    greyscale: bool = False,
    titles: bool = True,
    data: bool = True,
    browser: str | None = None,
    progress: Progress | None = None,
) -> dict[str, bytes]:
    """What `export_figures` writes, by file name. One browser draws them all."""
    say = progress or silent
    check_preset(preset, dpi)
    wanted = tuple(dict.fromkeys(formats))
    for each in wanted:
        require(each in FORMATS, "formats", f"of {FORMATS}", each)
    chosen = named_figures(figures)
    sized = [for_print(each, preset, titles=titles, greyscale=greyscale) for each in chosen]
    # TIFF is made from the PNG.
    drawn = tuple(dict.fromkeys("png" if each == "tiff" else each for each in wanted))
    jobs = [
        Drawing(figure, kind, _scale(size, kind, dpi)) for figure, size in sized for kind in drawn
    ]
    say(0.0, "Starting the browser")
    contents = draw(
        jobs,
        browser=browser,
        done=lambda count: say(count / (len(jobs) + 1), f"Figure {count} of {len(jobs)}"),
    )
    made = iter(contents)
    found: dict[str, bytes] = {}
    for named, name, (_, size) in zip(chosen, file_names(chosen), sized, strict=True):
        raw = {kind: next(made) for kind in drawn}
        for kind in wanted:
            content = raw["png" if kind == "tiff" else kind]
            found[f"{name}.{kind}"] = _finished(content, kind, size, dpi, greyscale)
        if data:
            found[f"{name}.csv"] = to_csv(figure_data(named.figure))
    say(1.0, "The figures are drawn")
    return found


def zipped(files: Mapping[str, bytes]) -> bytes:
    """One archive of all of them."""
    return pack(files, compress=True)


def _scale(size: PrintSize, kind: str, dpi: int) -> float:
    """Pixels of the file for each of the figure; a little more, for parts of one are cut off."""
    if kind == "png":
        return (size.pixels(dpi) + 0.25) / size.width
    return size.width_mm / 25.4 * CSS_PIXELS_AN_INCH / size.width


def _finished(content: bytes, kind: str, size: PrintSize, dpi: int, greyscale: bool) -> bytes:
    if kind == "svg":
        own = f' width="{size.width_mm:g}mm" height="{size.height_mm:.4g}mm"'.encode()
        return SIZE.sub(lambda found: found.group(1) + own, content, count=1)
    if kind == "pdf":
        return content
    from PIL import Image

    with Image.open(BytesIO(content)) as image:
        flat = image.convert("L" if greyscale else "RGB")
    buffer = BytesIO()
    if kind == "tiff":
        flat.save(buffer, "TIFF", dpi=(dpi, dpi), compression="tiff_lzw")
    else:
        flat.save(buffer, "PNG", dpi=(dpi, dpi), optimize=False)
    return buffer.getvalue()
