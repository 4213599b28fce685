"""Numbers as papers print them."""

from __future__ import annotations


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
