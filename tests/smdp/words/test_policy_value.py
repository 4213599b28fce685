"""What is said of a policy's value: the numbers, the doubt, and what it does not say."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.placebo import PlaceboCheck
from smdp.evaluation.value import evaluate_policy
from smdp.policy.decision_rule import Reason
from smdp.simulation.generative_model import simulate
from smdp.text import interval_text
from smdp.words.placebo import check_placebo, describe_placebo
from smdp.words.policy_value import (
    check_value,
    decimals,
    describe_value,
    difference_words,
    evaluation_summary,
    gain_sentence,
    observational_notice,
    policy_label,
    positivity_words,
    value_words,
    without_interval,
)
from tests.small_values import value_of


def test_numbers_show_two_figures_of_their_error():
    assert interval_text(0.42, 0.18, 0.66) == "0.42 (0.18 to 0.66)"
    assert interval_text(0.42, np.nan, np.nan) == "0.42"
    assert [decimals([e]) for e in (0.067, 0.45, 4.5, 45, np.nan, 0)] == [3, 2, 1, 0, 2, 2]


def test_summary_for_the_sidebar():
    assert evaluation_summary([value_of()]) == "value 3.2 (2.9 to 3.5), observed 2.4"
    assert evaluation_summary([value_of()] * 2, "linear").startswith("linear 3.2 (2.9 to 3.5)")
    unsure = evaluation_summary([value_of(untrusted=["learned"])])
    assert unsure == "value 3.2, no interval, observed 2.4"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (value_of(), ["0.80 (0.40 to 1.20) more", "excludes zero"]),
        (value_of((2.0, 2.8, 2, 2)), ["0.80 (0.40 to 1.20) less", "excludes zero"]),
        (value_of(gain_error=0.6), ["0.80 (-0.40 to 2.00)", "includes zero", "does not tell"]),
        (value_of(untrusted=["learned"]), ["0.80 more", "no interval", "3.0 subjects' worth"]),
    ],
)
def test_gain_over_what_was_done(value, words):
    sentence = gain_sentence(value, "linear")
    assert sentence.startswith("The linear policy")
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("always", "ending"),
    [
        (2.0, "The interval excludes zero."),
        (2.9, "Whether it does better than 'always action 1' the study does not tell."),
        (4.5, "But 'always action 1' does better."),
    ],
)
def test_a_gain_is_not_told_without_a_fixed_treatment_that_may_do_as_well(always, ending):
    assert gain_sentence(value_of((3.2, 2.4, 2.0, always)), "linear").endswith(ending)


def test_sentences_say_what_they_do_not_say():
    text = " ".join(describe_value(value_of(), "neural", {int(Reason.UNCERTAIN): 0.25}))
    assert "the neural policy would earn 3.20 (2.90 to 3.50)" in text
    assert "later decisions counting less" in text
    assert "a tenth decision counts 39 % as much" in text
    assert "'always action 1': the policy's difference to it is 0.30 (-0.10 to 0.70)" in text
    assert "At 25 % of the decisions with a choice there is no recommendation" in text
    assert "nobody in the study followed this policy" in text
    assert "overlap" not in text


def test_overlapping_intervals_with_a_clear_difference_are_explained():
    value = value_of(error=0.6, gain_error=0.2)
    assert "known better than either" in " ".join(describe_value(value, "linear"))


def test_policies_without_an_interval_are_said_once():
    value = value_of(untrusted=["always 0"])
    (reason,) = without_interval(value, "linear")
    assert reason.startswith("No interval for 'always action 0': The estimate rests on")
    (problem,) = check_value(value)
    assert "below 0.05" in problem.message


def test_warnings_name_each_policy_without_an_interval_once():
    study = simulate("linear", subjects=12, times=8, seed=0).select(["S1"])

    class Treat:
        variables = ("S1",)

        def recommend(self, states, available=None):
            return np.ones(len(states), dtype=np.int64)

    settings = EvaluationSettings(folds=2, bootstraps=20, least_effective=50.0, segments=2)
    value = evaluate_policy(study, Treat(), settings)
    assert len(without_interval(value, "given")) == 4
    assert len(value.warnings) - len(value.cautions) == 4
    assert [problem.message for problem in check_value(value)] == list(value.cautions)
    assert "given policy" in value_words(value, "given")["policy"].tolist()


def test_tables_are_fit_to_be_read():
    value = value_of(untrusted=["always 0"])
    table = value_words(value, "linear")
    assert table["policy"].tolist()[:4] == [
        "linear policy", "as in the study", "always action 0", "always action 1",
    ]  # fmt: skip
    assert table["value (95 % interval)"].tolist()[1:3] == ["2.40 (2.10 to 2.70)", "2.00"]
    assert table["method"].str.contains("diagnostic").sum() == 8
    assert difference_words(value, "linear")["difference (95 % interval)"][0] == (
        "0.80 (0.40 to 1.20)"
    )
    assert positivity_words(value, 0.05)["below 0.05 (%)"].tolist() == [0, 8]
    assert policy_label("always call") == "always call"


def test_observational_notice_only_where_probabilities_are_unknown():
    study = simulate("linear", subjects=6, times=5, seed=0).select(["S1"])
    assert observational_notice(study) == ""
    unknown = replace(study, probabilities=np.full_like(study.probabilities, np.nan))
    assert observational_notice(unknown).startswith("Read as an observational study")
    closed = replace(unknown, available=np.zeros_like(study.available))
    assert observational_notice(closed) == ""
    half = study.probabilities.copy()
    half[:3] = np.nan
    assert "of 50 % of the decisions" in observational_notice(replace(study, probabilities=half))


def test_placebo_in_words_and_warnings():
    shuffled = np.linspace(-0.2, 0.2, 20)
    good = PlaceboCheck(1.0, shuffled, np.zeros(20, dtype=bool), 0.95, 0)
    text = " ".join(describe_placebo(good, "linear"))
    assert "20 times, the linear policy" in text
    assert "None of the 20 shuffled gains are as large as the true one (p = .048" in text
    assert check_placebo(good) == []
    chance = replace(good, gain=0.0)
    assert "may be chance" in check_placebo(chance)[0].message
    loud = replace(good, excludes_zero=np.arange(20) < 8)
    assert "40 % of the intervals of shuffled gains exclude zero" in check_placebo(loud)[0].message
