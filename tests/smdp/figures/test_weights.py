"""The figures of the Weights page show the numbers, their order and how sure they are."""

import numpy as np
import pytest

from smdp.data.variables import BACKGROUND, CHANGING, Variable
from smdp.figures.weights import feature_bars, norms_figure, shown_weights, weights_heatmap
from smdp.simulation.generative_model import simulate

ABOUT = (Variable("age", changes=False), Variable("urge").back(1))
NAMES = ("urge_lag1", "urge", "mood", "age")
WEIGHTS = [[0.9, -0.2, 0.0, 0.4], [0.1, 0.8, 0.0, -0.001]]


@pytest.fixture
def fitted(hand_made):
    return hand_made(WEIGHTS, NAMES, about=ABOUT)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("by size", ["urge_lag1", "urge", "age", "mood"]),
        ("by group", ["age", "urge", "mood", "urge_lag1"]),
        ("by name", ["age", "mood", "urge", "urge_lag1"]),
        ("as in the data", list(NAMES)),
    ],
)
def test_orders(fitted, order, names):
    assert list(shown_weights(fitted, order, False)) == names
    assert "mood" not in shown_weights(fitted, order, True)  # exactly zero


def test_groups_come_from_what_the_data_do():
    study = simulate("linear", noise=3, subjects=4, times=5, seed=0)
    assert study.variable("C1").group == BACKGROUND  # constant in time
    assert study.variable("S1").group == CHANGING


def test_marks_say_whether_the_sign_holds(fitted, steady):
    stability = steady(fitted, [[1.0, 0.79, 1.0, 0.8], [0.1, 1.0, 1.0, 1.0]])
    figure = weights_heatmap(fitted, "as in the data", False, stability=stability)
    text = np.array(figure.data[0].text)
    assert text.tolist() == [
        ["0.90 ●", "-0.20 ○", "0", "0.40 ●"],
        ["0.10 ○", "0.80 ●", "0", "0.00 ●"],
    ]
    assert "● same sign in at least 80 % of 10 refits" in figure.layout.xaxis.title.text
    without = weights_heatmap(fitted, "as in the data", False)
    assert not any("●" in cell for row in without.data[0].text for cell in row)


def test_a_feature_that_few_refits_have_is_not_sure_of_its_signs(fitted, steady):
    stability = steady(fitted, np.ones((2, 4)), refits=3)
    figure = weights_heatmap(fitted, stability=stability)
    assert not any("●" in cell for row in figure.data[0].text for cell in row)


def test_bars_have_intervals_and_the_names_of_groups(fitted, steady):
    stability = steady(fitted, np.ones((2, 4)))
    figure = feature_bars(fitted, "feature 1", "by group", True, stability)
    bars, intervals = figure.data
    assert list(bars.y) == ["age", "urge", "urge_lag1"]
    assert list(intervals.x[:2]) == pytest.approx([0.3, 0.5])
    assert [row for row in figure.layout.yaxis.categoryarray if "<b>" in row] == [
        "<b>background</b>",
        "<b>changing</b>",
        "<b>earlier values</b>",
    ]
    assert len(feature_bars(fitted, "feature 1").data) == 1


def test_numbers_and_marks_only_while_they_fit(hand_made, steady):
    def texts(count):
        names = tuple(f"variable {j}" for j in range(count))
        wide = hand_made([[0.5] * count], names)
        stability = steady(wide, [[1.0] * count])
        return set(weights_heatmap(wide, stability=stability).data[0].text[0])

    assert texts(12) == {"0.50<br>●"}
    assert texts(20) == {"●"}
    assert texts(60) == {""}


def test_deep_maps_show_gradients_and_norms_under_their_names(hand_made):
    deep = hand_made(WEIGHTS, NAMES, deep=True)
    assert "average gradient" in weights_heatmap(deep).layout.xaxis.title.text
    assert feature_bars(deep, "feature 1").layout.xaxis.title.text.startswith("Average gradient")
    norms = norms_figure(deep)
    assert "first layer" in norms.layout.xaxis.title.text
    assert list(norms.data[0].x) == pytest.approx(sorted(np.linalg.norm(WEIGHTS, axis=0))[:0:-1])
