"""Figures of what treatment did."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.evaluation.trial_effects import trial_summary
from smdp.figures.effects import TITLES, effect_figures, figure_words
from smdp.simulation.generative_model import simulate
from smdp.text import p_text
from smdp.words.effects import Telling


@pytest.fixture(scope="module")
def study():
    return simulate("linear", subjects=14, times=8, seed=0).select(["S1", "S2"])


def lines(figure):
    return {
        trace.y[0]: tuple(trace.x)
        for trace in figure.data
        if trace.mode == "lines" and len(trace.x) == 2
    }


def test_average_with_its_interval_and_moderators(study):
    summary = trial_summary(study, moderators=["S1"])
    figures = effect_figures(summary)
    assert list(figures) == list(TITLES)
    drawn = lines(figures["average"])
    names = list(drawn)
    assert names[1].endswith("change with S1")
    assert names[2].endswith("all moderators 0")
    ends = tuple(summary.effects.loc[0, ["lower", "upper"]])
    assert drawn[names[0]] == pytest.approx(ends)


def test_ratios_stand_around_one_on_a_logarithmic_axis(study):
    random = np.random.default_rng(0)
    counts = random.poisson(np.where(study.actions == 1, 4, 2)).astype(float)
    summary = trial_summary(replace(study, utilities=counts), kind="count")
    figure = effect_figures(summary)["average"]
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.shapes[0].x0 == 1
    (interval,) = lines(figure).values()
    assert interval == pytest.approx(tuple(np.exp(summary.effects[["lower", "upper"]].iloc[0])))
    assert "Ratio of means" in figure.layout.xaxis.title.text


def test_the_forest_has_each_variable_at_two_values(study):
    summary = trial_summary(study)
    forest = effect_figures(summary)["by-variable"]
    assert len(lines(forest)) == 4
    assert figure_words("by-variable", Telling(observed=True))[0].startswith("The difference")


def test_each_action_has_its_own_p_value_in_the_forest():
    random = np.random.default_rng(0)
    shape = (20, 15)
    x, actions = random.normal(size=(20, 16, 1)), random.integers(0, 3, shape)
    data = Trajectories(
        states=x,
        actions=actions,
        utilities=2 * x[:, :-1, 0] * (actions == 2) + random.normal(size=shape),
        valid=np.ones(shape, bool),
        available=np.ones(shape, bool),
        probabilities=np.full((*shape, 3), 1 / 3),
        variables=("x",),
        subjects=tuple(map(str, range(20))),
        action_labels=("none", "call", "message"),
    )
    summary = trial_summary(data)
    forest = effect_figures(summary)["by-variable"]
    told = " ".join(note.text for note in forest.layout.annotations)
    first = summary.by_variable.drop_duplicates("action").set_index("action")["p_value"]
    assert first["message"] < 0.001 < first["call"]
    assert all(p_text(p) in told for p in first)
