"""Sentences about learned Q-functions."""

from dataclasses import replace

import numpy as np
import pytest
from small_policies import random_policy, trajectories_of

from smdp.explanation.q_differences import compare_policies, observed_differences
from smdp.words.policy import (
    check_policies,
    describe_comparison,
    describe_differences,
    discount_words,
    names_apart,
    observational_note,
    parameter_table,
    policy_name,
    policy_summary,
    treatment_pairs,
)

NAMES = ("stress", "mood")


@pytest.fixture
def study():
    return trajectories_of(np.random.default_rng(2).normal(0, 1, (10, 9, 2)), NAMES)


def test_the_summary_names_models_and_discount_and_who_did_not_settle():
    linear, neural = random_policy(NAMES), random_policy(NAMES, hidden=(4,))
    assert policy_summary((linear, neural)) == "linear and neural, discount 0.9"
    open_one = replace(neural, converged=False)
    assert (
        policy_summary((linear, open_one)) == "linear and neural, discount 0.9; neural not settled"
    )


def test_non_convergence_and_missing_errors_are_said():
    settled = random_policy(NAMES)
    assert check_policies([settled]) == []
    noted = replace(settled, notes=("One thing.",))
    assert [(p.severity, p.message) for p in check_policies([noted])] == [
        ("note", "Linear Q-function: One thing.")
    ]
    (unsettled,) = check_policies([replace(settled, converged=False)])
    assert unsettled.severity == "warning"
    assert "did not settle" in unsettled.message
    assert unsettled.remedy
    (bare,) = check_policies([random_policy(NAMES, resamples=0)])
    assert "every margin counts as certain" in bare.message


@pytest.mark.parametrize(
    ("discount", "words"),
    [
        (0.0, "Only the next outcome counts."),
        (0.3, "The outcome one decision later counts 30 % of the next one, and so on."),
        (0.5, "An outcome 1 decision later counts about half of the next."),
        (0.9, "An outcome 7 decisions later counts about half of the next."),
    ],
)
def test_a_discount_in_words(discount, words):
    assert discount_words(discount) == words


def test_randomisation_that_is_not_known_is_noted(study):
    assert observational_note(study) == ""
    unknown = replace(study, probabilities=np.full(study.probabilities.shape, np.nan))
    assert "not known to be randomised: no" in observational_note(unknown)
    some = study.probabilities.copy()
    some[: len(some) // 2] = np.nan
    assert "at 50 % of the decisions" in observational_note(replace(study, probabilities=some))


def test_names_say_what_differs():
    linear, neural = random_policy(NAMES), random_policy(NAMES, hidden=(4,), features=1)
    assert policy_name(linear) == "linear Q, 2 features of 2 variables, discount 0.9"
    assert names_apart(linear, random_policy(NAMES, hidden=(4,))) == ("linear Q", "neural Q")
    assert names_apart(linear, neural) == (
        "linear Q, 2 features of 2 variables",
        "neural Q, 1 feature of 2 variables",
    )


def test_treatments_are_compared_with_the_one_that_is_nothing():
    assert treatment_pairs(("0", "1")) == [("1", "0")]
    assert treatment_pairs(("call", "None")) == [("call", "None")]
    assert treatment_pairs(("call", "message", "none")) == [
        ("call", "none"),
        ("message", "none"),
        ("message", "call"),
    ]


def test_shares_add_up_and_agreement_is_told(study):
    policy = random_policy(NAMES)
    found = observed_differences(policy, study, "treatment", "nothing")
    first, second = describe_differences(found)
    assert first.startswith("Treatment is ahead of nothing at")
    assert "cannot be told apart" in second
    same = compare_policies(policy, policy, study, "treatment", "nothing")
    assert "same best treatment at 100 % of 80 decisions" in describe_comparison(same, "a", "b")[0]


def test_the_parameter_table_has_a_column_for_each_action():
    table = parameter_table(random_policy(NAMES))
    assert list(table.columns) == ["parameter", "Q of nothing", "Q of treatment"]
    assert table["parameter"].tolist() == [
        "at the mean features",
        "one SD more of feature 1",
        "one SD more of feature 2",
    ]
    assert " to " in table.iloc[1, 1]
