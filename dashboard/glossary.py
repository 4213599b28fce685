"""Words of the glossary inside a page's text: their meaning shows on hover and on focus."""

from __future__ import annotations

import re
from functools import cache
from html import escape

from dashboard.literal_text import literal
from smdp.words.glossary import TERMS, Term

#: So common, or with so many everyday meanings, that marking them would only be noise.
UNMARKED = {"state", "action", "value", "plan", "dimension", "weight", "feature", "screening",
            "policy", "seed", "stability", "margin"}  # fmt: skip


@cache
def _words() -> tuple[re.Pattern[str], dict[str, Term]]:
    """A pattern of all words as they look after `literal`, longest first, and what they are."""
    forms = {
        literal(form): term
        for term in TERMS
        if term.name not in UNMARKED
        for form in (term.name, *term.forms)
    }
    words = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(rf"(?<![\w\\-])({words})(?![\w-]|\\-\w)"), forms


def explained(texts: list[str]) -> list[str]:
    """Markdown made by `literal`, with the first use of each term marked; HTML must be allowed."""
    pattern, forms = _words()
    seen: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        term = forms[found[1]]
        if term.name in seen:
            return found[0]
        seen.add(term.name)
        return f'<abbr title="{escape(term.meaning)}" tabindex="0">{found[1]}</abbr>'

    return [pattern.sub(mark, text) for text in texts]
