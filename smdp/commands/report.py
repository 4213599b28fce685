"""`smdp report`: a saved analysis as a report, and its figures as files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smdp.commands.terminal import ProgressBar, complain, say
from smdp.errors import SettingError, SmdpError
from smdp.text import listing, shorten

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis
    from smdp.blocks import NamedFigure, Report
    from smdp.report.figure_theme import FigureTheme

HTML, WORD = (".html", ".htm"), (".docx",)
SAME_NAME = "beside --out"
EPILOG = """\
examples:
  smdp report study.smdp --out report.html
  smdp report study.smdp --out report.html --docx
  smdp report study.smdp --figures figures/ --format svg pdf --preset single --greyscale
  smdp report study.smdp --figures figures/ --preset "Nature, two columns" --height 0.8 --panels
  smdp report study.smdp --figures one/ --only policy-value --width 120 --height 1.5
  smdp report study.smdp --summary short.docx --checklists lists/ --tables tables/
  smdp report study.smdp --model-card card.docx --policy 2
  smdp report study.smdp --out methods.docx --sections methods appendix

sections: {sections}

looks: {looks}
fonts: {fonts}; palettes: {palettes}

The HTML report is one file that needs no network. Word documents and figures in files are drawn by
Chrome or Chromium on this machine; the environment variable BROWSER_PATH names one.

