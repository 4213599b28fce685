"""Figures of the Policy page show the numbers, and no interval that is not trusted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smdp.data.outcome import OutcomeName
from smdp.evaluation.placebo import PlaceboCheck
from smdp.explanation.recommendations import ABSTAINED
from smdp.figures.policy import (
    methods_figure,
    placebo_figure,
    positivity_figure,
    value_figure,
)
from smdp.figures.recommendations import group_figure, time_figure
from tests.small_values import value_of


def intervals(figure):
    return {trace.y[0]: tuple(trace.x) for trace in figure.data if trace.mode == "lines"}


def dots(figure):
    return {trace.y[0]: trace for trace in figure.data if trace.mode == "markers"}


def test_values_with_intervals_the_chosen_policy_first():
    values = {"linear": value_of(), "neural": value_of((3.0, 2.4, 2.0, 2.9))}
    figure = value_figure(values, "neural")
    rows = [trace.y[0] for trace in figure.data if trace.mode == "markers"]
    assert rows == [
        "neural policy", "linear policy", "as in the study", "always action 0", "always action 1",
    ]  # fmt: skip
    assert intervals(figure)["neural policy"] == pytest.approx((2.7, 3.3))
    assert dots(figure)["linear policy"].x == (3.2,)
    assert figure.layout.annotations[0].text == "3.00 (2.70 to 3.30)"
    assert "later decisions counting less" in figure.layout.xaxis.title.text
    low, high = figure.layout.xaxis.range
    assert low < 1.7
    assert high > 3.5


def test_values_of_another_discount_do_not_stand_beside_these():
    values = {"linear": value_of(), "neural": replace(value_of(), discount=0.3)}
    figure = value_figure(values, "linear")
    assert "neural policy" not in dots(figure)
    assert figure.layout.xaxis.title.text.endswith("Not here, for another discount: neural")


def test_names_and_numbers_have_room():
    """Several policies of one kind differ in the middle of their names; an axis' title is whole."""
    kinds = {f"linear (discount {d}) policy"[:-7]: value_of() for d in (0.5, 0.95)}
    rows = dots(value_figure(kinds, "linear (discount 0.5)"))
    assert [f"linear (discount {d}) policy" in rows for d in (0.5, 0.95)] == [True, True]
    long = OutcomeName("n" * 300)
    title = value_figure({"linear": value_of()}, "linear", long).layout.xaxis.title.text
    assert max(map(len, title.split("<br>"))) <= 80
    assert title.endswith("(discount 0.9)")
    far = value_of((-12345.67891, -12345.7, -12346.1, -12345.5))
    figure = value_figure({"linear": far}, "linear")
    assert figure.layout.margin.r >= 7.5 * max(len(a.text) for a in figure.layout.annotations)


def test_no_interval_is_drawn_where_none_is_trusted():
    figure = value_figure({"linear": value_of(untrusted=["always 0"])}, "linear")
    assert "always action 0" not in intervals(figure)
    assert dots(figure)["always action 0"].marker.symbol == "circle-open"
    assert "2.00, no interval" in [a.text for a in figure.layout.annotations]


def test_other_estimators_are_marked_as_diagnostics():
    figure = methods_figure(value_of(), "linear")
    assert [t.name for t in figure.data] == [
        "doubly robust",
        "fitted-Q evaluation (diagnostic)",
        "weighted importance sampling (diagnostic)",
    ]
    assert all(symbol.endswith("-open") for symbol in figure.data[2].marker.symbol)
    assert np.allclose(figure.data[2].error_x.array, 0)
    assert "3.0 effective subjects" in figure.data[2].customdata[0]


def shares(groups):
    rows = [
        {"group": g, "decisions": 10, "no_choice": 1, "action": a, "share": s, "taken": 0.5}
        for g in groups
        for a, s in (("0", 0.5), ("1", 0.3), (ABSTAINED, 0.2))
    ]
    return pd.DataFrame(rows)


def test_shares_over_time_are_stacked_to_a_hundred():
    frame = shares([1, 4]).rename(columns={"group": "first"})
    frame.insert(1, "last", frame["first"] + 2)
    figure = time_figure(frame)
    assert [t.name for t in figure.data] == ["action 0", "action 1", ABSTAINED]
    assert np.sum([t.y for t in figure.data], axis=0).tolist() == [100, 100]
    assert figure.data[0].x.tolist() == [2, 5]
    assert "3 at a time" in figure.layout.xaxis.title.text
    assert figure.data[2].marker.pattern.shape == "/"


def test_shares_by_group_carry_their_numbers():
    figure = group_figure(shares(["low <b>", "high"]), "stress")
    assert tuple(figure.data[0].y) == ("low &lt;b&gt;", "high")
    assert tuple(figure.data[1].text) == ("30 %", "30 %")


def test_positivity_from_the_least_probability_to_the_share_taken():
    figure = positivity_figure(value_of(), 0.05)
    assert tuple(figure.data[1].x) == (0.02, 0.4)
    assert figure.layout.shapes[0].x1 == 0.05


def test_placebo_gains_and_the_true_one():
    check = PlaceboCheck(1.2, np.array([0.1, -0.2, 0.1]), np.zeros(3, dtype=bool), 0.95, 0)
    figure = placebo_figure(check)
    assert sorted(figure.data[0].x) == [-0.2, 0.1, 0.1]
    assert max(figure.data[0].y) == 2  # equal ones are heaped
    assert tuple(figure.data[1].x) == (1.2, 1.2)
    nothing = PlaceboCheck(0.0, np.zeros(3), np.zeros(3, dtype=bool), 0.95, 0)
    assert np.isfinite(placebo_figure(nothing).layout.xaxis.range).all()


def test_long_names_of_actions_stay_apart():
    value = value_of()
    long = [f"a message about walking to the park, sent in the {when}" for when in ("am", "pm")]
    renamed = dict(zip(["always 0", "always 1"], [f"always {name}" for name in long], strict=True))
    value = replace(
        value,
        table=value.table.replace({"policy": renamed}),
        positivity=value.positivity.assign(action=long),
    )
    rows = [t.y[0] for t in value_figure({"linear": value}, "linear").data if t.mode == "markers"]
    assert len(set(rows)) == 4
    assert max(map(len, rows)) <= 40
    assert len({t.y[0] for t in positivity_figure(value, 0.05).data}) == 2
