"""A rule as a card that can be held up, as a small tree, and its value beside the others'."""

from __future__ import annotations

import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.evaluation.rule_value import CARD, LEARNED, RuleReport
from smdp.evaluation.value_tables import OBSERVED
from smdp.figures.intervals import Row, dots
from smdp.figures.style import ACTION_COLOURS, GREY, VERMILION, new_figure, plain
from smdp.policy.rule_card import End, RuleCard, Tree
from smdp.text import capital, interval_text, percent
from smdp.words.explanation import action_name
from smdp.words.policy_value import ALWAYS, units
from smdp.words.rule_card import digits_of_rules, rule_label

ROW_HEIGHT = 58
INK, PAPER, LINE = "#1B1F24", "#FFFFFF", "#5B646D"
#: Black or white letters on each action's colour, whichever is read more easily.
LETTERS = {"#0072B2": "#FFFFFF", "#D55E00": "#FFFFFF"}
LONGEST_CONDITION, LONGEST_ACTION = 74, 22


def card_figure(card: RuleCard) -> go.Figure:
    """One line for each end: what has to hold, and what to do; the share of the decisions."""
    ends = list(card.paths())
    total = max(1, sum(end.decisions for _, end in ends))
    height = len(ends) + 0.35
    figure = _blank(int(ROW_HEIGHT * height + 30), (0, 100), (0, height))
    _box(figure, 0.3, 0.03, 99.7, height - 0.03, PAPER, LINE, 2)
    for place, (conditions, end) in enumerate(ends):
        y = height - 0.65 - place
        text = " and ".join(question.words(holds) for question, holds in conditions)
        said = f"If <b>{plain(text, LONGEST_CONDITION)}</b>" if text else "<b>Everybody</b>"
        _write(figure, 3, y, said, size=17, anchor="left")
        share = f"{percent(end.decisions / total)} of decisions"
        _write(figure, 73, y, share, size=12, anchor="right", colour=LINE)
        _action(figure, card, end.action, 75, 97.5, y)
        if place:
            figure.add_shape(
                type="line", x0=2, x1=98, y0=y + 0.5, y1=y + 0.5, line={"color": "#D5D9DD"}
            )
    return figure


def tree_figure(card: RuleCard) -> go.Figure:
    """The same as a tree: questions above, what to do below."""
    ends = sum(1 for _ in card.paths())
    depth = card.depth
    figure = _blank(110 * (depth + 1) + 20, (0, ends), (-depth - 0.5, 0.5))

    def draw(tree: Tree, left: float, level: int) -> tuple[float, float]:
        """The middle of what was drawn, and its right edge."""
        if isinstance(tree, End):
            _action(figure, card, tree.action, left + 0.1, left + 0.9, -level, tall=0.24)
            return left + 0.5, left + 1
        yes, edge = draw(tree.yes, left, level + 1)
        no, edge = draw(tree.no, edge, level + 1)
        middle = (yes + no) / 2
        for x, answer in ((yes, "yes"), (no, "no")):
            figure.add_shape(
                type="line",
                x0=middle,
                y0=-level - 0.24,
                x1=x,
                y1=-level - 0.76,
                line={"color": LINE, "width": 1.5},
                layer="below",
            )
            _write(
                figure, (middle + x) / 2, -level - 0.5, answer, size=12, colour=INK, ground=PAPER
            )
        wide = min(0.95, ends / 2)
        _box(figure, middle - wide / 2, -level - 0.24, middle + wide / 2, -level + 0.24, PAPER)
        text = f"<b>{plain(tree.question.words(), 34)}</b>?"
        _write(figure, middle, -level, text, size=14)
        return middle, edge

    draw(card.tree, 0.0, 0)
    return figure


def rule_value_figure(report: RuleReport, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """The card, the full policy, rules of one's own, what was done, each action always."""
    digits, rows = digits_of_rules(report), []
    always = [f"{ALWAYS}{label}" for label in report.card.action_labels]
    for _, row in report.values.iterrows():
        name = str(row["policy"])
        ends = (float(row["estimate"]), float(row["lower"]), float(row["upper"]))
        text = interval_text(*ends, digits) + ("" if row["trusted"] else ", no interval")
        colour = VERMILION if name == CARD else GREY
        if name in always:
            colour = ACTION_COLOURS[always.index(name) % len(ACTION_COLOURS)]
        learned = name in (CARD, LEARNED)
        rows.append(
            Row(
                rule_label(name, report.policy_kind),
                *ends,
                text,
                colour,
                "diamond" if learned else "circle",
                f"{text}<br>{row['effective']:.1f} effective subjects",
            )
        )
    figure = dots(rows, least=280)
    seen = float(report.value(OBSERVED)["estimate"])
    figure.add_vline(x=seen, line={"width": 1, "dash": "dot", "color": GREY})
    title = f"{capital(plain(units(outcome), 110))} (discount {report.discount:g})"
    figure.update_xaxes(title_text=title)
    return figure


def _blank(height: int, x: tuple[float, float], y: tuple[float, float]) -> go.Figure:
    figure = new_figure(height=height)
    figure.update_xaxes(visible=False, range=x, fixedrange=True)
    figure.update_yaxes(visible=False, range=y, fixedrange=True)
    figure.update_layout(margin={"l": 8, "r": 8, "t": 8, "b": 8}, showlegend=False)
    # A figure without a trace draws no axes to write on.
    figure.add_scatter(x=list(x), y=list(y), mode="markers", opacity=0, hoverinfo="skip")
    return figure


def _action(
    figure: go.Figure,
    card: RuleCard,
    action: int,
    left: float,
    right: float,
    y: float,
    tall: float = 0.3,
) -> None:
    """What to do, on the colour that the action has everywhere; the words tell it in grey too."""
    colour = ACTION_COLOURS[action % len(ACTION_COLOURS)]
    _box(figure, left, y - tall, right, y + tall, colour, INK)
    name = plain(action_name(card.action_labels[action]), LONGEST_ACTION)
    letters = LETTERS.get(colour, INK)
    _write(figure, (left + right) / 2, y, f"<b>{name}</b>", size=16, colour=letters)


def _box(
    figure: go.Figure,
    left: float,
    low: float,
    right: float,
    high: float,
    fill: str,
    line: str = LINE,
    width: float = 1.2,
) -> None:
    figure.add_shape(
        type="rect",
        x0=left,
        x1=right,
        y0=low,
        y1=high,
        fillcolor=fill,
        line={"color": line, "width": width},
    )


def _write(
    figure: go.Figure,
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    anchor: str = "center",
    colour: str = INK,
    ground: str | None = None,
) -> None:
    figure.add_annotation(
        x=x,
        y=y,
        text=text,
        showarrow=False,
        xanchor=anchor,
        font={"size": size, "color": colour},
        **({"bgcolor": ground} if ground else {}),
    )
