"""Text as it can be shown, whatever a table's cells and names hold."""

from __future__ import annotations

import re

#: What cannot be seen or printed, and what would turn the words around it the other way.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def visible(text: object) -> str:
    """The text with a sign for each character that is none."""
    return UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text))
