"""The figures of the Feature dimension page show the candidates of one pass."""

from __future__ import annotations

import numpy as np
import pytest

from smdp.figures import feature_dimension as dimension_figures

CANDIDATES = ((1, 0.0, True), (2, 0.03, True), (3, 0.4, False))


@pytest.fixture
def fitted(hand_made):
    made = hand_made(
        [[1.0, 0.5], [0.0, 1.0], [0.2, 0.1]], ("stress", "mood"), candidates=CANDIDATES
    )
    tried = made.candidates
    tried["cv_loss"], tried["refit_loss"] = [1.5, 1.2, 1.1], [1.4, 1.0, 0.9]
    return made


def test_both_tests_the_level_and_the_choice_are_drawn(fitted):
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


def test_the_loss_before_and_after_the_refit(fitted):
    selecting, used = dimension_figures.loss_figure(fitted, 1).data
    assert list(selecting.y) == [1.5, 1.2, 1.1]
    assert list(used.y) == [1.4, 1.0, 0.9]
    assert used.name == "as used"
