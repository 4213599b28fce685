"""What a reader and a browser find in an HTML report."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Tags with their attributes, text by section, tables."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.texts: dict[str, list[str]] = {"": []}
        self.tables: list[list[list[str]]] = []
        self.section = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = dict(attrs)["id"]
            self.texts[self.section] = []
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data):
        if "script" in self.open:
            attributes, so_far = self.scripts[-1]
            self.scripts[-1] = (attributes, so_far + data)
        elif "style" not in self.open:
            self.texts[self.section].append(data)
            if "td" in self.open or "th" in self.open:
                self.tables[-1][-1][-1] += data

    def text(self, section: str) -> str:
        return " ".join(self.texts[section])

    def table_with(self, *columns: str) -> list[dict[str, str]]:
        for rows in self.tables:
            if rows[0][: len(columns)] == list(columns):
                return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
        raise AssertionError(f"no table with {columns}")
