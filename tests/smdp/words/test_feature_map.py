"""What is said of a feature map is what was found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_candidates import ROWS, with_tried, without_value

from smdp.data.variables import Variable
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.progress import Message
from smdp.words.feature_map import (
    candidate_table,
    check_feature_map,
    describe_feature_map,
    dimension_caption,
    dimensions_so_far,
    error_caption,
    feature_map_summary,
    pass_table,
    result_for_methods,
    stopped_notice,
    value_caption,
)
from smdp.words.weights import describe_stability, describe_weights, stability_table

NAMES = ("stress", "mood")
BY_EXACT = FeatureMapSettings(choose_by="exact")
PASSED = ((1, 0.001, True), (2, 0.3, False))


NOTHING = (float("nan"), -np.inf)


@pytest.fixture
def plain_map(hand_made):
    return hand_made([[1.0, 0.0], [0.2, -0.5]], NAMES)


def said(fitted):
    return " ".join(describe_feature_map(fitted))


def messages(fitted):
    return [f"{each.severity}: {each}" for each in check_feature_map(fitted)]


def test_enough_in_practice_with_the_exact_answer_beside_it(plain_map):
    fitted = with_tried(plain_map)
    text = said(fitted)
    assert (
        "2 features are enough in practice: they keep 97 % (at least 95 %) of what the state says "
        "of the outcome. Exactly, 4 would be needed (p = .21)." in text
    )
    assert "not of what a policy earns" in text
    assert "it does not see spreads" in text
    assert "Not rejected is not proven" not in text
    assert feature_map_summary(fitted) == "dimension 2, keeps 97 %"
    assert check_feature_map(fitted) == []
    assert result_for_methods(fitted) == (
        "Result: 2 features, the smallest number that was practically sufficient (exact test: "
        "p = .004; share kept: 97 % (at least 95 %)). Judged doubly robustly on held-out people "
        "(Dudík et al., 2011), one decision by these features instead of the full state cost 0.020 "
        "(-0.010 to 0.050) of the utility and of later ones, discounted by 0.9."
    )


def test_a_variable_of_several_columns_is_counted_once(plain_map):
    fitted = with_tried(plain_map)
    about = tuple(
        replace(variable, whole="weather", whole_kind="nominal", part=variable.name)
        for variable in fitted.about
    )
    assert "instead of the one variable costs" in said(replace(fitted, about=about))


def test_what_a_decision_by_the_features_costs(plain_map):
    fitted = with_tried(plain_map)
    text = said(fitted)
    assert (
        "One decision by these 2 features instead of all 7 variables costs 0.020 (-0.010 to 0.050) "
        "of the outcome, now and later (discount 0.9); both choose the same at 93 % of decisions. "
        "Whether anything is lost is open." in text
    )
    assert "What a policy earns that goes by the features throughout is said on the page" in text
    table = candidate_table(fitted)
    assert table["cost a decision (95 % interval)"][0] == "0.060 (0.030 to 0.090)"
    assert list(table["same choice"]) == ["87 %", "93 %", "95 %", "96 %"]
    assert "is open" not in said(with_tried(plain_map, chosen=1))
    better = with_tried(plain_map, value_lost_low=-0.4, value_lost=-0.3, value_lost_high=-0.2)
    assert "with all variables a policy seems to overfit" in said(better)
    same = with_tried(plain_map, same_choice=1.0, value_lost=0.0)
    assert "the same treatment is chosen at every decision" in said(same)
    assert "discount 0.9" in value_caption(fitted)


def test_a_result_that_does_not_know_the_cost_says_nothing_of_it(plain_map):
    for fitted in (
        without_value(with_tried(plain_map)),
        with_tried(plain_map, value_lost=np.nan, same_choice=np.nan),
    ):
        assert "costs" not in said(fitted)
        assert "Dudík" not in result_for_methods(fitted)
        assert not [title for title in candidate_table(fitted) if "cost" in title]
    some = candidate_table(with_tried(plain_map, value_lost=[np.nan, 0.0, 0.0, 0.0]))
    assert some["same choice"][0] == "no answer"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ((4, 0.01, 1.02, 0.98), "The exact test rejects every number up to 4 (p = .004)."),
        ((7, 1.0, 1.0, 0.98), "Exactly, it would take as many features as variables: 7."),
    ],
)
def test_what_the_exact_test_says_beside_a_practical_choice(plain_map, last, expected):
    assert expected in said(with_tried(plain_map, (*ROWS[:3], last)))


def test_a_number_that_is_only_just_rejected(plain_map):
    rows = (*ROWS[:2], (3, 0.02, 1.0, 0.97), (7, 1.0, 1.0, 0.98))
    fitted = with_tried(plain_map, rows, 3, "least rejected")
    text = said(fitted)
    assert (
        "3 features are enough in practice: they keep 100 % (at least 97 %) of what the state says "
        "of the outcome. The exact test rejects every number that was tried of fewer features than "
        "variables, this one only just (p = .020)." in text
    )
    assert "In practice 2 would be enough: they keep 97 % (at least 95 %)." in text
    assert feature_map_summary(fitted).endswith(", rejected (p = .020)")
    assert "practically sufficient and only just rejected" in result_for_methods(fitted)


def test_both_say_the_same_number(plain_map):
    text = said(with_tried(plain_map, (ROWS[0], (2, 0.3, 0.98, 0.96))))
    assert "The exact test does not reject that number either (p = .30)." in text
    assert "Not rejected is not proven" in text


def test_not_rejected_with_what_is_kept_beside_it(plain_map):
    rows = (ROWS[0], (2, 0.004, 0.8, 0.7), (3, 0.21, 0.99, 0.969))
    fitted = with_tried(plain_map, rows, 3, "exact")
    text = said(fitted)
    assert (
        "3 is the smallest number of features that the exact test does not reject at level 0.05 "
        "(p = .21). They keep 99 % (at least 96 %) of what the state says of the outcome." in text
    )
    assert "Not rejected is not proven" in text
    assert "the features' own next values" in text
    assert feature_map_summary(fitted).endswith(", p = .21")
    alone = said(with_tried(plain_map, rows[2:], 3, "exact"))
    assert "no smaller one was tried" in alone


def test_not_rejected_but_perhaps_not_enough(plain_map):
    rows = ((1, 0.21, 0.97, 0.949), (2, 0.4, 1.0, 0.96))
    text = said(with_tried(plain_map, rows, 1, "exact"))
    # 94.9 is not at least 95.
    assert (
        "It keeps 97 % (at least 94 %) of what the state says of the outcome: a loss of more than "
        "5 % cannot be ruled out. Ruling that out would take 2 features." in text
    )


def test_the_exact_answer_where_fewer_would_be_enough(plain_map):
    fitted = with_tried(plain_map, chosen=4, by="exact", settings=BY_EXACT)
    text = said(fitted)
    assert "In practice 2 would be enough: they keep 97 % (at least 95 %)." in text
    assert "They keep 102 % (at least 98 %)" in text
    assert "more than all, since the network that has the full state predicts worse" in text


def test_as_many_features_as_variables_need_no_test(plain_map):
    rows = ((1, 0.01, 0.5, 0.3), (2, 1.0, 0.9, 0.8))
    text = said(with_tried(plain_map, rows, 2, "exact", kept_count=2))
    assert "2 features: as many as variables, enough by definition; the exact test rejects" in text
    assert "Not rejected is not proven" not in text


def test_all_rejected_and_none_enough_is_a_warning(plain_map):
    fitted = with_tried(plain_map, ((1, 0.001, 0.3, 0.1), (2, 0.02, 0.8, 0.7)), 2, "largest")
    none = "Every number of features that was tried is rejected at level 0.05, and none is enough"
    assert f"{none} in practice: 2 is the largest (p = .020), not one that passed." in said(fitted)
    (found,) = messages(fitted)
    assert found.startswith(f"warning: {none}")
    assert "deeper map" in found
    assert feature_map_summary(fitted) == "dimension 2, rejected (p = .020)"
    assert "none having passed" in result_for_methods(fitted)
    practical = replace(fitted.settings, choose_by="practical")
    (found,) = messages(replace(fitted, settings=practical))
    assert "No number of features that was tried is enough in practice" in found


def test_a_number_set_by_hand(plain_map):
    by_hand = FeatureMapSettings(dimensions=(2,), reason="two for a figure")
    good, little, bad = (
        with_tried(plain_map, (row,), 2, "by hand", settings=by_hand)
        for row in ((2, 0.3, 0.98, 0.96), (2, 0.01, 0.98, 0.96), (2, 0.01, 0.8, 0.7))
    )
    assert "2 features were set by hand; no other number was tried." in said(good)
    assert "does not reject that number at level 0.05 (p = .30): a smaller number" in said(good)
    assert feature_map_summary(good) == "dimension 2, p = .30"
    assert feature_map_summary(little) == "dimension 2, keeps 98 %"
    assert messages(good) == messages(little) == []
    assert "rejects that number" in said(bad)
    assert "a loss of more than 5 % cannot be ruled out" in said(bad)
    (found,) = messages(bad)
    assert "set by hand is rejected and not enough in practice" in found
    fewer = replace(by_hand, dimensions=(3,))
    assert "3 features were set by hand, but only 2 variables were left" in said(
        replace(good, settings=fewer)
    )


@pytest.mark.parametrize(
    ("row", "by_state", "why"),
    [
        ((1, 0.3, *NOTHING), -0.01, "the state explains nothing of the outcome"),
        ((1, 0.3, 0.8, -np.inf), 0.02, "the state explains 2 % of the outcome"),
    ],
)
def test_a_state_that_says_nothing_leaves_the_practical_question_open(
    plain_map, row, by_state, why
):
    fitted = with_tried(plain_map, (row,), 1, "exact", explained_by_state=by_state)
    assert f"How much is kept in practice cannot be said: {why}" in said(fitted)
    (found,) = messages(fitted)
    assert found.startswith("warning: Whether the features are enough in practice has no answer")
    assert why in found
    assert candidate_table(fitted)["at least"].tolist() == ["no bound"]


def test_one_layer_that_may_not_be_enough(plain_map):
    fitted = with_tried(plain_map, chosen=4, by="exact", p_form=0.003)
    (found,) = messages(fitted)
    assert found.startswith("note: One layer may not be enough (p = .003)")
    assert "Untick 'Interpretable: one layer'" in found
    assert messages(with_tried(plain_map, p_form=0.003)) == []  # rejected: another matter
    assert messages(with_tried(plain_map, chosen=4, by="exact", p_form=0.3)) == []


def test_tables_in_readable_words(plain_map):
    fitted = with_tried(
        plain_map,
        (*ROWS[:2], (3, 0.0, *NOTHING)),
        p_form=[0.2, np.nan, np.nan],
        share_low=[-np.inf, 0.948, np.nan],
        share_high=[np.inf, 1.0, np.nan],
    )
    table = candidate_table(fitted)
    assert table["exact test"].tolist() == ["p = .001", "p = .004", "p < .001"]
    assert table["is one layer enough?"].tolist() == ["p = .20", "not tested", "not tested"]
    assert table["share kept"].tolist() == ["62 %", "97 %", "no answer"]
    assert table["95 % interval"].tolist() == ["no bound", "95 % to 100 %", ""]
    assert table["at least"].tolist() == ["41 %", "95 %", "no bound"]
    assert table["enough in practice"].tolist() == ["no", "yes", "no"]
    assert table["chosen"].tolist() == ["", "enough in practice", ""]
    assert not {"absolute test", "relative test", "error as used"} & set(table)
    (row,) = pass_table(fitted).to_dict("records")
    assert row["variables in"] == 7
    assert row["share kept"] == "97 %"
    assert row["chosen"] == "enough in practice"
    assert "95 %" in dimension_caption(fitted)
    assert "full state" in error_caption(fitted)


def test_results_chosen_by_one_tests_are_shown_as_before(hand_made):
    fitted = hand_made([[1.0, 0.0], [0.2, -0.5]], NAMES, candidates=PASSED)
    steps = fitted.steps.assign(variables_count=2, kept="stress, mood")
    assert candidate_table(fitted)["relative test"].tolist() == ["p = .001", "p = .30"]
    assert pass_table(replace(fitted, steps=steps))["relative test"].tolist() == ["p = .30"]
    assert result_for_methods(fitted) == "Result: dimension 2, p = .30 (not rejected)."
    assert dimension_caption(fitted).startswith("Small p-values reject a dimension")
    assert "next state" in error_caption(fitted)


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
        settings=FeatureMapSettings(
            dimensions=(1,), reason="one score for the clinic", test="relative"
        ),
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
        Message(
            "C", pass_number=2, tested_dimension=3, p_value=0.3, rejected=False, share_kept=0.97
        ),
    ]
    assert dimensions_so_far(heard) == [
        "Pass 1, dimension 1: rejected (p = .001)",
        "Pass 2, dimension 2: not rejected (p = .21)",
        "Pass 2, dimension 3: not rejected (p = .30), keeps 97 %",
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
