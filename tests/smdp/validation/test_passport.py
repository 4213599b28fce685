"""The passport: each check where the truth is known, and studies that it cannot check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import smdp
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.prepare import complete
from smdp.evaluation.whole_analysis import WholeAnalysis
from smdp.policy.rule_card import End, RuleCard
from smdp.steps.passport import out_of_date_rows
from smdp.steps.step import StepState
from smdp.validation.check_reliability import FAULTS, rates_on_twin
from smdp.validation.decisions_seen import seen_in_study, seen_in_trajectories
from smdp.validation.missing_related import check_missing_related
from smdp.validation.passport_rows import GATHERED, THINGS
from smdp.validation.plain_process import VIOLATIONS, draw, fit_process
from smdp.validation.randomisation import check_randomisation
from smdp.validation.twin_settings import TwinSettings
from smdp.validation.twin_study import Repetition, TwinStudy
from smdp.words.passport import (
    CLAIMS,
    PARTS,
    REMEDIES,
    VERDICTS,
    WHERE,
    evidence,
    reliability_short,
    reliability_table,
    reliability_words,
    rows_table,
    what_to_do,
)


def trial(
    people: int = 14,
    times: int = 30,
    seed: int = 1,
    *,
    persistent: float = 0.0,
    lost: float = 0.0,
    when_low: bool = False,
    actions: int = 2,
    closed: float = 0.0,
) -> pd.DataFrame:
    """Two variables; `persistent`: how strongly a hidden state moves who is treated."""
    random = np.random.default_rng(seed)
    hidden, mood = random.normal(size=people), random.normal(size=people)
    rows = []
    for t in range(times):
        odds = np.exp(persistent * hidden)
        taken = (random.random(people) < odds / (1 + odds)).astype(int)
        if actions > 2:
            taken = random.integers(0, actions, people)
        pain = random.normal(size=people)
        steps = 0.7 * mood + 0.3 * taken + random.normal(0, 0.9, people)
        chance = lost * (2.0 * (steps < np.median(steps)) if when_low else 1.0)
        gone = random.random(people) < chance
        free = random.random(people) >= closed
        for i in range(people):
            rows.append(
                (f"P{i:02d}", t + 1, mood[i], pain[i], int(taken[i]) if free[i] else 0,
                 int(free[i]), np.nan if gone[i] else steps[i])
            )  # fmt: skip
        mood = 0.6 * mood + random.normal(0, 0.8, people)
        hidden = 0.9 * hidden + random.normal(0, 0.44, people)
    names = ["person", "slot", "mood", "pain", "sent", "free", "steps"]
    return pd.DataFrame(rows, columns=names)


def roles(**changes) -> ColumnRoles:
    given = ColumnRoles(
        "person", "slot", "sent", ["mood", "pain"], "steps",
        probability=0.5, assignment="randomised",
    )  # fmt: skip
    return replace(given, **changes)


def passport_of(frame: pd.DataFrame, given: ColumnRoles, **settings) -> smdp.Passport:
    study = smdp.Analysis.from_file(frame, roles=given)
    return study.run("passport", **({"studies": 0} | settings)).passport


def seen(frame: pd.DataFrame, given: ColumnRoles):
    return seen_in_study(complete(smdp.arrange(frame, given), PreparationSettings()))


def test_every_thing_is_told_everywhere():
    assert set(THINGS) == set(CLAIMS) == set(REMEDIES) == set(WHERE)
    assert [each for things in PARTS.values() for each in things] == [
        *("leaks", "randomisation", "missingness", "look-back", "process", "effect over time"),
        *("dimension", "form", "variables", "positivity", "value", "rule"),
    ]
    assert set(GATHERED) | {"leaks", "randomisation"} == set(THINGS)
    assert set(FAULTS.values()) == set(VIOLATIONS)


def test_a_coin_is_not_doubted_and_a_hidden_reason_is():
    fair = check_randomisation(seen(trial(), roles()), draws=499)
    assert fair.p_value > 0.05
    assert not fair.estimated
    assert fair.shares["difference"].abs().max() < 0.1
    moved = check_randomisation(seen(trial(persistent=1.2), roles()), draws=499)
    assert moved.p_value <= 0.01
    clearest = moved.tests.sort_values("adjusted", kind="stable")["group"].iloc[0]
    assert clearest == "earlier treatment"


def test_another_share_than_planned_is_doubted():
    found = check_randomisation(seen(trial(), roles(probability=0.4)), draws=499)
    tests = found.tests.set_index("group")
    assert tests.loc["the share treated", "adjusted"] <= 0.01


def test_without_probabilities_what_a_logit_leaves_is_tested():
    found = check_randomisation(seen(trial(), roles(probability=None)), draws=499)
    assert found.estimated
    assert "the share treated" not in set(found.tests["group"])
    assert found.p_value > 0.05
    moved = check_randomisation(seen(trial(persistent=1.2), roles(probability=None)), draws=499)
    assert moved.p_value <= 0.01


def test_gaps_by_chance_are_not_doubted_and_gaps_of_low_outcomes_are():
    chance = check_missing_related(seen(trial(lost=0.2), roles()), draws=499)
    assert chance.p_value > 0.05
    low = check_missing_related(seen(trial(30, 60, lost=0.2, when_low=True), roles()), draws=499)
    assert low.p_value <= 0.01
    assert set(low.tests[low.tests["adjusted"] <= 0.01]["missing"]) == {"the outcome"}


def test_that_gaps_come_together_is_no_relation_to_a_value():
    frame = trial(30, 40)
    random = np.random.default_rng(3)
    late = random.random(len(frame)) < 0.3 * frame["slot"] / 40
    frame["mood"] += 0.1 * frame["slot"]
    frame.loc[late, ["mood", "pain", "steps"]] = np.nan
    assert check_missing_related(seen(frame, roles()), draws=499).p_value > 0.05


def test_nothing_missing_holds():
    found = passport_of(trial(), roles())
    assert found.missing.nothing_missing
    assert found.row("missingness").verdict == "holds"
    assert evidence(found.row("missingness")) == "Nothing is missing."


def test_a_row_of_a_step_that_was_not_run_says_so():
    found = passport_of(trial(), roles())
    for thing in ("look-back", "dimension", "variables", "value", "rule"):
        row = found.row(thing)
        assert row.verdict == "not checked"
        assert WHERE[thing] in what_to_do(row)
    table = found.to_frame()
    assert len(table) == len(THINGS)
    assert not table.isna().any().any()


def repetitions() -> TwinStudy:
    """Three studies in which there is something, two without a gain, two where nothing matters."""
    card = RuleCard(End(0), ("0", "1"))
    planted = [
        Repetition(0, "as learned", ("mood",), card=card, lower=0.1),
        Repetition(1, "as learned", (), card=card, lower=-0.1),
        Repetition(2, "as learned", ("mood",), card=card, lower=0.2),
    ]
    flat = [Repetition(k, "no gain", ("mood",), card=card, lower=-0.1) for k in range(2)]
    nothing = [Repetition(0, "nothing", ()), Repetition(1, "nothing", ("pain",))]
    return TwinStudy(
        ("mood",), ("mood", "pain"), "", 0.3, 0.2, TwinSettings(3, "value"),
        WholeAnalysis(policies=()), None, 0, "", (*planted, *flat, *nothing), card=card,
    )  # fmt: skip


def test_what_the_twin_found_says_how_often_variables_gain_and_card_are_found():
    rates = rates_on_twin(repetitions()).set_index("thing")
    counts = rates[["studies", "passed", "faulty", "found"]]
    assert counts.loc["variables"].tolist() == [3, 2, 2, 1]
    assert counts.loc["value"].tolist() == [3, 2, 2, 2]
    assert counts.loc["rule"].tolist() == [3, 3, 2, 2]
    prepared = smdp.prepare(trial(), roles())
    found = smdp.make_passport(
        prepared.completed,
        prepared.trajectories,
        settings=smdp.PassportSettings(studies=0),
        twin=repetitions(),
    )
    assert reliability_short("value", found) == "passes 2 of 3, finds 2 of 2"
    assert reliability_words("variables", found) == (
        "Of 3 studies drawn from this study's twin in which what was learned is true, all planted "
        "variables were kept in 2. Of 2 studies drawn from this study's twin in which the outcome "
        "depends on nothing, nothing was kept in 1."
    )
    assert len(reliability_table(found)) == 3
    assert "simulated studies of" not in found.summary(), "nothing else was simulated"


def test_what_it_gathered_puts_it_out_of_date():
    study = smdp.Analysis.from_file(trial(), roles=roles()).run("passport", studies=0)
    assert study.state("passport") == StepState.DONE
    checked = study.run("markov", most=1, draws=99)
    assert checked.state("passport") == StepState.OUT_OF_DATE
    again = checked.run("passport")
    assert again.passport.row("look-back").verdict in ("holds", "doubt")
    older = again.with_settings("markov", most=2)
    assert older.state("passport") == StepState.DONE
    assert set(out_of_date_rows(older)) == {"look-back", "process", "effect over time"}
    told = rows_table(older.passport, out_of_date_rows(older)).set_index(
        "What the conclusions rest on"
    )
    assert told.loc[CLAIMS["look-back"], "Evidence"].startswith("Out of date")


def test_the_same_seed_gives_the_same_passport(tmp_path):
    study = smdp.Analysis.from_file(trial(lost=0.1), roles=roles())
    study = study.run("passport", studies=1, draws=99)
    again = study.run("passport")
    assert study.passport == again.passport
    back = smdp.load_analysis(study.save(tmp_path / "a.smdp"))
    assert back.passport == study.passport
    assert back.state("passport") == StepState.DONE


FEW = {
    "five people": (trial(5), roles()),
    "one decision": (trial(20, 2), roles()),
    "observed": (trial(), roles(probability=None, assignment="observed")),
    "no probabilities": (trial(), roles(probability=None)),
    "three actions, availability": (
        trial(actions=3, closed=0.2),
        roles(
            probability={"0": 1 / 3, "1": 1 / 3, "2": 1 / 3},
            action_levels={"0": "none", "1": "a", "2": "b"},
            available="free",
        ),
    ),
    "much missing": (trial(lost=0.6), roles()),
}


@pytest.mark.parametrize("name", FEW)
def test_no_study_is_too_poor_for_a_clear_row(name):
    frame, given = FEW[name]
    found = passport_of(frame, given, studies=1, draws=99)
    for row in found.rows:
        text = evidence(row)
        assert text.endswith(".")
        assert "nan" not in text.lower().split()
        assert VERDICTS[row.verdict]
        assert reliability_words(row.thing, found).endswith(".")
    if name == "five people":
        assert "6 are needed" in evidence(found.row("randomisation"))
    if name == "observed":
        assert found.row("randomisation").verdict == "untestable"
        assert "not randomised" in evidence(found.row("randomisation"))


def test_a_column_nobody_was_asked_about_is_doubted():
    frame = trial()
    frame["steps_after"] = frame["steps"] + 0.01 * np.arange(len(frame)) / len(frame)
    given = roles(states=["mood", "pain", "steps_after"])
    open_one = passport_of(frame, replace(given, known_before=(NEVER_ASKED,)))
    assert open_one.row("leaks").verdict == "doubt"
    assert "'steps_after'" in evidence(open_one.row("leaks"))
    answered = passport_of(frame, replace(given, known_before=("steps_after",)))
    assert answered.row("leaks").verdict == "untestable"
    assert "you answered" in evidence(answered.row("leaks"))


@pytest.mark.parametrize("fault", [None, *VIOLATIONS])
def test_a_drawn_study_has_the_shape_of_the_study(fault):
    frame, given = FEW["three actions, availability"]
    own = smdp.prepare(frame, given).trajectories
    process = fit_process(own)
    drawn = draw(process, 3, fault, gaps=fault == "by level")
    assert drawn.states.shape == own.states.shape
    np.testing.assert_array_equal(drawn.valid, own.valid)
    np.testing.assert_array_equal(np.isnan(drawn.states), np.isnan(own.states))
    assert (drawn.actions[own.valid & own.available] >= 0).all()
    again = draw(process, 3, fault, gaps=fault == "by level")
    assert again == drawn
    assert not np.array_equal(draw(process, 4, fault).actions, drawn.actions)


def test_a_planted_fault_is_found_and_none_is_not():
    own = smdp.prepare(trial(30, 60), roles()).trajectories
    process = fit_process(own)
    fair = check_randomisation(seen_in_trajectories(draw(process, 1)), draws=499)
    tilted = check_randomisation(seen_in_trajectories(draw(process, 1, "hidden")), draws=499)
    assert tilted.p_value <= 0.01 < fair.p_value
    chance = check_missing_related(seen_in_trajectories(draw(process, 1, gaps=True)), draws=499)
    low = check_missing_related(
        seen_in_trajectories(draw(process, 1, "by level", gaps=True)), draws=499
    )
    assert low.p_value <= 0.01 < chance.p_value


def test_a_gap_of_the_study_is_no_missing_outcome_of_a_drawn_one():
    """A gap looks like a decision without a choice, and would make the two seem related."""
    frame = trial(24, 30, closed=0.15).sample(frac=0.9, random_state=2)
    own = smdp.prepare(frame, roles(available="free")).trajectories
    process = fit_process(own)
    doubts = 0
    for seed in range(8):
        drawn = seen_in_trajectories(draw(process, seed, gaps=True))
        found = check_missing_related(drawn, draws=199)
        doubts += found.p_value <= 0.05
        counts = found.counts.set_index("missing")["count"]
        assert counts["the whole decision"] == 0
        assert counts["the outcome"] < 0.2 * own.valid.sum()
    assert doubts <= 2, "that many of 8 are chance at .05"
