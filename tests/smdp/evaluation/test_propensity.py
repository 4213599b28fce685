"""Probabilities of treatment: used where known, estimated where not, refused where impossible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.value_rows import value_rows
from smdp.propensity import propensities
from smdp.simulation.generative_model import simulate


@pytest.fixture
def study() -> Trajectories:
    return simulate("linear", subjects=20, times=20, seed=4).select(["S1", "S2"])


def unknown(study: Trajectories) -> Trajectories:
    return replace(study, probabilities=np.full_like(study.probabilities, np.nan))


def randomised_by_state(actions: int, random: np.random.Generator) -> Trajectories:
    """Probabilities that rise with S1."""
    study = simulate("linear", subjects=40, times=40, seed=4).select(["S1", "S2"])
    strength = np.exp(study.states[:, :-1, :1] * np.arange(actions))
    given = strength / strength.sum(axis=2, keepdims=True)
    drawn = (random.random(study.actions.shape)[:, :, None] > given.cumsum(axis=2)).sum(axis=2)
    labels = tuple("abc"[:actions])
    return replace(study, actions=drawn, probabilities=given, action_labels=labels)


def found(study: Trajectories):
    return propensities(study, value_rows(study, study.variables), study.variables)


def test_known_probabilities_are_taken_as_they_are(study):
    assert (found(study).given == 0.5).all()
    assert found(study).notes == ()


@pytest.mark.parametrize("actions", [2, 3])
def test_the_logit_finds_how_the_trial_was_randomised(actions):
    study = randomised_by_state(actions, np.random.default_rng(1))
    estimated = found(unknown(study))
    assert estimated.estimated == 1
    assert "not given" in estimated.notes[0]
    known = study.probabilities.reshape(-1, actions)
    np.testing.assert_allclose(estimated.given.sum(axis=1), 1)
    assert np.abs(estimated.given - known).mean() < 0.02


def test_only_what_is_missing_is_estimated(study):
    some = study.probabilities.copy()
    some[:5] = np.nan
    mixed = found(replace(study, probabilities=some))
    assert mixed.estimated == pytest.approx(0.25)
    assert (mixed.given[100:] == 0.5).all()
    assert "25% of the decisions" in mixed.notes[0]


@pytest.mark.parametrize("actions", [2, 3])
def test_separation_gives_finite_probabilities_and_a_note(study, actions):
    taken = np.digitize(study.states[:, :-1, 0], [-0.2, 0.2][: actions - 1])
    labels = tuple("abc"[:actions])
    given = np.full((*taken.shape, actions), np.nan)
    apart = replace(study, actions=taken, probabilities=given, action_labels=labels)
    estimated = found(apart)
    assert np.isfinite(estimated.given).all()
    assert (estimated.given > 0).all()
    assert "no finite answer" in estimated.notes[1]


def test_variables_that_repeat_each_other_do_not_stop_it(study):
    twice = unknown(replace(study, states=study.states[:, :, [0, 0]]))
    assert np.isfinite(found(twice).given).all()


def test_no_choice_has_no_probability(study):
    available = np.ones_like(study.available)
    available[:, 3] = False
    rows = value_rows(replace(study, available=available), study.variables)
    known = propensities(replace(study, available=available), rows, study.variables)
    assert np.isnan(known.given[rows.level == 2]).all()
    assert (known.of_taken(rows.level)[rows.level == 2] == 1).all()


def test_an_action_that_was_impossible_is_refused_by_name(study):
    given = study.probabilities.copy()
    taken = study.actions[2, 7]
    given[2, 7] = np.eye(2)[1 - taken]
    with pytest.raises(
        DataError, match=f"'{taken}' of subject '3' at decision 8 had probability 0"
    ):
        found(replace(study, probabilities=given))


@pytest.mark.parametrize(("values", "message"), [((-0.1, 1.1), "is -0.1"), ((0.5, 0.6), "up to 1")])
def test_impossible_probabilities_are_refused_by_name(study, values, message):
    given = study.probabilities.copy()
    given[4, 1] = values
    with pytest.raises(DataError, match="of subject '5' at decision 2") as caught:
        found(replace(study, probabilities=given))
    assert message in str(caught.value)


def test_an_action_that_nobody_received_is_refused(study):
    with pytest.raises(DataError, match="Nobody received the action '1'"):
        value_rows(replace(study, actions=np.zeros_like(study.actions)), study.variables)
