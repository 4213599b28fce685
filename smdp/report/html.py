"""A report as one HTML file that needs nothing else: no network, no other file.

Text and tables can be read without JavaScript; the figures are plotly's, which is inlined once.
"""

from __future__ import annotations

import html
from functools import singledispatchmethod

import pandas as pd

from smdp import __version__
from smdp.blocks import (
    AuthorNote,
    Block,
    Bullets,
    Heading,
    Listing,
    NamedFigure,
    Notice,
    Paragraph,
    References,
    Report,
    Section,
    Table,
    cell_text,
    column_texts,
    is_number,
    readable,
)
from smdp.report.figure_theme import FigureTheme, in_theme
from smdp.report.html_page import page
from smdp.words.figures import figure_words

WORDS = {"error": "Error", "warning": "Warning", "note": "Note"}
LOOKS = {"error": "error", "warning": "warning", "note": "remark"}
LONGEST_IN_ONE_LINE = 14  # letters of a cell


def to_html(report: Report, *, theme: FigureTheme | None = None) -> str:
    """The whole file, to be written as UTF-8. `theme`: font and colours of its figures."""
    writer = _HtmlWriter(theme)
    sections = "\n".join(writer.section(each) for each in report.sections)
    title = _escaped(report.title)
    byline = f'<p class="byline">{_escaped(report.author)}</p>' if report.author else ""
    banners = "".join(writer.block(banner) for banner in report.banners)
    body = (
        f"<header><h1>{title}</h1>{byline}"
        f'<p class="made">{_escaped(report.date)} · data: {_escaped(report.source)}</p>'
        f"{banners}{_contents(report)}</header>\n<main>\n{sections}\n</main>\n"
        f"<footer>Made with smdp {__version__}.</footer>\n{''.join(writer.data)}"
    )
    return page(title, body, scripts=bool(writer.data), compact=report.compact)


def _contents(report: Report) -> str:
    if len(report.sections) < 2 or report.compact:
        return ""
    items = "".join(
        f'<li><a href="#{each.key}">{_escaped(each.title)}</a></li>' for each in report.sections
    )
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


class _HtmlWriter:
    """Blocks to HTML; collects the figures' data, which stand at the end of the page."""

    def __init__(self, theme: FigureTheme | None) -> None:
        self.data: list[str] = []
        self.theme = theme

    def section(self, section: Section) -> str:
        blocks = "\n".join(self.block(each) for each in section.blocks)
        return f'<section id="{section.key}"><h2>{_escaped(section.title)}</h2>\n{blocks}</section>'

    @singledispatchmethod
    def block(self, block: Block) -> str:
        raise TypeError(f"{type(block).__name__} cannot be written as HTML")

    @block.register
    def _(self, block: Heading) -> str:
        return f"<h3>{_escaped(block.text)}</h3>"

    @block.register
    def _(self, block: Paragraph) -> str:
        text = _escaped(block.text)
        return f"<p><strong>{text}</strong></p>" if block.strong else f"<p>{text}</p>"

    @block.register
    def _(self, block: Bullets) -> str:
        return "<ul>" + "".join(f"<li>{_escaped(item)}</li>" for item in block.items) + "</ul>"

    @block.register
    def _(self, block: Notice) -> str:
        remedy = f" {_escaped(block.remedy)}" if block.remedy else ""
        return (
            f'<div class="notice {LOOKS[block.severity]}" role="note">'
            f"<b>{WORDS[block.severity]}</b>{_escaped(block.text)}{remedy}</div>"
        )

    @block.register
    def _(self, block: AuthorNote) -> str:
        return f'<div class="note"><b>Author’s note</b>{_escaped(block.text.strip())}</div>'

    @block.register
    def _(self, block: References) -> str:
        items = "".join(f"<p>{_escaped(item)}</p>" for item in block.items)
        return f'<h3>References</h3><div class="references">{items}</div>' if items else ""

    @block.register
    def _(self, block: Listing) -> str:
        text = html.escape(block.text)
        return f"<details><summary>{_escaped(block.title)}</summary><pre>{text}</pre></details>"

    @block.register
    def _(self, block: Table) -> str:
        frame = block.frame
        columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
        classes = [_class(own) for own in columns]
        head = "".join(
            f'<th scope="col"{own}>{_escaped(name)}</th>'
            for name, own in zip(frame.columns, classes, strict=True)
        )
        rows = "".join(
            "<tr>"
            + "".join(f"<td{own}>{cell}</td>" for cell, own in zip(row, classes, strict=True))
            + "</tr>"
            for row in zip(*map(_cells, columns), strict=True)
        )
        note = f'<p class="below">{_escaped(block.note)}</p>' if block.note else ""
        return (
            f'<div class="table"><table><caption>{_escaped(block.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}</div>"
        )

    @block.register
    def _(self, block: NamedFigure) -> str:
        key = f"figure-{len(self.data) + 1}"
        # Within a script element only "<" can do harm, and JSON has another way to write it.
        figure = block.figure if self.theme is None else in_theme(block.figure, self.theme)
        content = figure.to_json().replace("<", "\\u003c")
        self.data.append(f'<script type="application/json" id="{key}">{content}</script>\n')
        height = int(block.figure.layout.height or 420)
        words = f"{block.title}. {figure_words(block.figure)}"
        marks = "; ".join(block.marks)
        marked = f' <span class="mark">({_escaped(marks)})</span>' if marks else ""
        caption = f" {_escaped(block.caption)}" if block.caption else ""
        return (
            f'<figure><div data-figure="{key}" data-name="{_escaped(block.file_name)}" role="img" '
            f'aria-label="{_escaped(words)}" style="height:{height}px"></div>'
            "<noscript><p>This figure needs JavaScript.</p></noscript>"
            f"<figcaption><b>{_escaped(block.title)}.</b>{marked}{caption}</figcaption></figure>"
        )


def _numeric(value: object) -> bool:
    return is_number(value) or cell_text(value) == ""


def _class(values: pd.Series) -> str:
    if any(map(is_number, values)) and all(map(_numeric, values)):
        return ' class="number"'
    whole = all(len(text) <= LONGEST_IN_ONE_LINE for text in column_texts(values))
    return ' class="short"' if whole else ""


def _cells(values: pd.Series) -> list[str]:
    return [html.escape(text) for text in column_texts(values)]


def _escaped(text: object) -> str:
    return html.escape(readable(text))
