"""Figures of what was measured: each variable over time, its distribution, outcomes by action."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from smdp.data.describe import action_names
from smdp.data.measured import Measurement, measured_outcome
from smdp.data.over_time import Spans, course, few_people, spans
from smdp.data.study import Study
from smdp.figures.data import NO_CHOICE, over_decisions, subject_labels
from smdp.figures.style import ACTION_COLOURS, BLUE, GREY, NORMAL, SMALL, new_figure, plain
from smdp.text import decimals_for, percent, plain_number

BAND = "rgba(86,180,233,0.32)"  # seen on white and on dark pages
DASHES = ("solid", "dash", "dot", "dashdot")
#: More levels are drawn as a histogram; more bars have no number on them.
MOST_BARS, MOST_NUMBERED_BARS = 40, 12
#: An outcome with so few levels is drawn by the share of each.
FEW_LEVELS = 5
FEWEST_BINS, MOST_BINS = 8, 40
#: People with lines of their own; of long lines, fewer can be told apart.
FEW, FEWER, MANY_POINTS = 4, 2, 50
TALL = 400
#: Name, colour and values of each.
Groups: TypeAlias = Sequence[tuple[str, str, NDArray[np.float64]]]
NOT_AN_EFFECT = (
    "Plain means of the decisions with each action: not the effect of treatment, which the later "
    "pages estimate. Who was treated when may depend on how people were doing, and some people "
    "count more often than others."
)
BOXES = (
    "A box holds the middle half of the outcomes; its line is the median, the dashed one the mean; "
    "the whiskers end at the last outcome within one and a half lengths of the box."
)
NOTHING = "No value was observed."


def over_time_figure(study: Study, found: Measurement) -> go.Figure:
    """The mean over people at each decision with a band, and a few people's own lines.

    Of the action, the share of each among the decisions at which one was taken; likewise of the
    levels of a nominal variable.
    """
    figure = new_figure(height=TALL)
    together = spans(found.values.shape[1])
    if found.role == "action":
        names = action_names(study)
        _shares_over_time(figure, study.actions, names, together, "actions taken")
    elif found.named:
        names = [name for _, name in found.variable.levels]
        _shares_over_time(figure, found.values, names, together, "people")
    elif found.observed.any():
        _mean_over_time(figure, study, found)
    else:
        _say(figure, NOTHING)
    over_decisions(figure, together)
    return figure


def _mean_over_time(figure: go.Figure, study: Study, found: Measurement) -> None:
    seen = course(found)
    x = seen.spans.middle
    inside = np.isfinite(seen.low)
    two = found.variable.kind == "binary"
    band = "95 % interval of the share" if two else "middle 80 % of the people"
    for edge, name in ((seen.low, None), (seen.high, band)):
        figure.add_scatter(
            x=x[inside],
            y=edge[inside],
            mode="lines",
            line={"width": 0, "color": BLUE},
            fill=None if name is None else "tonexty",
            fillcolor=BAND,
            name=name or "",
            showlegend=name is not None,
            hoverinfo="skip",
        )
    names = subject_labels(study)
    many = len(x) > MANY_POINTS
    people = [] if two else few_people(seen.each, FEWER if many else FEW)
    for person, dash in zip(people, DASHES, strict=False):
        figure.add_scatter(
            x=x,
            y=seen.each[person],
            mode="lines+markers",
            line={"width": 1.3, "color": GREY, "dash": dash},
            marker={"size": 3, "color": GREY},
            name=f"subject {names[person]}",
            hovertemplate=f"Subject {names[person]}, decision %{{x}}: %{{y:.4~g}}<extra></extra>",
        )
    figure.add_scatter(
        x=x,
        y=seen.mean,
        mode="lines+markers",
        line={"width": 2.5, "color": BLUE},
        marker={"size": 5, "color": BLUE},
        name="mean of the people",
        customdata=seen.people,
        hovertemplate="Decision %{x}: mean %{y:.4~g} of %{customdata:,} people<extra></extra>",
    )
    figure.update_yaxes(title_text=_axis_title(found))


def _axis_title(found: Measurement) -> str:
    """Of two named values, which of them is up."""
    named = dict(found.variable.levels)
    if found.variable.kind == "binary" and set(named) == {0.0, 1.0}:
        return plain(f"{found.variable.name} (0 = {named[0.0]}, 1 = {named[1.0]})", 60)
    return plain(found.variable.title, 44)


def _shares_over_time(
    figure: go.Figure,
    codes: NDArray[np.generic],  # (n, R): of the names; none of them where there is no value
    names: Sequence[str],
    together: Spans,
    whole: str,
) -> None:
    taken = np.isin(codes, np.arange(len(names)))
    starts = together.first - 1
    count = np.add.reduceat(taken.sum(axis=0), starts)
    for k, name in enumerate(names):
        own = np.add.reduceat((codes == k).sum(axis=0), starts)
        share = np.divide(100 * own, count, out=np.full(len(own), np.nan), where=count > 0)
        colour = ACTION_COLOURS[k % len(ACTION_COLOURS)]
        figure.add_scatter(
            x=together.middle,
            y=share,
            mode="lines+markers",
            line={"width": 2.2, "color": colour, "dash": DASHES[k % len(DASHES)]},
            marker={"size": 5, "color": colour},
            name=plain(name),
            customdata=count,
            hovertemplate=f"Decision %{{x}}: {plain(name)} %{{y:.0f}} % of %{{customdata:,}}"
            "<extra></extra>",
        )
    figure.update_yaxes(title_text=f"Share of the {whole} (%)", range=[0, 102])


def distribution_figure(study: Study, found: Measurement) -> go.Figure:
    """How often each value occurs: bars for levels, a histogram for numbers."""
    values = found.values[found.observed & found.expected]
    figure = new_figure(height=TALL)
    whole = f"Share of {'people' if found.of_people else 'decisions'} (%)"
    if not len(values):
        _say(figure, NOTHING)
        return figure
    levels, counts = np.unique(values, return_counts=True)
    if found.role == "action":
        codes = np.arange(len(study.action_labels))
        counts = np.bincount(values.astype(np.int64), minlength=len(codes))
        colours = [ACTION_COLOURS[k % len(ACTION_COLOURS)] for k in codes]
        _named_bars(figure, [plain(name) for name in action_names(study)], counts, colours, whole)
    elif found.variable.kind == "continuous" or len(levels) > MOST_BARS:
        _histogram(figure, values, whole)
        figure.update_xaxes(title_text=plain(found.variable.title, 44))
    else:
        named = dict(found.variable.levels)
        names = [plain(named.get(float(v)) or plain_number(v)) for v in levels]
        if named:
            _named_bars(figure, names, counts, [BLUE] * len(names), whole)
            figure.update_yaxes(title_text=plain(found.variable.name, 40))
        else:
            _level_bars(figure, names, counts, whole)
            figure.update_xaxes(title_text=plain(found.variable.title, 44))
    return figure


def _named_bars(
    figure: go.Figure,
    names: Sequence[str],
    counts: NDArray[np.int64],
    colours: Sequence[str],
    whole: str,
) -> None:
    """Lying, for names are long."""
    share = 100 * counts / counts.sum()
    figure.add_bar(
        x=share,
        y=names,
        orientation="h",
        marker={"color": colours},
        **_numbers(counts),
        hovertemplate="%{y}: %{customdata:,} (%{x:.1f} %)<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title_text=whole, range=[0, 1.18 * share.max()])
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)


def _level_bars(
    figure: go.Figure, names: Sequence[str], counts: NDArray[np.int64], whole: str
) -> None:
    share = 100 * counts / counts.sum()
    figure.add_bar(
        x=names,
        y=share,
        marker={"color": BLUE},
        **_numbers(counts),
        hovertemplate="%{x}: %{customdata:,} (%{y:.1f} %)<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(type="category", showgrid=False)
    figure.update_yaxes(title_text=whole, range=[0, 1.12 * share.max()])


def _numbers(counts: NDArray[np.int64]) -> dict[str, object]:
    """What stands on the bars, as long as there is room."""
    few = len(counts) <= MOST_NUMBERED_BARS
    texts = [percent(count / max(counts.sum(), 1)) for count in counts]
    return {
        "text": texts if few else None,
        "textposition": "outside",
        "textfont": SMALL,
        "cliponaxis": False,
        "customdata": counts,
    }


def _histogram(figure: go.Figure, values: NDArray[np.float64], whole: str) -> None:
    bins = int(np.clip(2 * len(values) ** (1 / 3), FEWEST_BINS, MOST_BINS))  # Rice's rule
    counts, edges = np.histogram(values, bins=bins)
    ends = [f"{plain_number(a)} to {plain_number(b)}" for a, b in pairwise(edges)]
    figure.add_bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=100 * counts / counts.sum(),
        width=np.diff(edges),
        marker={"color": BLUE, "line": {"width": 0.5, "color": "rgba(255,255,255,0.6)"}},
        customdata=np.stack([np.array(ends, object), counts], axis=1),
        hovertemplate="%{customdata[0]}: %{customdata[1]:,} (%{y:.1f} %)<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(bargap=0)
    figure.update_yaxes(title_text=whole, rangemode="tozero")


def outcome_by_action_figure(study: Study) -> go.Figure:
    """The outcomes after each action, with their plain means: boxes, of few levels bars."""
    found = measured_outcome(study)
    seen = found.observed
    groups = [
        (name, ACTION_COLOURS[k % len(ACTION_COLOURS)], found.values[seen & (study.actions == k)])
        for k, name in enumerate(action_names(study))
    ]
    idle = found.values[seen & study.present & ~study.available]
    if len(idle):
        groups.append((NO_CHOICE, GREY, idle))
    figure = new_figure(height=max(300, 120 + 74 * len(groups)))
    if not seen.any():
        _say(figure, NOTHING)
        return figure
    if _has_few_levels(found):
        _level_shares(figure, groups, found)
    else:
        _boxes(figure, groups)
        figure.update_xaxes(title_text=plain(found.variable.title, 60))
    return figure


def outcome_by_action_note(study: Study) -> str:
    """How to read the figure, and how not to."""
    return NOT_AN_EFFECT if _has_few_levels(measured_outcome(study)) else f"{NOT_AN_EFFECT} {BOXES}"


def _has_few_levels(found: Measurement) -> bool:
    values = found.values[found.observed]
    return found.variable.kind != "continuous" and len(np.unique(values)) <= FEW_LEVELS


def _decimals(groups: Groups) -> int:
    """The same for all means, to be compared."""
    return decimals_for(float(np.concatenate([values for _, _, values in groups]).std()))


def _with_mean(name: str, values: NDArray[np.float64], decimals: int) -> str:
    mean = f"mean {plain_number(values.mean(), decimals)}, " if len(values) else ""
    return f"{plain(name)}<br>{mean}n = {len(values):,}"


def _boxes(figure: go.Figure, groups: Groups) -> None:
    decimals = _decimals(groups)
    for name, colour, values in groups:
        label = _with_mean(name, values, decimals)
        if not len(values):
            figure.add_scatter(x=[None], y=[label], mode="markers", showlegend=False)
            continue
        low, middle, high = np.percentile(values, [25, 50, 75])
        reach = 1.5 * (high - low)
        figure.add_box(
            y=[label],
            q1=[low],
            median=[middle],
            q3=[high],
            lowerfence=[values[values >= low - reach].min()],
            upperfence=[values[values <= high + reach].max()],
            mean=[values.mean()],
            orientation="h",
            name=plain(name),
            line={"color": colour, "width": 2},
            boxmean=True,
            showlegend=False,
        )
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False, tickfont=NORMAL)


def _level_shares(figure: go.Figure, groups: Groups, found: Measurement) -> None:
    levels, decimals = np.unique(found.values[found.observed]), _decimals(groups)
    named = dict(found.variable.levels)
    for name, colour, values in groups:
        counts = np.array([(values == level).sum() for level in levels])
        share = 100 * counts / max(len(values), 1)
        figure.add_bar(
            x=[plain(named.get(float(v)) or plain_number(v)) for v in levels],
            y=share,
            name=_with_mean(name, values, decimals).replace("<br>", ": "),
            marker={"color": colour},
            **_numbers(counts),
            hovertemplate=f"{plain(name)}, %{{x}}: %{{customdata:,}} (%{{y:.1f}} %)<extra></extra>",
        )
    figure.update_layout(barmode="group", height=TALL)
    figure.update_xaxes(title_text=plain(found.variable.title, 60), type="category", showgrid=False)
    figure.update_yaxes(title_text="Share of the decisions with this action (%)", range=[0, 108])


def _say(figure: go.Figure, text: str) -> None:
    """In place of what cannot be drawn."""
    figure.add_annotation(
        text=text, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False, font=NORMAL
    )
    figure.update_xaxes(showticklabels=False, showgrid=False)
    figure.update_yaxes(showticklabels=False, showgrid=False)
