"""Text that a Markdown place shows as it is."""

from __future__ import annotations

import re

from smdp.text import visible

MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=])")
#: Between these, addresses of pages and of people are recognised, which become links by themselves.
ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\w@)(?=[\w-]+\.)", re.IGNORECASE)
UNSEEN_JOINT = "\N{WORD JOINER}"


def literal(text: object) -> str:
    """Text for a Markdown place that shows it as it is, whatever it holds."""
    words = " ".join(visible(text).split())
    return MARKDOWN.sub(r"\\\1", ADDRESS.sub(UNSEEN_JOINT, words))
