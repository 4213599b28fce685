"""What is said of a feature map is what was found."""

from dataclasses import replace

import pandas as pd

from smdp.data.variables import Variable
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.progress import Message
from smdp.words.feature_map import (
    check_feature_map,
    describe_feature_map,
    dimensions_so_far,
    feature_map_summary,
    stopped_notice,
)
from smdp.words.weights import describe_stability, describe_weights, stability_table

NAMES = ("stress", "mood")
PASSED = ((1, 0.001, True), (2, 0.3, False))


def test_the_smallest_that_is_not_rejected(hand_made):
    fitted = hand_made([[1.0, 0.0], [0.2, -0.5]], NAMES, candidates=PASSED)
    text = " ".join(describe_feature_map(fitted))
    assert "2 features made of 2 of 2 variables" in text
    assert "Dimension 2 is the smallest that the relative test does not reject" in text
    assert feature_map_summary(fitted) == "dimension 2, p = .30"
    assert check_feature_map(fitted) == []
    alone = replace(fitted, candidates=fitted.candidates[1:])
    assert "no smaller one was tried" in " ".join(describe_feature_map(alone))


def test_a_dimension_by_hand_is_not_said_to_be_the_smallest(hand_made):
    fitted = hand_made(
        [[1.0, 0.5]],
        NAMES,
        candidates=((1, 0.01, True),),
        settings=FeatureMapSettings(dimensions=(1,), reason="one score for the clinic"),
    )
    text = " ".join(describe_feature_map(fitted))
    assert "Dimension 1 was set by hand; no other was tried." in text
    assert "rejects it at level 0.05 (p = .010)" in text
    assert "smallest" not in text


def test_stopped_early_is_said_once_and_first(hand_made):
    left_out = "The network of dimension 3 was left out."
    fitted = hand_made([[1.0, 0.5]], NAMES, candidates=PASSED, complete=False, notes=(left_out,))
    assert stopped_notice(fitted).startswith("Stopped after pass 1; not iterated to the end.")
    assert [problem.message for problem in check_feature_map(fitted)] == [left_out]
    assert feature_map_summary(fitted).endswith("stopped after pass 1")
    assert stopped_notice(replace(fitted, complete=True)) == ""


def test_all_rejected_is_one_warning(hand_made):
    fitted = hand_made([[1.0, 0.5]], NAMES, candidates=((1, 0.001, True),))
    assert feature_map_summary(fitted) == "dimension 1, rejected (p = .001)"
    found = check_feature_map(fitted)
    assert [problem.severity for problem in found] == ["warning"]
    assert found[0].remedy


def test_a_pass_before_the_last_in_which_all_were_rejected_is_a_note(hand_made):
    fitted = hand_made([[1.0, 0.5]], NAMES, candidates=((1, 0.3, False),))
    earlier = fitted.candidates.assign(dimension=2, rejected=True)
    last = fitted.candidates.assign(**{"pass": 2})
    both = replace(fitted, candidates=pd.concat([earlier, last], ignore_index=True))
    (found,) = check_feature_map(both)
    assert found.severity == "note"
    assert "In pass 1 every dimension tried was rejected at level 0.05; the largest, 2" in str(
        found
    )


def test_what_a_fit_says_while_it_runs():
    heard = [
        Message("Pass 1: tuning dimensions 1 to 3", pass_number=1),
        Message("A", pass_number=1, tested_dimension=1, p_value=0.001, rejected=True),
        "Pass 1: dimension 2 rejected, p = 0.0010",  # words alone are not read
        Message("B", pass_number=2, tested_dimension=2, p_value=0.21, rejected=False),
    ]
    assert dimensions_so_far(heard) == [
        "Pass 1, dimension 1: rejected (p = .001)",
        "Pass 2, dimension 2: not rejected (p = .21)",
    ]


def test_directions_of_one_layer_and_of_a_deep_map(hand_made):
    weights = [[1.0, -0.8], [0.01, 0.02]]
    one = " ".join(describe_weights(hand_made(weights, NAMES)))
    assert "Feature 1 is large at high stress, at low mood." in one
    deep = hand_made([[1.0, 0.01]], NAMES, deep=True)
    norms = deep.column_norms.copy()
    norms["mood"] = 0.9
    text = " ".join(describe_weights(replace(deep, column_norms=norms)))
    assert "on average largest at high stress" in text
    assert "mood: large norm, yet hardly any average gradient" in text


def test_yes_or_no_is_not_high_or_low(hand_made):
    fitted = hand_made([[1.0, -0.8]], NAMES)
    binary = replace(fitted, about=(Variable("stress", kind="binary", low=0.0, high=1.0),))
    assert "Feature 1 is large when stress is 1, at low mood." in describe_weights(binary)


def test_a_test_that_contradicts_the_one_that_decides_is_said(hand_made):
    fitted = hand_made([[1.0, 0.0], [0.2, -0.5]], NAMES, candidates=PASSED)
    silent = " ".join(describe_feature_map(fitted))
    assert "which does not decide here" not in silent
    other = replace(fitted, candidates=fitted.candidates.assign(p_absolute=0.013))
    said = " ".join(describe_feature_map(other))
    assert "The absolute test, which does not decide here, would reject it (p = .013)" in said


def test_stability_counts_weights_whose_sign_holds(hand_made, steady):
    fitted = hand_made([[1.0, 0.5], [0.0, 0.3]], NAMES, candidates=PASSED)
    stability = steady(fitted, [[1.0, 0.5], [1.0, 0.9]])
    text = " ".join(describe_stability(stability))
    assert "2 of 3 weights had the same sign" in text
    assert "beside its bar" not in text
    table = stability_table(stability)
    assert table["same sign (% of refits)"].tolist() == [100, 50, 100, 90]
    moved = replace(stability, weights=stability.weights.assign(lower=2.0, upper=3.0))
    stopped = " ".join(describe_stability(replace(moved, complete=False)))
    assert "beside its bar" in stopped
    assert "Stopped before all the refits" in stopped
