"""Change over the study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_process import process

from smdp.data.variables import Variable
from smdp.evaluation.trial_effects import trial_summary
from smdp.markov.markov_check import check_markov
from smdp.markov.markov_settings import MarkovSettings

QUICK = MarkovSettings(most=0, draws=199)


def test_what_never_changes_is_seldom_said_to_change():
    found = [check_markov(process(100 + s, gaps=True, own_levels=0.5), QUICK) for s in range(20)]
    assert sum(each.process_changes for each in found) <= 4
    assert sum(each.effect_changes for each in found) <= 4


def test_an_effect_that_falls_is_found_and_drawn():
    found = check_markov(process(4, people=30, times=40, fall=2.0), QUICK)
    assert found.effect_changes
    assert found.process_changes
    curve = found.effect
    assert curve["decision"].iloc[[0, -1]].tolist() == [1, 40]
    assert curve["estimate"].iloc[0] > 0.5 > -0.3 > curve["estimate"].iloc[-1]
    assert (curve["lower"] < curve["estimate"]).all()


def test_a_drift_is_of_the_process_not_of_the_effect():
    found = check_markov(process(6, people=30, times=40, drift=1.5), QUICK)
    assert found.process_changes
    assert not found.effect_changes


def test_with_the_decision_number_in_the_state_a_drift_is_no_change():
    plain = process(6, people=30, times=40, drift=1.5)
    clock = np.broadcast_to(np.arange(1.0, 42.0)[None, :, None], (30, 41, 1))
    wide = replace(
        plain,
        states=np.concatenate([plain.states, clock], axis=2),
        variables=(*plain.variables, "decision"),
        about=(*plain.about, Variable("decision", comes_from="decision number")),
    )
    found = check_markov(wide, QUICK)
    assert found.time_in_state
    assert not found.process_changes


def test_people_who_leave_early_and_differ_are_no_change():
    """Those with a low level leave: the mean of those who are left rises, and nobody changes."""
    plain = process(8, people=30, times=40)
    level = np.linspace(-2, 2, 30)
    stays = np.arange(40) < np.linspace(12, 40, 30)[:, None]
    gone = replace(plain, utilities=plain.utilities + level[:, None], valid=stays)
    assert not check_markov(gone, QUICK).process_changes


def test_the_average_of_the_curve_is_the_trials_average_effect():
    data = process(9, people=30, times=40)
    whole = trial_summary(data).effects["estimate"].iloc[0]
    assert check_markov(data, QUICK).effect["estimate"].mean() == pytest.approx(whole, abs=0.12)


def test_estimated_probabilities_are_told():
    data = process(10)
    unknown = replace(data, probabilities=np.full_like(data.probabilities, np.nan))
    assert check_markov(unknown, QUICK).estimated == 1