exit code: 0 done, 2 an error, 130 interrupted
"""


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "report",
        help="write a saved analysis as HTML or Word, and its figures as files",
        description="Write the report of a saved analysis: who was studied, what was found, how "
        "sure it is, a methods section with references, and every setting. Everything runs on "
        "this machine.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.format_help = lambda: _help(parser)
    parser.add_argument("analysis", type=Path, help="the saved analysis (.smdp)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="the report: report.html, or report.docx for Word"
    )
    parser.add_argument(
        "--docx",
        nargs="?",
        const=SAME_NAME,
        metavar="FILE",
        help="a Word document too (default: the name of --out)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="FILE", help="the table, if it was left out of the .smdp"
    )
    content = parser.add_argument_group("content")
    content.add_argument("--title", default="", help="the report's title")
    content.add_argument("--author", default="", help="who wrote it")
    content.add_argument(
        "--sections", nargs="+", metavar="SECTION", help="only these (see below; default: all)"
    )
    content.add_argument(
        "--paper", default="A4", choices=("A4", "Letter"), help="of Word documents (A4)"
    )
    content.add_argument(
        "--locked", type=Path, metavar="FILE", help="a locked plan: list every deviation from it"
    )
    further = parser.add_argument_group("further documents")
    further.add_argument(
        "--summary", type=Path, metavar="FILE", help="two pages (.docx, .html or .md)"
    )
    further.add_argument(
        "--checklists",
        type=Path,
        metavar="FOLDER",
        help="reporting checklists that apply, filled from the analysis, as Word and HTML",
    )
    further.add_argument(
        "--tables",
        type=Path,
        metavar="FOLDER",
        help="a paper's tables as Word, CSV, Markdown, LaTeX and one Excel workbook, and the "
        "results as sentences",
    )
    further.add_argument(
        "--model-card", type=Path, metavar="FILE", help="of a policy (.docx, .html or .md)"
    )
    further.add_argument(
        "--policy", type=int, default=1, metavar="N", help="whose model card, counted from 1 (1)"
    )
    look = parser.add_argument_group("look of figures, in reports and in files")
    look.add_argument(
        "--preset",
        default="single",
        metavar="LOOK",
        help="single, double or that of a publisher, see below (single: 85 mm wide)",
    )
    look.add_argument("--width", type=float, metavar="MM", help="another width, of files")
    look.add_argument("--height", type=float, metavar="FACTOR", help="on a figure's own height")
    look.add_argument("--points", type=float, metavar="PT", help="the smallest text in print")
    look.add_argument("--font", help="see below")
    look.add_argument("--colours", metavar="PALETTE", help="see below")
    figures = parser.add_argument_group("figures in files")
    figures.add_argument(
        "--figures", type=Path, metavar="FOLDER", help="where figures go: a folder, or a .zip"
    )
    figures.add_argument(
        "--only", nargs="+", metavar="NAME", help="only these figures, by the names of their files"
    )
    figures.add_argument(
        "--format", nargs="+", default=["png"], choices=("svg", "pdf", "png", "tiff"), help="(png)"
    )
    figures.add_argument(
        "--panels", action="store_true", help="one more with panels A, B, C (not as PDF)"
    )
    figures.add_argument(
        "--dpi", type=int, default=300, choices=(300, 600), help="of PNG and TIFF (300)"
    )
    figures.add_argument("--greyscale", action="store_true", help="without colour")
    figures.add_argument("--no-titles", action="store_true", help="without titles above figures")
    figures.add_argument("--no-csv", action="store_true", help="without the numbers behind them")
    parser.add_argument("--overwrite", action="store_true", help="replace files that are there")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def _help(parser: argparse.ArgumentParser) -> str:
    """Sections and looks bring much along, which waits until somebody wants help."""
    from smdp.report.collect import section_titles
    from smdp.report.figure_theme import FONTS, PALETTES, THEMES

    parser.epilog = EPILOG.format(
        sections=", ".join(section_titles()),
        looks="; ".join(THEMES),
        fonts=", ".join(FONTS),
        palettes=", ".join(PALETTES),
    )
    return argparse.ArgumentParser.format_help(parser)


def run(options: argparse.Namespace) -> int:
    page, document = _outputs(options)
    further = (options.summary, options.checklists, options.tables, options.model_card)
    wanted = [path for path in (page, document, options.figures, *further) if path is not None]
    if not wanted:
        raise SettingError(
            "Nothing was asked for.",
            "Add --out report.html, --docx report.docx, --summary short.docx, --checklists DIR, "
            "--tables DIR, --model-card card.docx or --figures DIR.",
        )
    _refuse_overwriting(wanted, options.overwrite)
    from smdp.report.documents import check_ending

    for path in filter(None, (options.summary, options.model_card)):
        check_ending(path)
    theme = _theme(options)
    analysis = _analysis(options)
    if options.locked is not None:
        from smdp.analysis.locked_plan import read_locked

        analysis = analysis.with_locked(read_locked(options.locked))
    from smdp.report.collect import build_report

    if page is not None or document is not None:
        report = build_report(
            analysis, sections=options.sections, title=options.title, author=options.author
        )
        _write_report(report, page, document, theme, options)
        for banner in report.banners:
            complain(f"smdp: {banner.severity}: {banner.text}")
    _write_further(analysis, theme, options)
    if options.figures is not None:
        _write_figures(analysis, theme, options)
    return 0


def _theme(options: argparse.Namespace) -> FigureTheme:
    """The look that was chosen, with what was asked for besides."""
    from smdp.report.figure_theme import THEMES

    if options.preset not in THEMES:
        raise SettingError(
            f"There is no look called '{shorten(options.preset)}'.",
            f"Choose among these: {listing(THEMES, len(THEMES))}.",
        )
    asked = {
        "width_mm": options.width,
        "height": options.height,
        "points": options.points,
        "font": options.font,
        "palette": options.colours,
    }
    return replace(
        THEMES[options.preset], **{name: own for name, own in asked.items() if own is not None}
    )


def _only(figures: Sequence[NamedFigure], names: Sequence[str] | None) -> tuple[NamedFigure, ...]:
    """Those named, so that one figure can have a size of its own."""
    if names is None:
        return tuple(figures)
    known = {label for each in figures for label in (each.name, each.file_name)}
    unknown = [name for name in names if name not in known]
    if unknown:
        every = [each.name for each in figures]
        raise SettingError(
            f"There is no figure called {listing(map(repr, unknown))}.",
            f"The figures are: {listing(every, len(every))}.",
        )
    return tuple(each for each in figures if {each.name, each.file_name} & set(names))


def _write_figures(analysis: Analysis, theme: FigureTheme, options: argparse.Namespace) -> None:
    from smdp.atomic_write import make_folder, write_whole
    from smdp.report.collect import report_figures
    from smdp.report.composed import panel_files
    from smdp.report.figure_files import ZIP, figure_files, zipped

    figures = _only(report_figures(analysis, sections=options.sections), options.only)
    look: dict[str, Any] = {
        "dpi": options.dpi,
        "greyscale": options.greyscale,
        "titles": not options.no_titles,
    }
    bar = ProgressBar(shown=False) if options.quiet else ProgressBar()
    try:
        files = figure_files(
            figures,
            formats=options.format,
            preset=theme,
            data=not options.no_csv,
            progress=bar,
            **look,
        )
        if options.panels:
            files |= panel_files(figures, options.format, theme=theme, **look)
    finally:
        bar.end()
    if options.figures.suffix.lower() == ZIP:
        write_whole(options.figures, zipped(files))
    else:
        make_folder(options.figures)
        for name, content in files.items():
            write_whole(options.figures / name, content)
    say(f"{len(files)} file{'' if len(files) == 1 else 's'} of figures in {options.figures}")


def _write_further(analysis: Analysis, theme: FigureTheme, options: argparse.Namespace) -> None:
    """The summary, the checklists, the tables, the model card."""
    from smdp.atomic_write import make_folder, write_whole
    from smdp.report.documents import document_bytes

    paper, author = options.paper, options.author
    if options.summary is not None:
        from smdp.report.short import build_summary

        report = build_summary(analysis, title=options.title, author=author)
        content = document_bytes(report, options.summary.suffix, paper=paper, theme=theme)
        say(f"{write_whole(options.summary, content)}")
    if options.checklists is not None:
        from smdp.report.checklist_document import build_checklist, checklists_for

        make_folder(options.checklists)
        for each in checklists_for(analysis):
            report = build_checklist(analysis, each.key, author=author)
            for ending in (".docx", ".html"):
                path = options.checklists / f"{each.key}{ending}"
                say(f"{write_whole(path, document_bytes(report, ending, paper=paper))}")
    if options.tables is not None:
        from smdp.report.journal_tables import journal_tables
        from smdp.report.results_text import results_file
        from smdp.report.table_files import table_files

        make_folder(options.tables)
        files = table_files(
            journal_tables(analysis), synthetic=analysis.source.synthetic, paper=paper
        )
        files |= results_file(analysis)
        for name, content in files.items():
            write_whole(options.tables / name, content)
        say(f"{len(files)} files of tables in {options.tables}")
    if options.model_card is not None:
        from smdp.report.model_card import build_model_card

        report = build_model_card(analysis, options.policy, author=author)
        content = document_bytes(report, options.model_card.suffix, paper=paper)
        say(f"{write_whole(options.model_card, content)}")


def _write_report(
    report: Report,
    page: Path | None,
    document: Path | None,
    theme: FigureTheme,
    options: argparse.Namespace,
) -> None:
    from smdp.atomic_write import write_whole
    from smdp.report.documents import document_bytes

    if page is not None:
        say(f"{write_whole(page, document_bytes(report, '.html', theme=theme))}")
    if document is not None:
        from smdp.report.browser import IN_BROWSER, find_browser

        if report.figures and find_browser() is None:
            complain(f"smdp: warning: no Chrome was found to draw the figures. {IN_BROWSER}")
        bar = ProgressBar(shown=False) if options.quiet else ProgressBar()
        try:
            content = document_bytes(
                report, ".docx", paper=options.paper, theme=theme, progress=bar
            )
        finally:
            bar.end()
        say(f"{write_whole(document, content)}")


def _outputs(options: argparse.Namespace) -> tuple[Path | None, Path | None]:
    """Where the HTML file and the Word document go."""
    page = document = None
    if options.out is not None:
        kind = options.out.suffix.lower()
        if kind not in (*HTML, *WORD):
            raise SettingError(
                f"A report cannot be written as '{options.out.name}'.",
                "Let the name of --out end in .html or .docx.",
            )
        page = options.out if kind in HTML else None
        document = options.out if kind in WORD else None
    if options.docx == SAME_NAME:
        if options.out is None:
            raise SettingError("--docx has no name.", "Add one: --docx report.docx.")
        document = options.out.with_suffix(".docx")
    elif options.docx is not None:
        document = Path(options.docx)
    return page, document


def _refuse_overwriting(wanted: list[Path], overwrite: bool) -> None:
    for path in wanted:
        try:
            there = any(path.iterdir()) if path.is_dir() else path.exists()
        except OSError as error:
            raise SmdpError(f"'{path}' cannot be read: {error.strerror}.") from None
        if there and not overwrite:
            raise SettingError(f"'{path}' is there already.", "Name another, or add --overwrite.")


def _analysis(options: argparse.Namespace) -> Analysis:
    from smdp.analysis.analysis import load_analysis

    analysis = load_analysis(options.analysis)
    if options.data is None:
        return analysis
    from smdp.analysis.further_tables import tables_beside
    from smdp.data.read_table import read_table

    plan = analysis.plan
    tables = tables_beside(plan.tables, options.data)
    return analysis.with_table(read_table(options.data, sheet=plan.reading.sheet), tables)
