"""The Screening page's figures."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from smdp.figures.screening import (
    MOST_ROWS,
    growth_figure,
    pooled_figure,
    screening_figure,
    strength_figure,
)
from smdp.figures.screening_paths import MOST_ASIDE, paths_figure
from smdp.report.figure_data import figure_data
from smdp.report.greyscale import to_greyscale
from smdp.screening_paths import UTILITY
from tests.screened import screened, with_arrows


def test_the_axis_is_read_in_p_values():
    table = pd.DataFrame(
        {"p_value": [0.012, 0.3, 1.0], "round": [1, None, None]}, index=["stress", "age", "sleep"]
    )
    result = SimpleNamespace(table=table, settings=SimpleNamespace(level=0.1))
    figure = pooled_figure(result)
    axis = figure.layout.xaxis
    assert axis.ticktext == ("1", ".5", ".2", ".1", ".05", ".02", ".01")
    np.testing.assert_allclose(10 ** -np.array(axis.tickvals), [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01])


def texts(figure):
    return [note.text for note in figure.layout.annotations]


def test_every_variable_has_its_strength_and_p_value():
    result = screened()
    figure = strength_figure(result)
    shown = {name: x for trace in figure.data for name, x in zip(trace.y, trace.x, strict=True)}
    assert shown == result.table["strength"].to_dict()
    assert len(texts(figure)) == len(result.table) + 1
    data = figure_data(figure)
    assert (data["x lower"] <= data["x"]).all()
    assert (data["x"] <= data["x upper"]).all()
    assert figure.data[0].name == f"kept ({len(result.selected)})"


def test_what_was_not_tested_is_said():
    figure = strength_figure(screened(force_in=("S8",), force_out=("S7",)))
    assert {"kept by hand", "left out by hand"} <= set(texts(figure))


def test_all_forced_still_draws():
    names = tuple(f"S{k}" for k in range(1, 9))
    result = screened(force_in=names)
    assert texts(screening_figure(result)).count("kept by hand") == 8
    assert paths_figure(result) is None
    assert list(growth_figure(result).data[0].y) == [8]


def test_of_many_variables_those_kept_and_the_strongest_are_shown():
    result = screened()
    weak = result.table[result.table["status"] == "not selected"].iloc[[0] * 256]
    weak.index = [f"noise{k}" for k in range(256)]
    weak = weak.assign(strength=np.linspace(0, 0.1, 256))
    figure = strength_figure(replace(result, table=pd.concat([result.table, weak])))
    shown = [name for trace in figure.data for name in trace.y]
    assert len(shown) == MOST_ROWS
    assert set(result.selected) < set(shown)
    assert "noise255" in shown
    hidden = len(result.table) + 256 - MOST_ROWS
    assert f"not shown: {hidden} that were not kept" in figure.layout.xaxis.title.text


def names_at(figure):
    trace = next(trace for trace in figure.data if trace.name == "names")
    return {name: (x, y) for name, x, y in zip(trace.text, trace.x, trace.y, strict=True)}


def test_the_graph_has_what_leads_to_the_utility_beside_it():
    result = with_arrows(
        screened(),
        {("a", UTILITY): 0.001, ("a", "b"): 0.9, ("a", "a"): 0.001,
         ("b", UTILITY): 0.5, ("b", "a"): 0.001, ("b", "b"): 0.7},
    )  # fmt: skip
    figure = paths_figure(result)
    places = names_at(figure)
    assert places["utility"][0] == 0
    assert places["a"][0] == -1
    assert places["b"][0] == -2
    assert figure.layout.xaxis.ticktext == ("through one other", "directly", "the outcome")
    arrows = [trace for trace in figure.data if trace.marker.symbol == "arrow"]
    assert {trace.text[0] for trace in arrows} == {"a → utility: p = .001", "b → a: p = .001"}
    assert [trace.name for trace in figure.data if "lasts" in (trace.name or "")]


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_the_graph_is_calm(count):
    names = [f"a variable with a rather long name {k}" for k in range(count)]
    arrows = dict.fromkeys(product(names, [UTILITY, *names]), 0.001)
    figure = paths_figure(with_arrows(screened(), arrows))
    places = names_at(figure)
    assert len(places) == count + 1
    assert len(set(places.values())) == count + 1
    drawn = [trace for trace in figure.data if trace.marker.symbol == "arrow"]
    assert len(drawn) <= count + MOST_ASIDE
    if count * (count - 1) > MOST_ASIDE:
        assert f"{count * (count - 1)} further arrows" in figure.layout.xaxis.title.text
    assert len(to_greyscale(figure).data) == len(figure.data)


def test_a_name_is_never_markup():
    figure = paths_figure(with_arrows(screened(), {("<b>x</b>", UTILITY): 0.5,
                                                   ("<b>x</b>", "<b>x</b>"): 0.5}))  # fmt: skip
    assert "&lt;b&gt;x&lt;/b&gt;" in names_at(figure)


def test_the_set_ends_with_those_kept():
    for result in (screened(), screened(method="rounds"), screened(level=0.5)):
        assert growth_figure(result).data[0].y[-1] == len(result.selected)
