"""The figures of the variables show the study's own numbers, whatever the study is like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_studies import study_of

from smdp.data.column_roles import StateVariable
from smdp.data.measured import measured, places
from smdp.data.variables import Variable
from smdp.figures.data import compliance_figure
from smdp.figures.measured import (
    distribution_figure,
    outcome_by_action_figure,
    outcome_by_action_note,
    over_time_figure,
)
from smdp.figures.style import ACTION_COLOURS
from smdp.words.figures import figure_words

NAN = np.nan


def trial(people=12, decisions=10, actions=3, variables=3, seed=0):
    """With gaps, unequal lengths, decisions without a choice, and a variable without a value."""
    random = np.random.default_rng(seed)
    values = random.normal(size=(people, decisions, variables))
    values[:, :, 0] = values[:, :1, 0]
    if variables > 1:
        values[:, :, 1] = NAN
    lengths = random.integers(decisions // 2, decisions + 1, people)
    lengths[0] = decisions
    made = study_of(values, [StateVariable(f"v{j}") for j in range(variables)], lengths)
    present = made.present & (random.random(made.present.shape) > 0.1)
    available = present & (random.random(made.present.shape) > 0.2)
    return replace(
        made,
        action_labels=("none", "message", "call")[:actions],
        values=np.where(present[:, :, None], made.values, NAN),
        present=present,
        available=available,
        actions=np.where(available, random.integers(0, actions, present.shape), -1),
        utilities=np.where(present, random.normal(size=present.shape), NAN),
        probabilities=np.full((*present.shape, actions), 1 / actions),
    )


def of(study, role, place=0):
    return measured(study, [p for p in places(study) if p.role == role][place])


@pytest.mark.parametrize(
    ("people", "decisions", "actions", "variables"),
    [(5, 3, 2, 1), (40, 300, 3, 4), (2000, 6, 2, 2), (6, 5, 3, 120)],
)
def test_every_study_can_be_drawn(people, decisions, actions, variables):
    study = trial(people, decisions, actions, variables)
    for place in places(study):
        found = measured(study, place)
        drawn = [distribution_figure(study, found)]
        if not found.of_people:
            drawn.append(over_time_figure(study, found))
        for figure in drawn:
            assert figure.data or figure.layout.annotations[0].text == "No value was observed."
            assert figure_words(figure)
    assert outcome_by_action_figure(study).data
    assert compliance_figure(study).data


def test_what_was_never_observed_says_so():
    study = trial()
    lost = of(study, "state")
    assert lost.variable.name == "v1"
    for figure in (over_time_figure(study, lost), distribution_figure(study, lost)):
        assert not figure.data
        assert figure.layout.annotations[0].text == "No value was observed."
    silent = replace(study, utilities=np.full(study.utilities.shape, NAN))
    assert not outcome_by_action_figure(silent).data


def test_mean_band_and_some_people_over_time():
    study = trial()
    figure = over_time_figure(study, of(study, "outcome"))
    lines = {trace.name: trace for trace in figure.data}
    np.testing.assert_allclose(
        lines["mean of the people"].y, np.nanmean(study.utilities, axis=0), atol=1e-12
    )
    assert "middle 80 % of the people" in lines
    assert sum(name.startswith("subject s") for name in lines) == 4
    assert figure.layout.yaxis.title.text == "utility"


def test_the_shares_of_the_actions_over_time_have_their_colours():
    study = trial()
    figure = over_time_figure(study, of(study, "action"))
    assert [t.name for t in figure.data] == ["none", "message", "call"]
    assert [t.line.color for t in figure.data] == list(ACTION_COLOURS[:3])
    np.testing.assert_allclose(np.sum([t.y for t in figure.data], axis=0), 100)


def test_numbers_have_a_histogram_and_levels_have_bars():
    study = trial()
    (bars,) = distribution_figure(study, of(study, "outcome")).data
    assert sum(bars.customdata[:, 1]) == np.isfinite(study.utilities).sum()
    assert sum(bars.y) == pytest.approx(100)
    levels = study_of([[[1], [2], [2]], [[3], [2], [NAN]]], [StateVariable("x", "ordinal")])
    (bars,) = distribution_figure(levels, of(levels, "state")).data
    assert (list(bars.x), list(bars.customdata)) == (["1", "2", "3"], [1, 3, 1])
    named = replace(
        levels, variables=(Variable("x", kind="ordinal", levels=((1, "a<b>"), (2, "b"))),)
    )
    (bars,) = distribution_figure(named, of(named, "state")).data
    assert list(bars.y) == ["a&lt;b&gt;", "b", "3"]
    assert list(bars.text) == ["20 %", "60 %", "20 %"]
    (bars,) = distribution_figure(study, of(study, "background")).data
    assert sum(bars.customdata[:, 1]) == 12  # people, not decisions


def test_outcomes_by_action_have_means_and_numbers():
    study = trial()
    figure = outcome_by_action_figure(study)
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert len(boxes) == 4
    everything = study.utilities[np.isfinite(study.utilities)]
    decimals = 2 if everything.std() >= 1 else 3  # the same for all
    for k, box in enumerate(boxes[:3]):
        own = study.utilities[study.actions == k]
        assert box.mean[0] == pytest.approx(own.mean())
        assert box.median[0] == pytest.approx(np.median(own))
        assert box.lowerfence[0] >= own.min()
        assert box.y[0].endswith(f"n = {len(own)}")
        assert f"mean {own.mean():.{decimals}f}" in box.y[0]
    assert boxes[3].name == "no action possible"
    assert "not the effect of treatment" in outcome_by_action_note(study)
    assert "box" in outcome_by_action_note(study)


def test_an_outcome_of_few_levels_has_the_share_of_each():
    study = trial(actions=2)
    two = replace(study, utilities=np.where(study.utilities > 0, 1.0, study.utilities * 0))
    figure = outcome_by_action_figure(two)
    assert [tuple(trace.x) for trace in figure.data] == [("0", "1")] * 3
    own = two.utilities[two.actions == 1]
    assert figure.data[1].y[1] == pytest.approx(100 * own.mean())
    assert figure.data[1].name.startswith("message: mean 0.")
    assert "box" not in outcome_by_action_note(two)


def test_an_action_that_was_never_taken_is_named_all_the_same():
    study = trial(actions=2)
    actions = np.where(study.actions == 1, 0, study.actions)
    figure = outcome_by_action_figure(replace(study, actions=actions))
    assert figure.data[1].y[0] == "message<br>n = 0"


def test_compliance_over_time():
    study = trial()
    figure = compliance_figure(study)
    lines = {trace.name: trace for trace in figure.data}
    assert list(lines) == ["still in the study", "with a row", "with the outcome"]
    np.testing.assert_allclose(lines["with a row"].y, 100 * study.present.mean(axis=0))
    equal = study_of(np.zeros((3, 4, 1)), [StateVariable("x")])
    assert len(compliance_figure(equal).data) == 2
