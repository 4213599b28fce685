"""What is said of a screening."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smdp.screening_paths import UTILITY
from smdp.words.screening import (
    arrows_table,
    check_screening,
    describe_screening,
    rounds_table,
    screening_summary,
    screening_table,
)
from tests.screened import screened, with_arrows

PAPER = {"method": "paper", "permutations": 99, "pooling": "trajectory"}


def told(result):
    return " ".join(describe_screening(result))


def warned(result):
    return {str(problem): problem.severity for problem in check_screening(result)}


def changed(result, **statuses):
    table = result.table.copy()
    for name, status in statuses.items():
        table.loc[name, "status"] = status
    return replace(result, table=table)


def test_a_closed_set():
    result = screened()
    assert result.selected == ("S1", "S2", "S3", "S4")
    text = told(result)
    assert "4 of 8 variables are kept: S1, S2, S3, S4. With the treatment, they are all" in text
    assert "their own next values were found to depend on" in text
    assert "794 decisions of 20 people" in text
    assert "the same treatment now and the 2 times before" in text
    assert "0.1 is for all variables of a round together" in text
    assert "not proven useless" in text
    assert "shifts the mean" in text
    assert screening_summary(result) == "4 of 8 variables kept"


def test_one_variable_and_none():
    one = replace(screened(), selected=("S1",))
    assert "1 of 8 variables is kept: S1. With the treatment, it is all" in told(one)
    assert "its own next value were found" in told(one)
    none = replace(screened(), selected=())
    assert "None of the 8 variables tested shows a dependence" in told(none)
    remedy = "Raise the level, or force in the variables that theory asks for"
    assert any(remedy in warning for warning in warned(none))


def test_fewer_earlier_treatments_than_asked_for():
    assert "(2 before were asked for" in told(replace(screened(), past_actions=1))
    none = told(replace(screened(), past_actions=0))
    assert "who received the same treatment (2 before were asked for" in none
    assert "asked for" not in told(screened())


@pytest.mark.parametrize(("p", "said"), [(0.03, True), (0.5, False), (None, False)])
def test_earlier_treatments_that_still_matter(p, said):
    found = warned(replace(screened(), earlier_actions=p))
    matter = [text for text in found if "Earlier treatments still matter" in text]
    assert bool(matter) == said
    if said:
        assert "(p = .030)" in matter[0]
        assert "Add earlier treatments to the state (the Data page, More)" in matter[0]


def test_what_cannot_be_tested_and_what_says_the_same():
    one = changed(screened(), S7="cannot be tested", S8="says the same")
    assert any("S7 cannot be tested: it is the same for everybody" in text for text in warned(one))
    assert any("S8 says the same as another variable" in text for text in warned(one))
    two = changed(screened(), S6="cannot be tested", S7="cannot be tested")
    assert any("S6, S7 cannot be tested: each is" in text for text in warned(two))


def test_what_is_related_is_not_called_all_that_matters():
    text = told(screened(method="rounds"))
    assert "merely goes along" in text
    assert "shifts the mean" not in text
    assert "all that the utility" not in text


def test_as_in_the_paper():
    result = screened(**PAPER)
    text = told(result)
    assert "among subjects with the same action, over 40 decisions" in text
    assert "People were the sample" not in text
    assert any("Whole trajectories were permuted" in each for each in warned(result))
    assert list(screening_table(result)) == ["variable", "status", "round", "pooled p"]


def test_all_forced_in():
    result = screened(force_in=tuple(f"S{k}" for k in range(1, 9)))
    assert told(result).endswith("Nothing was left to test.")
    assert len(screening_table(result)) == 8


def test_the_most_rounds():
    stopped = replace(screened(), stopped="max_rounds reached")
    assert any("variables still joined. Allow more rounds" in each for each in warned(stopped))


def test_the_table_says_where_a_variable_leads():
    arrows = {
        ("S1", UTILITY): 0.001, ("S1", "S1"): 0.5, ("S1", "S2"): 0.9,
        ("S2", UTILITY): 0.8, ("S2", "S1"): 0.04, ("S2", "S2"): 0.001,
    }  # fmt: skip
    result = with_arrows(screened(), arrows)
    table = screening_table(result).set_index("variable")
    assert table.loc["S1", "leads to"] == "outcome"
    assert table.loc["S2", "leads to"] == "(S1)"
    assert table.loc["S8", "leads to"] == ""
    assert table.loc["S1", "status"] == "kept"
    assert "why" not in table.columns
    ranked = arrows_table(result)
    assert ranked.iloc[0].tolist() == ["S1", "outcome", "p = .004", "p = .001"]
    assert ranked.iloc[-1]["leads to"] in ("next S1", "next S2")
    assert "why" in screening_table(changed(result, S8="says the same")).columns


def test_every_round_is_told():
    result = screened()
    table = rounds_table(result)
    assert len(table) == len(result.rounds)
    assert table.iloc[0]["asks"] == "Does the utility depend on it?"
    assert table.iloc[0]["tested"] == 8
