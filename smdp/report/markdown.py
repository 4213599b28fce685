"""A document as Markdown, for registries and repositories; figures are left out, which is said."""

from __future__ import annotations

from functools import singledispatch

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
    Table,
    readable,
)
from smdp.report.table_files import markdown_text, to_markdown

WORDS = {"error": "Error", "warning": "Warning", "note": "Note"}


def to_markdown_document(report: Report) -> str:
    """The whole text; nothing that came from a table is markup in it."""
    parts = [f"# {_text(report.title)}"]
    parts += [_text(line) for line in (report.author, _made(report)) if line]
    parts += [_block(banner) for banner in report.banners]
    for section in report.sections:
        parts.append(f"## {_text(section.title)}")
        parts += [_block(block) for block in section.blocks]
    parts.append(f"Made with smdp {__version__}.")
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _made(report: Report) -> str:
    return " · ".join(filter(None, (report.date, report.source and f"data: {report.source}")))


def _text(text: str) -> str:
    return markdown_text(readable(text))


@singledispatch
def _block(block: Block) -> str:
    raise TypeError(f"{type(block).__name__} cannot be written as Markdown")


@_block.register
def _(block: Heading) -> str:
    return f"### {_text(block.text)}"


@_block.register
def _(block: Paragraph) -> str:
    return f"**{_text(block.text)}**" if block.strong else _text(block.text)


@_block.register
def _(block: Bullets) -> str:
    return "\n".join(f"- {_text(item)}" for item in block.items)


@_block.register
def _(block: Notice) -> str:
    return f"> **{WORDS[block.severity]}**: {_text(f'{block.text} {block.remedy}'.strip())}"


@_block.register
def _(block: AuthorNote) -> str:
    return f"> **Author’s note**: {_text(block.text)}"


@_block.register
def _(block: References) -> str:
    return "\n".join(f"- {_text(item)}" for item in block.items)


@_block.register
def _(block: Listing) -> str:
    lines = readable(block.text, len(block.text) + 1).splitlines()
    return "\n".join([f"### {_text(block.title)}", "", *(f"    {line}" for line in lines)])


@_block.register
def _(block: Table) -> str:
    return to_markdown(block)


@_block.register
def _(block: NamedFigure) -> str:
    return f"*Figure: {_text(block.title)}. {_text(block.caption)}*"
