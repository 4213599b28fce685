"""Candidates side by side, and the simplest that is not clearly below the best."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.errors import DataError
from smdp.evaluation.candidates import CandidatePolicy, Simplicity, compare_candidates
from smdp.evaluation.estimators import Estimate
from smdp.words.policy_comparison import comparison_words, how_compared, recommendation

PEOPLE = 40
SHARED = np.random.default_rng(1).normal(0, 1, PEOPLE)


def candidate(name, kind, value, own=0.1, effective=30.0, seed=0):
    """Mostly the same for all: a difference is known better than a value."""
    apart = own * np.random.default_rng(seed).normal(0, 1, PEOPLE)
    each = SHARED + apart
    each = each - each.mean()
    estimate = Estimate(
        value=value,
        influence=each / PEOPLE,
        fitted_q=value,
        fitted_q_draws=np.full(30, value),
        weights=np.ones(3),
        clipped=0.0,
    )
    return CandidatePolicy(name, kind, estimate, effective)


def compared(*candidates, least=10.0):
    return compare_candidates(candidates, coverage=0.95, least_effective=least, discount=0.9)


def test_the_simplest_that_is_not_clearly_below_is_recommended():
    linear = candidate("linear", Simplicity.LINEAR, 1.0, seed=1)
    neural = candidate("neural", Simplicity.NEURAL, 1.02, seed=2)
    observed = candidate("observed", Simplicity.NO_CHOICE, 0.0, seed=3)
    found = compared(neural, linear, observed)
    assert (found.best, found.recommended) == ("neural", "linear")
    assert "not clearly below" in recommendation(found)
    clear = compared(
        replace(neural, estimate=replace(neural.estimate, value=2.0)), linear, observed
    )
    assert (clear.best, clear.recommended) == ("neural", "neural")
    assert "simpler" in recommendation(clear)


def test_what_was_done_stays_where_nothing_is_clear():
    wide = [
        candidate(name, kind, value, own=3.0, seed=seed)
        for seed, (name, kind, value) in enumerate(
            [
                ("always 1", Simplicity.NO_CHOICE, 0.3),
                ("observed", Simplicity.NO_CHOICE, 0.0),
                ("linear", Simplicity.LINEAR, 0.4),
            ]
        )
    ]
    assert compared(*wide).recommended == "observed"


def test_differences_are_paired_and_of_both_signs():
    found = compared(
        candidate("linear", Simplicity.LINEAR, 1.0, seed=1),
        candidate("observed", Simplicity.NO_CHOICE, 0.5, seed=2),
    )
    one, two = (
        found.difference("linear", "observed"),
        found.difference("observed", "linear"),
    )
    assert one["estimate"] == pytest.approx(0.5)
    assert one["lower"] == pytest.approx(-two["upper"])
    assert one["standard_error"] < found.values["standard_error"].min() / 3
    words = comparison_words(found)
    assert list(words["candidate"]) == ["linear policy", "as in the study"]
    assert words["minus as in the study"][0].startswith("0.5")


def test_others_are_compared_with_a_card_as_they_were_judged_beside_it():
    linear = candidate("linear", Simplicity.LINEAR, 1.0, seed=1)
    observed = candidate("observed", Simplicity.NO_CHOICE, 0.0, seed=2)
    again = replace(linear.estimate, value=1.3)  # with other models of the values
    card = replace(
        candidate("card", Simplicity.CARD, 1.2, seed=3), beside={"linear": (again, 30.0)}
    )
    found = compared(linear, card, observed)
    assert found.difference("card", "linear")["estimate"] == pytest.approx(-0.1)
    assert found.difference("linear", "card")["estimate"] == pytest.approx(0.1)
    assert found.difference("card", "observed")["estimate"] == pytest.approx(1.2)
    assert list(comparison_words(found)["candidate"])[1] == "rule card"
    assert "A card is judged" in how_compared(found)
    assert found.recommended == "card"


def test_without_an_interval_nothing_is_recommended():
    weak = candidate("linear", Simplicity.LINEAR, 1.0, effective=3.0)
    other = candidate("observed", Simplicity.NO_CHOICE, 0.0, effective=3.0)
    found = compared(weak, other)
    assert found.recommended is None
    assert found.differences["lower"].isna().all()
    assert recommendation(found).startswith("No candidate")
    assert compared(weak, replace(other, effective=30.0)).recommended == "observed"


def test_candidates_of_other_people_are_refused():
    one = candidate("linear", Simplicity.LINEAR, 1.0)
    fewer = replace(one.estimate, influence=one.estimate.influence[1:])
    with pytest.raises(DataError, match="same people"):
        compared(one, replace(one, name="other", estimate=fewer))
    with pytest.raises(DataError, match="different names"):
        compared(one, one)
