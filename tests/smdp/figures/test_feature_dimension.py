"""The figures of the Feature dimension page show the candidates of one pass."""

from __future__ import annotations

import numpy as np
import pytest
from small_candidates import ROWS, with_tried, without_value

from smdp.figures import feature_dimension as dimension_figures

CANDIDATES = ((1, 0.0, True), (2, 0.03, True), (3, 0.4, False))


NOTHING = (float("nan"), -np.inf)


@pytest.fixture
def plain_map(hand_made):
    return hand_made([[1.0, 0.5], [0.0, 1.0]], ("stress", "mood"))


def left_and_right(figure):
    """The traces of each panel by their names."""
    right = [trace.yaxis == "y2" for trace in figure.data]
    return [
        {
            trace.name: trace
            for trace, on_right in zip(figure.data, right, strict=True)
            if on_right == side
        }
        for side in (False, True)
    ]


def test_the_exact_and_the_practical_question_side_by_side(plain_map):
    fitted = with_tried(plain_map)
    figure = dimension_figures.dimension_figure(fitted, 1)
    exact, practical = left_and_right(figure)
    assert list(exact["does not pass"].x) == [1, 2, 3]
    assert list(exact["passes"].x) == [4]
    assert list(exact["passes"].customdata) == ["p = .21"]
    assert list(practical["does not pass"].x) == [1]
    assert list(practical["passes"].x) == [2, 3, 4]
    # More than 100 % is shown as it is.
    np.testing.assert_allclose(practical["passes"].y, [97.4, 101, 102])
    np.testing.assert_allclose(practical["at least (one-sided)"].y, [41, 95.3, 97, 98])
    for panel in (exact, practical):
        assert list(panel["chosen"].x) == [2]
    assert [shape.y0 for shape in figure.layout.shapes] == [0.05, 95]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    shown = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert shown == ["does not pass", "passes", "chosen", "at least (one-sided)"]


def test_bounds_that_are_none_go_to_the_edge(plain_map):
    rows = ((1, 0.0, 0.3, -np.inf), (2, 0.4, 1.7, 0.96))
    fitted = with_tried(
        plain_map, rows, 2, "exact", share_low=[-np.inf, 0.94], share_high=[np.inf, 2.5]
    )
    figure = dimension_figures.dimension_figure(fitted, 1)
    low, high = figure.layout.yaxis2.range
    assert low < 30
    assert high > 170
    _, practical = left_and_right(figure)
    ends = np.reshape(practical["95 % interval"].y, (2, 3))[:, :2]
    np.testing.assert_allclose(ends, [[low, high], [94, high]])
    further = {tuple(t.x): t.marker.symbol for t in figure.data if t.name == "goes on"}
    assert further == {(1,): "triangle-down", (1, 2): "triangle-up"}
    assert np.isnan(practical["at least (one-sided)"].y[0])
    assert "no bound" in practical["does not pass"].customdata[0]


def test_where_the_state_explains_nothing_that_is_written(plain_map):
    fitted = with_tried(plain_map, ((1, 0.01, *NOTHING), (2, 0.4, *NOTHING)), 2, "exact")
    figure = dimension_figures.dimension_figure(fitted, 1)
    exact, practical = left_and_right(figure)
    assert list(exact["chosen"].x) == [2]
    assert practical == {}
    assert any("No answer" in each.text for each in figure.layout.annotations)


def test_a_choice_by_practice_alone_needs_no_p_value(plain_map):
    fitted = with_tried(plain_map, p_exact=np.nan, rejected=False)
    exact, practical = left_and_right(dimension_figures.dimension_figure(fitted, 1))
    assert len(exact["p-value"].x) == 0
    assert list(practical["chosen"].x) == [2]


def test_what_is_explained_out_of_fold(plain_map):
    state, features = dimension_figures.loss_figure(with_tried(plain_map), 1).data
    assert state.name == "full state"
    np.testing.assert_allclose(state.y, 30)
    np.testing.assert_allclose(features.y, [30 * share for _, _, share, _ in ROWS])


def test_what_a_decision_costs_by_number_of_features(plain_map):
    figure = dimension_figures.value_figure(with_tried(plain_map), 1)
    cost, chosen = figure.data
    assert list(cost.x) == [1, 2, 3, 4]
    np.testing.assert_allclose(cost.y[:2], [0.06, 0.02])
    np.testing.assert_allclose(cost.error_y.array, 0.03)
    np.testing.assert_allclose(cost.error_y.arrayminus, 0.03)
    assert cost.customdata[1] == "0.020 (-0.010 to 0.050), same choice at 93 %"
    assert list(chosen.x) == [2]
    assert [shape.y0 for shape in figure.layout.shapes] == [0]


def test_where_no_cost_is_known_there_is_no_figure_of_it(plain_map, fitted):
    assert dimension_figures.value_figure(without_value(with_tried(plain_map)), 1) is None
    assert dimension_figures.value_figure(with_tried(plain_map, value_lost=np.nan), 1) is None
    assert dimension_figures.value_figure(fitted, 1) is None
    some = with_tried(plain_map, value_lost=[0.06, np.nan, 0.01, 0.0])
    cost, chosen = dimension_figures.value_figure(some, 1).data
    assert list(cost.x) == [1, 3, 4]
    assert list(chosen.x) == []


def test_many_dimensions_have_few_ticks(plain_map):
    rows = [(q, 0.01, 0.5, 0.4) for q in (1, 2, 3, 30)]
    axis = dimension_figures.dimension_figure(with_tried(plain_map, rows, 30), 1).layout.xaxis2
    assert axis.dtick == 3


@pytest.fixture
def fitted(hand_made):
    made = hand_made(
        [[1.0, 0.5], [0.0, 1.0], [0.2, 0.1]], ("stress", "mood"), candidates=CANDIDATES
    )
    tried = made.candidates
    tried["cv_loss"], tried["refit_loss"] = [1.5, 1.2, 1.1], [1.4, 1.0, 0.9]
    return made


def test_an_earlier_result_has_both_tests_the_level_and_the_choice_are_drawn(fitted):
    figure = dimension_figures.dimension_figure(fitted, 1)
    lines = {trace.name: trace for trace in figure.data}
    assert list(lines) == ["relative test (decides)", "absolute test", "chosen"]
    for name in ("relative test (decides)", "absolute test"):
        assert list(lines[name].x) == [1, 2, 3]
        # On a logarithmic axis a p-value of 0 has its place at the lower end.
        np.testing.assert_allclose(lines[name].y, [1e-4, 0.03, 0.4])
    assert list(lines["chosen"].x) == [3]
    assert list(lines["chosen"].y) == [0.4]
    assert figure.layout.shapes[0].y0 == fitted.settings.level
    assert figure.layout.annotations[0].y == pytest.approx(np.log10(fitted.settings.level))


def test_another_pass_has_nothing_of_this_one(fitted):
    figure = dimension_figures.dimension_figure(fitted, 2)
    assert [len(trace.x) for trace in figure.data] == [0, 0]


def test_an_earlier_result_has_the_loss_before_and_after_the_refit(fitted):
    selecting, used = dimension_figures.loss_figure(fitted, 1).data
    assert list(selecting.y) == [1.5, 1.2, 1.1]
    assert list(used.y) == [1.4, 1.0, 0.9]
    assert used.name == "as used"
