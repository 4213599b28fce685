"""The flow of people and decisions as a figure, in the manner of CONSORT."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from smdp.data.flow import StudyFlow
from smdp.figures.style import new_figure, plain
from smdp.text import plural

LINE, AIR, GAP = 17, 16, 26  # pixels: of a line, around the text of a box, between boxes
LETTERS = 27  # of a box that is half as wide as a journal's column
MOST_BOXES = 3  # of actions side by side
MOST_LISTED = 12
BREAK = "<br>"
LINES_OF_BOX = {"color": "#5B6470", "width": 1.2}
WIDTH = 0.48


@dataclass(frozen=True)
class _Box:
    """Its text by lines, the middle of its top edge, and its width, 0 to 1."""

    lines: tuple[str, ...]
    x: float
    top: float
    width: float

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + AIR

    @property
    def bottom(self) -> float:
        return self.top + self.height


def flow_figure(flow: StudyFlow) -> go.Figure:
    """Boxes from top to bottom; to the right what leaves, at the bottom what was analysed."""
    boxes: list[_Box] = []
    arrows: list[tuple[float, float, float, float]] = []
    read = _box([f"Read: {_people(flow.people)}", f"{flow.decisions:,} decisions"], 0.0)
    boxes.append(read)
    end = read.bottom
    if flow.left_out:
        why = [f"{count:,}: {cause}" for cause, count in flow.left_out]
        end = _aside([f"Left out: {_people(flow.people_left_out)}", *why], end, boxes, arrows)
    kept = _box(
        [f"Kept: {_people(flow.kept_people)}", f"{flow.kept_decisions:,} decisions"],
        end + GAP,
    )
    arrows.append((WIDTH / 2, read.bottom, WIDTH / 2, kept.top))
    boxes.append(kept)
    end = _aside(
        [
            "Decisions without a treatment:",
            f"{flow.without_row:,} without a row",
            f"{flow.without_choice:,} with nothing to choose",
            f"{flow.unknown_action:,} of unknown action",
        ],
        kept.bottom,
        boxes,
        arrows,
    )
    chosen = _box([f"With a choice: {plural(flow.with_choice, 'decision')}"], end + GAP)
    arrows.append((WIDTH / 2, kept.bottom, WIDTH / 2, chosen.top))
    boxes.append(chosen)
    _treated(flow, chosen, boxes, arrows)
    return _drawn(boxes, arrows)


def _box(lines: Sequence[str], top: float, x: float = WIDTH / 2, width: float = WIDTH) -> _Box:
    letters = max(8, int(LETTERS * width / WIDTH))
    broken = [part for line in lines for part in textwrap.wrap(line, letters) or [""]]
    return _Box(tuple(broken), x, top, width)


def _aside(
    lines: Sequence[str],
    top: float,
    boxes: list[_Box],
    arrows: list[tuple[float, float, float, float]],
) -> float:
    """What leaves on the way down; where the next box may begin."""
    box = _box(lines, top + GAP / 2, 1 - WIDTH / 2)
    boxes.append(box)
    middle = box.top + box.height / 2
    arrows.append((WIDTH / 2, middle, 1 - WIDTH, middle))
    return box.bottom - GAP / 2


def _treated(
    flow: StudyFlow,
    above: _Box,
    boxes: list[_Box],
    arrows: list[tuple[float, float, float, float]],
) -> None:
    count = len(flow.treated)
    if count > MOST_BOXES:
        shown = flow.treated[:MOST_LISTED]
        lines = [f"{_cut(e.action)}: {e.decisions:,}{_analysed(e.analysed)}" for e in shown]
        if count > MOST_LISTED:
            lines.append(f"and {count - MOST_LISTED} other actions")
        box = _box(lines, above.bottom + GAP, 0.5, 1.0)
        boxes.append(box)
        arrows.append((WIDTH / 2, above.bottom, WIDTH / 2, box.top))
        return
    width = (1 - 0.04 * (count - 1)) / count
    for place, each in enumerate(flow.treated):
        middle = width / 2 + place * (width + 0.04)
        lines = [f"Action {_cut(each.action)}:", plural(each.decisions, "decision")]
        box = _box(lines, above.bottom + GAP, middle, width)
        boxes.append(box)
        arrows.append((min(max(middle, 0.06), WIDTH - 0.06), above.bottom, middle, box.top))
        if each.analysed is None:
            continue
        lines = [f"Analysed: {each.analysed:,}", f"{each.decisions - each.analysed:,} not used"]
        last = _box(lines, 0.0, middle, width)
        boxes.append(_Box(last.lines, middle, box.bottom + GAP, width))
        arrows.append((middle, box.bottom, middle, box.bottom + GAP))


def _analysed(count: int | None) -> str:
    return "" if count is None else f" decisions, {count:,} analysed"


def _people(count: int) -> str:
    return f"{count:,} {'person' if count == 1 else 'people'}"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 24 else f"{text[:15]}…{text[-8:]}"


def _drawn(boxes: list[_Box], arrows: list[tuple[float, float, float, float]]) -> go.Figure:
    height = max(box.bottom for box in boxes)
    figure = new_figure(height=round(height) + 16)
    for box in boxes:
        left, right = box.x - box.width / 2, box.x + box.width / 2
        figure.add_shape(
            type="rect",
            x0=left, x1=right, y0=box.top, y1=box.bottom,
            line=LINES_OF_BOX, fillcolor="rgba(0,114,178,0.05)",
        )  # fmt: skip
    for x0, y0, x1, y1 in arrows:
        figure.add_annotation(
            x=x1, y=y1, ax=x0, ay=y0, xref="x", yref="y", axref="x", ayref="y",
            showarrow=True, arrowhead=2, arrowsize=1, arrowwidth=1.2, arrowcolor="#5B6470", text="",
        )  # fmt: skip
    figure.add_scatter(
        x=[box.x for box in boxes],
        y=[box.top + box.height / 2 for box in boxes],
        mode="text",
        text=[BREAK.join(plain(line, 60) for line in box.lines) for box in boxes],
        textfont={"size": 12},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
        name="number of people and decisions",
    )
    figure.update_layout(margin={"l": 8, "r": 8, "t": 8, "b": 8})
    figure.update_xaxes(visible=False, range=[-0.005, 1.005], fixedrange=True)
    figure.update_yaxes(visible=False, range=[height + 1, -1], fixedrange=True)
    return figure
