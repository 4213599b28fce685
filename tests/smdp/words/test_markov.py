"""What the Markov check says."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from small_process import process

from smdp.markov.markov_check import MarkovCheck, check_markov
from smdp.markov.markov_settings import MarkovSettings
from smdp.words.markov import (
    describe_markov,
    effect_table,
    ladder_table,
    markov_problems,
    markov_summary,
    stationarity_table,
)


@pytest.fixture(scope="module")
def found() -> MarkovCheck:
    return check_markov(process(1), MarkovSettings(most=2, draws=99))


def with_answers(found: MarkovCheck, plain: list[float], own: list[float]) -> MarkovCheck:
    def first(p: list[float]) -> int | None:
        return next((m for m, each in enumerate(p) if each > 0.05), None)

    ladder = found.ladder.assign(p_value=plain, own_p_value=own)
    return replace(found, ladder=ladder, look_back=first(plain), own_look_back=first(own))


def with_change(found: MarkovCheck, process_p: float, effect_p: float) -> MarkovCheck:
    p = [process_p, process_p, effect_p, effect_p]
    return replace(found, stationarity=found.stationarity.assign(p_value=p))


def test_the_present_is_enough(found):
    said = with_change(with_answers(found, [0.4, 0.5, 0.6], [0.5, 0.5, 0.5]), 0.5, 0.5)
    text = " ".join(describe_markov(said))
    assert "The present state is enough, as far as this study shows" in text
    assert "the answer is the same (p = .50)" in text
    assert "One rule is learned" not in text
    assert markov_summary(said) == "look-back 0; the same throughout"
    assert [p for p in markov_problems(said) if p.severity == "warning"] == []


def test_one_step_back(found):
    said = with_answers(found, [0.0005, 0.21, 0.6], [0.0005, 0.5, 0.5])
    assert (
        "needs one step back: a look-back of 0 is rejected (p < .001), one of 1 is not"
        in (describe_markov(said)[0])
    )
    problem = markov_problems(said)[0]
    assert problem.concerns == "look-back"
    assert said.offers == (1,)
    assert ladder_table(said).iloc[1].tolist()[3] == "not rejected: enough"


def test_people_who_differ(found):
    said = with_answers(found, [0.001, 0.01, 0.02], [0.001, 0.5, 0.5])
    text = " ".join(describe_markov(said))
    assert "Not Markov in these variables up to look-back 2" in text
    assert "one step back will do (look-back 1, p = .50)" in text
    assert "may tell who the person is" in text
    assert "look-back 1 beside own levels" in markov_summary(said)
    assert markov_problems(said)[0].concerns == "people differ"
    assert said.offers == (1,)
    partly = with_answers(found, [0.001, 0.01, 0.2], [0.5, 0.5, 0.5])
    assert "perhaps only of how people differ" in markov_problems(partly)[0].message
    assert partly.offers == (2,)


def test_nothing_is_enough(found):
    said = with_answers(found, [0.001] * 3, [0.001] * 3)
    assert "it is not only that people differ" in describe_markov(said)[1]
    assert "not Markov up to look-back 2" in markov_summary(said)
    assert said.offers == ()


def test_own_levels_can_ask_for_more(found):
    said = with_answers(found, [0.3] * 3, [0.001, 0.4, 0.4])
    assert "compared with herself" in describe_markov(said)[1]
    assert (
        "every look-back up to 2" in describe_markov(with_answers(found, [0.3] * 3, [0.001] * 3))[1]
    )


def test_a_changing_effect_has_consequences(found):
    said = with_change(found, 0.5, 0.01)
    text = " ".join(describe_markov(said))
    assert "The effect of treatment on the utility changes over the study (p = .010)" in text
    assert "at decision 1 and" in text
    assert "too bold at one end" in text
    assert "effect changes over time" in markov_summary(said)
    assert markov_problems(said)[-1].concerns == "decision number"
    held = replace(said, time_in_state=True)
    assert "in the state already" in " ".join(describe_markov(held))
    assert "decision number" not in [p.concerns for p in markov_problems(held)]


def test_a_changing_process(found):
    said = with_change(found, 0.01, 0.5)
    assert "what comes next changes over the study" in " ".join(describe_markov(said))
    assert markov_summary(said).endswith("changes over time")


def test_a_state_that_looks_back_already(found):
    assert (
        "beyond the one step back that the state already holds"
        in (describe_markov(replace(found, state_look_back=1))[0])
    )


def test_what_could_not_be_tested_is_told(found):
    asked = replace(found, left_out=("a1", ""), estimated=0.5, settings=MarkovSettings(most=5))
    notes = " ".join(p.message for p in markov_problems(asked))
    assert "Look-backs above 2 could not be tested" in notes
    assert "nothing could be chosen" in notes
    assert "50 %" in notes


def test_tables(found):
    assert list(ladder_table(found)["look-back"]) == [0, 1, 2]
    assert len(stationarity_table(found)) == 4
    assert 5 <= len(effect_table(found)) <= 13
    none = replace(found, effect=pd.DataFrame(columns=found.effect.columns))
    assert len(effect_table(none)) == 0
