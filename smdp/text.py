"""Words and numbers as people read them: one home for how the program writes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

#: What cannot be seen or printed, and what would turn the words around it the other way.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
#: The blank after a sentence; not that within 'et al. (2020)'.
SENTENCE_END = re.compile(r"(?<=[^\W_A-Z][.!?]|[)\]%'][.!?]) (?=[A-Z])")

#: Smaller and larger numbers are written with a power of ten.
MOST_DECIMALS, LARGEST_WRITTEN_OUT = 10, 1e15


def visible(text: object) -> str:
    """The text with a sign for each character that is none."""
    return UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text))


def shorten(value: object, limit: int = 60) -> str:
    """The value as text for a message: one line, never longer than `limit`."""
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_sentences(text: str, limit: int) -> str:
    """As many whole sentences, one after the other, as the limit holds; of a longer one a part."""
    sentences = SENTENCE_END.split(" ".join(text.split()))
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept) + 1 + len(sentence) > limit:
            break
        kept = f"{kept} {sentence}"
    if len(kept) <= limit:
        return kept
    words = kept[: limit - 1].rpartition(" ")
    return f"{words[0] or words[2]}…"


def listing(items: Iterable[object], limit: int = 5, longest: int = 60) -> str:
    """'a, b, c and 4 more': a readable list for a message."""
    values = [shorten(item, longest) for item in items]
    head = ", ".join(values[:limit])
    return head if len(values) <= limit else f"{head} and {len(values) - limit} more"


def plural(count: int, noun: str) -> str:
    """'1 person', '1,204 persons'."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def capital(text: str) -> str:
    """The text with a capital at its beginning, the rest as it is."""
    return text[:1].upper() + text[1:]


def percent(share: float, digits: int = 0) -> str:
    """'7 %', '< 1 %' for a share that is small but not nothing."""
    if share == 0:
        return "0 %"
    if 0 < share < 0.5 * 10 ** -(digits + 2):
        return f"< {10**-digits:g} %"
    return f"{100 * share:.{digits}f} %"


def number(value: float) -> str:
    """A number for a sentence: four figures, thousands with a comma."""
    if 0 < abs(value) < 1e-4:  # else it would be 1e-05
        return plain_number(value)
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def decimals_for(size: float) -> int:
    """How many decimals show three figures of a number of this size."""
    if not math.isfinite(size) or size == 0:
        return 0
    return min(max(2 - math.floor(math.log10(abs(size))), 0), MOST_DECIMALS)


def plain_number(value: float, decimals: int | None = None) -> str:
    """A number as in papers: '1,204.5', '0.00012'; not 1e-05, nor '0.000' for what is not zero.

    `decimals`: by default as many as show its first three figures, and none of a whole number.
    """
    value += 0.0  # zero has no sign
    size = abs(value)
    if size >= LARGEST_WRITTEN_OUT or 0 < size < 10**-MOST_DECIMALS:
        exponent = math.floor(math.log10(size))
        return f"{value / 10.0**exponent:.1f} × 10^{exponent}"
    if decimals is None:
        text = f"{value:,.{0 if value == round(value) else decimals_for(value)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    text = f"{value:,.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        return f"{value:.{max(decimals_for(value) - 2, 0)}f}"
    return text


def signed(value: float) -> str:
    """'+0.20', '-0.15', and '0.00' for what rounds to nothing."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text


def p_text(p: float) -> str:
    """'p = .034', 'p < .001', 'p > .99'; never '0.000' or 1e-05."""
    if p < 0.001:
        return "p < .001"
    if p > 0.99:
        return "p > .99"
    digits = 3 if p < 0.1 else 2
    return f"p = {p:.{digits}f}".replace("0.", ".", 1)


def interval_text(estimate: float, lower: float, upper: float, digits: int = 2) -> str:
    """'0.42 (0.18 to 0.66)', without an interval '0.42'; never '-0.00'."""
    text = f"{estimate:z.{digits}f}"
    if math.isnan(lower) or math.isnan(upper):
        return text
    return f"{text} ({lower:z.{digits}f} to {upper:z.{digits}f})"


def action_name(label: str) -> str:
    """The label itself, or 'action 1' where it is only a number."""
    return f"action {label}" if label.replace(".", "", 1).lstrip("-").isdigit() else label


def moment(date: str) -> str:
    """A date and time of a record as people write it: '2026-01-02 03:04:05 UTC'."""
    return date.replace("T", " ").replace("+00:00", " UTC")


def duration(seconds: float) -> str:
    """'45 s', '12 min', '2 h 10 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02d} min"
