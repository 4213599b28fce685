"""What is said of what treatment did: in its own scale and unit, and how far to trust it."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from smdp.data.outcome import OutcomeName
from smdp.data.trajectories import Trajectories
from smdp.evaluation.trial_effects import trial_summary
from smdp.simulation.generative_model import simulate
from smdp.words.effects import Telling, check_trial, describe_trial, trial_line, trial_words


@pytest.fixture(scope="module")
def linear():
    return simulate("linear", subjects=20, times=6, seed=0).select(["S1", "S3"])


def with_outcome(study: Trajectories, values: np.ndarray) -> Trajectories:
    return replace(study, utilities=values)


@pytest.fixture(scope="module")
def of_risks(linear):
    random = np.random.default_rng(1)
    risk = np.where(linear.actions == 1, 0.6, 0.3)
    return with_outcome(linear, (random.random(risk.shape) < risk).astype(float))


def test_numbers_and_percent(linear):
    summary = trial_summary(linear, moderators=["S1"])
    row = summary.effects.iloc[0]
    plain, percent, ten = (
        describe_trial(summary, Telling(base=base))[0] for base in (None, math.e, 10)
    )
    assert f"by {row['estimate']:.2f} (" in plain
    assert f"{100 * np.expm1(row['estimate']):+.0f} % (" in percent
    assert f"{100 * (10 ** row['estimate'] - 1):+.0f} % (" in ten
    told = trial_words(summary, Telling(base=math.e))["in percent"]
    assert told.iloc[0] in percent.replace(" %", "")
    assert told.iloc[1].startswith(f"{100 * np.expm1(summary.effects['estimate'].iloc[1]):+.0f}")
    assert trial_words(summary)["term"].tolist() == [
        "average", "per unit of S1", "all moderators 0",
    ]  # fmt: skip
    text = " ".join(describe_trial(summary))
    assert "says nothing about later decisions" in text
    assert f"{summary.freedom} degrees of freedom; intervals are of 95 %" in text
    assert "In standard deviations of the outcome" in text


def test_risks_are_told_as_ratios_and_percentage_points(of_risks):
    summary = replace(trial_summary(of_risks), sign=-1)
    told = describe_trial(summary, Telling(OutcomeName("relapse", "", "relapse", -1)))
    ratio = np.exp(summary.effects["estimate"].iloc[0])
    points = 100 * summary.differences["estimate"].iloc[0]
    assert told[0].startswith(f"Relapse was {ratio:.2f} (")
    assert "times as likely under treatment 1 as under treatment 0" in told[0].replace(
        "action", "treatment"
    )
    assert f"{points:.1f} (" in told[0]
    assert "percentage points" in told[0]
    assert "Which way is good: less relapse is better, so that ratios below 1 are good." in told
    words = trial_words(summary)
    assert "risk ratio (95 % interval)" in words.columns
    assert "percentage points" in words.columns
    assert trial_line(summary).startswith(f"× {ratio:.2f}, p")


def test_where_probabilities_learned_no_interval_is_called_95_percent(linear):
    summary = replace(trial_summary(linear), learned=True)
    told = Telling(learned=True)
    assert "which they do not reach" in " ".join(describe_trial(summary, told))
    assert not any("95 %" in name for name in trial_words(summary, told).columns)
    (asked,) = check_trial(summary, "not said")
    assert "Say whether they were" in asked.remedy
    (said,) = check_trial(summary, "yes")
    assert "Zhang, Janson & Murphy" in said.remedy
    assert check_trial(summary, "no") == []


def test_observed_studies_have_differences_and_no_effects(linear):
    text = " ".join(describe_trial(trial_summary(linear), Telling(observed=True)))
    assert "differed by" in text
    assert "Treatment is not known to have been randomised" in text
    assert "only if nothing but chance decided" in text
    adjusted = trial_summary(linear, controls=["S1"], moderators=["S3"])
    text = " ".join(describe_trial(adjusted, Telling(observed=True)))
    assert "only if nothing but S1, S3 decided" in text


def test_what_was_adjusted_for_is_said_and_that_screening_proposed_it(linear):
    summary = trial_summary(linear, controls=["S1"])
    how, proposed = (
        next(text for text in describe_trial(summary, Telling(screened=s)) if "From" in text)
        for s in (False, True)
    )
    assert "least squares, adjusted for S1, with errors" in how
    assert "adjusted for S1, which screening of the same data kept, with errors" in proposed
    moderated = " ".join(describe_trial(trial_summary(linear, controls=["S1"], moderators=["S3"])))
    assert "least squares, adjusted for S1 and the moderators, with errors" in moderated


@pytest.mark.parametrize(("between", "said"), [(-0.17, True), (0.5, False)])
def test_a_curve_over_time_that_turns_is_not_told_by_its_ends_alone(linear, between, said):
    summary = trial_summary(linear)
    curve = pd.DataFrame(
        {
            "action": "1",
            "at": [1, 130, 209],
            "estimate": [0.84, between, 0.22],
            "standard_error": 0.1,
            "p_value": 0.003,
        }
    )
    (sentence,) = (
        line
        for line in describe_trial(replace(summary, over_time=curve), Telling(base=None))
        if line.startswith("Over time")
    )
    assert "0.84 at decision 1, " in sentence
    assert "0.22 at decision 209." in sentence
    assert ("-0.17 at decision 130" in sentence) == said
