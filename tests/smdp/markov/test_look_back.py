"""The ladder of look-backs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_process import process

from smdp.independence.people import people_rows
from smdp.markov.known_state import with_history, without_known
from smdp.markov.look_back import Forward
from smdp.markov.markov_check import check_markov
from smdp.markov.markov_settings import MarkovSettings

QUICK = MarkovSettings(most=2, draws=199)


@pytest.mark.parametrize("back", [0, 1, 2])
def test_the_look_back_that_is_needed_is_found(back):
    found = [check_markov(process(40 + s, back=back), QUICK) for s in range(4)]
    assert [each.look_back for each in found].count(back) >= 3
    assert all((each.look_back or 0) >= back for each in found)


def test_the_same_with_three_actions_gaps_and_unequal_lengths():
    found = check_markov(
        process(3, people=24, times=40, actions=3, back=1, gaps=True), MarkovSettings(most=1)
    )
    assert found.look_back == 1
    assert found.decisions < found.all_decisions
    assert found.left_out == ()


def test_own_levels_of_people_are_told_from_a_look_back():
    """Without the baseline variable, by which a flexible regression can tell who is who."""
    found = []
    for s in range(4):
        data = process(60 + s, people=30, times=40, own_levels=1.2).select(["mood", "weekend"])
        found.append(check_markov(data, MarkovSettings(most=1)))
    assert [each.look_back for each in found].count(0) <= 1, "the past tells who a person is"
    assert [each.own_look_back for each in found].count(0) >= 3


def test_of_an_order_that_is_not_markov_nothing_is_enough():
    found = check_markov(process(5, back=2), MarkovSettings(most=1))
    assert found.look_back is None
    assert found.offers == ()
    assert found.longest == 1


def test_a_look_back_that_the_state_holds_is_not_asked_for_again():
    plain = process(41, back=1)
    lagged = plain.states[:, :-1, :1]
    wide = replace(
        plain,
        states=np.concatenate([plain.states[:, 1:], lagged], axis=2),
        actions=plain.actions[:, 1:],
        utilities=plain.utilities[:, 1:],
        valid=plain.valid[:, 1:],
        available=plain.available[:, 1:],
        probabilities=plain.probabilities[:, 1:],
        variables=(*plain.variables, "mood_lag1"),
        about=(*plain.about, plain.about[0].back(1)),
    )
    found = check_markov(wide, QUICK)
    assert found.look_back == 0
    assert found.state_look_back == 1


def test_baseline_variables_and_the_decision_number_have_nothing_earlier():
    times = np.arange(1.0, 26.0)
    plain = process(7)
    clock = np.broadcast_to(times[None, :, None], (16, 25, 1))
    wide = replace(
        plain,
        states=np.concatenate([plain.states, clock], axis=2),
        variables=(*plain.variables, "decision"),
        about=(),
    )
    history = with_history(wide, 2, 8)
    assert history is not None
    known = history.known(0)
    assert known.shape[1] == 4
    assert history.earlier(1, known).shape[1] == 3  # mood, weekend, and which of two actions


def test_columns_that_never_change_or_repeat_others_are_left_out():
    x = np.random.default_rng(0).normal(size=(50, 2))
    columns = np.column_stack([np.ones(50), 3 - 2 * x[:, 0], x[:, 1], x[:, 1]])
    assert without_known(columns, x[:, :1]).shape == (50, 1)


def test_from_each_row_the_mean_of_the_later_ones_is_taken():
    rows = people_rows(process(1, people=6, times=5), 0)
    value = rows.time[:, None].astype(float)
    found = Forward(rows)(value)[:, 0]
    last, first = found[rows.time == 4], found[rows.time == 0]
    assert np.allclose(last, 0)
    assert np.allclose(first, (0 - 2.5) * np.sqrt(4 / 5))


def test_too_long_a_ladder_is_shortened():
    found = check_markov(process(2, times=6), MarkovSettings(most=10, draws=99))
    assert found.longest < 5
