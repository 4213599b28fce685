"""Figures of the Screening page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from smdp.data.outcome import UTILITY_NAME, OutcomeName
from smdp.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SEQUENTIAL,
    SKY,
    SMALL,
    VERMILION,
    colour_bar,
    labels,
    new_figure,
    plain,
)
from smdp.screening import ScreeningResult
from smdp.text import interval_text, p_text

ROUND_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
SMALLEST_SHOWN = 1e-3
P_TICKS = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001)


#: Of the figure of strengths; with more, a page is no longer read at a glance.
MOST_ROWS = 25
MOST_LISTED = 12
#: By status, as the legend calls it: colour and mark.
LOOKS = {
    "selected": ("kept", BLUE, "circle"),
    "not needed": ("not needed", ORANGE, "diamond-open"),
    "not selected": ("not found", GREY, "circle-open"),
}
NOT_TESTED = {
    "forced in": "kept by hand",
    "forced out": "left out by hand",
    "cannot be tested": "cannot be tested",
    "says the same": "a copy",
}


def screening_figure(result: ScreeningResult, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """The main figure: strengths where people were the sample, else pooled p-values."""
    return strength_figure(result, outcome) if result.by_person else pooled_figure(result)


def strength_figure(result: ScreeningResult, outcome: OutcomeName = UTILITY_NAME) -> go.Figure:
    """How strongly each variable goes with the utility, and what became of it."""
    table = _most_telling(result.table)
    figure = new_figure(height=max(300, 140 + 24 * len(table)))
    label = labels(table.index)
    for status, (name, colour, symbol) in LOOKS.items():
        rows = table[table["status"] == status]
        if not len(rows):
            continue
        count = int((result.table["status"] == status).sum())
        value = rows["strength"].to_numpy(dtype=float)
        p_texts = [p_text(p) for p in rows["family_p"]]
        figure.add_scatter(
            x=value,
            y=[label[n] for n in rows.index],
            mode="markers",
            name=f"{name} ({count})",
            text=p_texts,
            marker={
                "color": colour,
                "symbol": symbol,
                "size": 10,
                "line": {"width": 2, "color": colour},
            },
            error_x={
                "array": rows["strength_high"].to_numpy(dtype=float) - value,
                "arrayminus": value - rows["strength_low"].to_numpy(dtype=float),
                "symmetric": False,
                "color": colour,
                "thickness": 1.5,
                "width": 0,
            },
            customdata=[
                interval_text(*ends)
                for ends in zip(value, rows["strength_low"], rows["strength_high"], strict=True)
            ],
            hovertemplate="%{y}: %{customdata}, %{text}<extra></extra>",
        )
    beside = {"xref": "paper", "x": 1, "xanchor": "left", "showarrow": False, "font": SMALL}
    for name, row in table.iterrows():
        told = NOT_TESTED.get(row["status"]) or p_text(row["family_p"])
        figure.add_annotation(text=told, y=label[name], xshift=10, **beside)
    figure.add_annotation(
        text="<b>p in its round</b>", yref="paper", y=1, yanchor="bottom", xshift=10, **beside
    )
    figure.update_layout(margin_r=128)
    figure.update_xaxes(
        title_text=f"Strength: distance correlation with {plain(outcome.the, 40)} (0: none), 95 % "
        "interval" + _left_out(result.table, table),
        range=[-0.01, min(1.01, 0.05 + _largest(table))],
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(label.values())[::-1],
        range=[-0.6, len(table) - 0.4],
    )
    return figure


def _most_telling(table: pd.DataFrame) -> pd.DataFrame:
    """All variables, or those kept and the strongest others."""
    if len(table) <= MOST_ROWS:
        return table
    kept = table["status"].isin(["selected", "forced in"]).to_numpy()
    rest = table[~kept].sort_values("strength", ascending=False, kind="stable")
    chosen = set(rest.index[: max(MOST_ROWS - int(kept.sum()), 10)])
    return table[[k or name in chosen for k, name in zip(kept, table.index, strict=True)]]


def _largest(table: pd.DataFrame) -> float:
    ends = table[["strength", "strength_high"]].to_numpy(dtype=float)
    return float(np.nanmax(ends, initial=0.2))


def _left_out(every: pd.DataFrame, shown: pd.DataFrame) -> str:
    hidden = every.loc[~every.index.isin(shown.index)]
    if not len(hidden):
        return ""
    largest = hidden["strength"].max()
    told = "" if np.isnan(largest) else f", none stronger than {largest:.2f}"
    return f"<br>not shown: {len(hidden)} that were not kept{told}"


def pooled_figure(result: ScreeningResult) -> go.Figure:
    """How clearly each variable depends on what comes next, and in which round it entered."""
    table = result.table[result.table["p_value"].notna()]
    figure = new_figure(height=max(360, 120 + 24 * len(table)))
    label = labels(table.index)
    rounds = table["round"].astype(object).where(table["round"].notna(), None)
    for number in [*sorted({r for r in rounds if r is not None}), None]:
        rows = table[[r == number for r in rounds]]
        name = f"entered in round {number}" if number is not None else "not kept"
        colour = GREY if number is None else ROUND_COLOURS[(int(number) - 1) % len(ROUND_COLOURS)]
        figure.add_bar(
            x=-np.log10(rows["p_value"].to_numpy(dtype=float)),
            y=[label[n] for n in rows.index],
            orientation="h",
            name=f"{name} ({len(rows)})",
            marker={"color": colour, "pattern": {"shape": "" if number is not None else "/"}},
            customdata=[p_text(p) for p in rows["p_value"]],
            hovertemplate="%{y}: pooled %{customdata}<extra></extra>",
        )
    level = -np.log10(result.settings.level)
    figure.add_vline(
        x=level,
        line={"dash": "dash", "width": 1.5, "color": GREY},
        annotation={
            "text": f"level {result.settings.level:g}",
            "font": {"size": 12},
            "y": 0,
            "yanchor": "bottom",
            "xshift": 4,
        },
    )
    figure.update_layout(barmode="overlay", bargap=0.3)
    shown = [p for p in P_TICKS if p >= table["p_value"].min() / 2]
    figure.update_xaxes(
        title_text="pooled p-value, on a log scale (longer: clearer)",
        tickvals=[-np.log10(p) for p in shown],
        ticktext=[f"{p:g}".lstrip("0") for p in shown],
    )
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=list(label.values())[::-1],
        showgrid=False,
    )
    return figure


def time_heatmap(result: ScreeningResult, number: int) -> go.Figure:
    """The p-value of each variable at each decision, in one round."""
    chosen = result.rounds[number - 1]
    ranked = chosen.pooled.sort_values(kind="stable").index
    p_values = chosen.p_values.loc[ranked]
    figure = new_figure(height=max(340, 110 + 20 * len(ranked)))
    figure.add_heatmap(
        z=-np.log10(np.clip(p_values.to_numpy(dtype=float), SMALLEST_SHOWN, 1)),
        x=list(p_values.columns),
        y=list(labels(ranked).values()),
        zmin=0,
        zmax=3,
        colorscale=SEQUENTIAL,
        xgap=1 if p_values.shape[1] <= 120 else 0,
        ygap=1,
        customdata=np.vectorize(lambda p: p_text(p) if np.isfinite(p) else "not tested")(p_values),
        colorbar=colour_bar(
            "p-value", tickvals=[0, 1, 2, 3], ticktext=["1", ".1", ".01", "≤ .001"]
        ),
        hovertemplate="%{y}, decision %{x}: %{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text="Decision number", showgrid=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return figure


def growth_figure(result: ScreeningResult) -> go.Figure:
    """How many variables were in the set after each round, and which came and went."""
    steps, sets = ["start"], [list(result.settings.force_in)]
    for each in result.rounds:
        if each.stage == "earlier":
            steps.append("earlier treatments")
            sets.append(list(result.selected))
            continue
        if each.stage == "closure" and steps[-1] != "closure":
            steps.append("closure")
            sets.append(list(each.outcome))
        elif each.stage not in ("closure", "return"):
            steps.append(f"round {each.number}")
            sets.append(list(sets[-1]))
        elif each.stage == "closure" and not set(sets[-1]) <= set(each.outcome):
            sets[-1] = list(each.outcome)  # closed once more, from fewer variables
        sets[-1] += each.joined
    figure = new_figure(height=260)
    figure.add_bar(
        x=steps,
        y=[len(names) for names in sets],
        marker={"color": BLUE},
        text=[len(names) for names in sets],
        textposition="outside",
        cliponaxis=False,
        customdata=[
            "<br>".join(_came_and_went(before, after))
            for before, after in zip([[], *sets[:-1]], sets, strict=True)
        ],
        hovertemplate="%{x}: %{y} in the set%{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text="", type="category", showgrid=False)
    figure.update_yaxes(title_text="Variables in the set", rangemode="tozero")
    return figure


def _came_and_went(before: Sequence[str], after: Sequence[str]) -> list[str]:
    came = [name for name in after if name not in before]
    went = [name for name in before if name not in after]
    changes = (("joined", came), ("went", went))
    return ["", *(f"{what}: {_listed(names)}" for what, names in changes if names)]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(plain(name) for name in names[:MOST_LISTED]) + more
