"""The figures of the Data, Missing values and Rescaling pages show the study's own numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_studies import study_of

from smdp.data.column_roles import StateVariable
from smdp.data.impute import impute
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.rescale import rescale
from smdp.figures import data as data_figures
from smdp.figures import missing_values as missing_figures
from smdp.figures import rescaling as rescaling_figures

NAN = np.nan
MOOD, URGE = StateVariable("mood", "ordinal", 0, 10), StateVariable("urge", "ordinal", 1, 3)


@pytest.fixture
def study():
    """Two subjects of 4 and 3 decisions; mood misses two values, urge one."""
    mood = [[0, NAN, 4, 10], [1, 2, NAN, NAN]]
    urge = [[1, 2, 3, 1], [NAN, 2, 3, NAN]]
    return study_of(np.stack([mood, urge], axis=2), (MOOD, URGE), lengths=[4, 3])


@pytest.fixture
def complete():
    values = np.stack([[[0, 5, 5, 10]], [[1, 2, 3, 3]]], axis=2)
    return impute(study_of(values, (MOOD, URGE)))[0]


def names(figure) -> list[str]:
    return [trace.name for trace in figure.data if trace.name]


def test_every_decision_has_the_colour_of_its_action(study):
    actions = np.array([[0, 1, 1, -1], [1, -1, 0, -1]])
    available = study.available.copy()
    available[0, 3] = False
    figure = data_figures.decisions_figure(replace(study, actions=actions, available=available))
    heat = figure.data[0]
    # Two actions, then "no action possible", then "action missing"; nothing after the last row.
    np.testing.assert_array_equal(heat.z, [[0, 1, 1, 2], [1, 3, 0, NAN]])
    assert list(heat.x) == [1, 2, 3, 4]
    assert list(heat.y) == ["s0", "s1"]
    assert heat.customdata[1].tolist()[1:] == ["action missing", heat.customdata[0][0], "no row"]
    assert names(figure)[-2:] == ["no action possible", "action missing"]
    assert len(names(data_figures.decisions_figure(study))) == 2  # no word of what does not occur


def test_too_many_subjects_are_counted_and_not_named():
    many = study_of(np.zeros((46, 2, 1)), (MOOD,))
    axis = data_figures.decisions_figure(many).layout.yaxis
    assert axis.title.text == "46 subjects"
    assert not axis.showticklabels


def test_missing_values_by_decision_and_by_variable(study):
    heat = missing_figures.missing_heatmap(study).data[0]
    np.testing.assert_array_equal(heat.z, [[0, 50, 0, 0], [50, 0, 50, NAN]])
    bars = missing_figures.missing_by_variable(study).data[0]
    np.testing.assert_allclose(bars.x, [100 * 2 / 7, 100 / 7])
    assert list(bars.y) == ["mood", "urge"]
    assert list(bars.text) == ["28.6", "14.3"]


def test_who_is_left_out_stands_apart_and_the_limit_is_drawn(study):
    figure = missing_figures.exclusion_figure(study, 0.25, ["s1"])
    out, kept = figure.data
    assert (out.name, kept.name) == ("left out (1)", "kept (1)")
    assert (list(out.x), list(kept.x)) == (["s1"], ["s0"])
    np.testing.assert_allclose([out.y[0], kept.y[0]], [100 * 2 / 6, 100 / 8])
    assert list(figure.layout.xaxis.categoryarray) == ["s1", "s0"]  # the most first
    assert figure.layout.shapes[0].y0 == figure.layout.shapes[0].y1 == 25
    assert figure.layout.annotations[0].text == "limit 25 %"


def test_a_series_says_where_each_value_comes_from(study):
    settings = ImputationSettings()
    figure = missing_figures.series_figure(study, 1, 0, settings)
    kinds = {trace.name: list(trace.x) for trace in figure.data if trace.mode == "markers"}
    assert kinds == {"observed (2)": [1, 2], "imputed (0)": [], "extrapolated (1)": [3]}
    observed = next(trace for trace in figure.data if trace.name == "observed (2)")
    assert list(observed.y) == [1, 2]
    assert figure.layout.yaxis.title.text == "mood"
    first = missing_figures.series_figure(study, 0, 0, settings)
    assert "imputed (1)" in names(first)


def test_levels_are_dots_by_how_often_they_occur(complete):
    rescaled = rescale(complete)
    figure = rescaling_figures.levels_figure(rescaled)
    dots = {trace.y[0]: trace for trace in figure.data if trace.customdata is not None}
    values = rescaled.values[0]
    for column, name in enumerate(("mood", "urge")):
        levels, counts = np.unique(values[:, column], return_counts=True)
        np.testing.assert_array_equal(dots[name].x, levels)
        np.testing.assert_array_equal(dots[name].customdata[:, 0], counts)
        np.testing.assert_allclose(dots[name].customdata[:, 1], 25.0 * counts)
    assert dots[rescaled.reference].marker.color != dots["urge"].marker.color
    assert f"reference: {rescaled.reference}" in names(figure)
    assert list(figure.layout.yaxis.categoryarray) == ["urge", "mood"]


def test_each_value_becomes_its_level(complete):
    rescaled = rescale(complete)
    (dots,) = rescaling_figures.before_after_figure(complete, rescaled, "mood").data
    assert list(dots.x) == [0, 5, 10]
    assert list(dots.y) == [0, 0.5, 1]
    assert list(dots.customdata) == [1, 2, 1]
