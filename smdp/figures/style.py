"""One look for all figures: fonts, colours that colour-blind people can tell apart, safe text."""

from __future__ import annotations

import html
from collections.abc import Iterable

import plotly.graph_objects as go

from smdp.text import visible

# Okabe & Ito (2008), ordered so that the first ones also differ in greyscale.
BLUE, ORANGE, GREEN, SKY, VERMILION, PURPLE, YELLOW, GREY = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#D55E00", "#CC79A7", "#F0E442", "#8C8C8C",
)  # fmt: skip
ACTION_COLOURS = (SKY, BLUE, ORANGE, PURPLE, GREEN, VERMILION, YELLOW)
# One blue that grows stronger, so that more is more on white and on dark pages alike.
SEQUENTIAL = [
    [share, f"rgba(0,110,175,{0.07 + 0.93 * share:.3f})"] for share in (0, 0.25, 0.5, 0.75, 1)
]
# Blue, white at zero, vermilion.
DIVERGING = [[0.0, "#0072B2"], [0.5, "#FFFFFF"], [1.0, "#D55E00"]]
FONT = "Inter, 'Helvetica Neue', Arial, sans-serif"
SMALL, NORMAL = {"size": 12}, {"size": 13}


def new_figure(height: int = 420) -> go.Figure:
    """An empty figure with the house's margins, fonts and quiet axes."""
    axis = {
        "showline": False,
        "zeroline": False,
        "gridcolor": "rgba(128,128,128,0.18)",
        "automargin": True,
        "tickfont": SMALL,
        "title": {"standoff": 12, "font": NORMAL},
    }
    # Given at once: set afterwards, they take ten times as long, and a page has many figures.
    return go.Figure(
        layout={
            "template": "none",
            "height": height,
            "margin": {"l": 60, "r": 20, "t": 30, "b": 50},
            "font": {"family": FONT, "size": 13},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "xaxis": axis | {"title": {"standoff": 17, "font": NORMAL}},  # to the line of writing
            "yaxis": axis,
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": NORMAL},
            "hoverlabel": {"font": {"family": FONT, "size": 13}},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#76808A", "activecolor": "#1E88D0"},
        }
    )


MOST_ABOVE_A_BAR = 12  # letters


def colour_bar(title: str, **options: object) -> dict[str, object]:
    """A slim colour bar with readable text.

    Beside the bar, a title runs into the bar's numbers where the figure is low; a long one, which
    only a high figure has, would push the figure aside if it stood above.
    """
    side = "top" if len(title) <= MOST_ABOVE_A_BAR else "right"
    return {
        "title": {"text": title, "side": side, "font": NORMAL},
        "tickfont": SMALL,
        "thickness": 12,
        "len": 0.8,
        **options,
    }


def faint(colour: str, share: float) -> str:
    """A colour that is seen through."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def plain(text: object, limit: int = 28) -> str:
    """A name as a label: never markup, and cut where it would push the figure aside."""
    return _escaped(_cut(str(text), limit))


def labels(names: Iterable[str], limit: int = 28) -> dict[str, str]:
    """A label for each name, cut where it is long, and different for different names."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        label, copy = _cut(name, limit), 1
        while label in taken:
            copy += 1
            label = f"{_cut(name, limit - 4)} ({copy})"
        taken.add(label)
        found[name] = _escaped(label)
    return found


def _escaped(text: str) -> str:
    """Neither markup nor, in plotly's own terms, a formula ($..$) or a place to fill (%{..})."""
    plain_html = html.escape(text, quote=False)  # plotly knows no &quot;
    return plain_html.replace("$", "&#36;").replace("%{", "&#37;{")


def _cut(text: str, limit: int) -> str:
    """Long names lose their middle: what tells them apart is often at the end."""
    text = " ".join(visible(text).split())
    if len(text) <= limit:
        return text
    tail = limit // 2 - 1
    return f"{text[: limit - tail - 1]}…{text[-tail:]}"
