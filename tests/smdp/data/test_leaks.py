"""Which columns are asked about: those that look as if known only after the decision."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from leaky_studies import ADDED, FRESH, HARMLESS, MUTATIONS, SAMPLES, leaky, students, walkers

from smdp.analysis.plan import AnalysisPlan
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import NEVER_ASKED, ColumnRoles, NextValue
from smdp.data.guess_roles import guess_columns, guess_roles
from smdp.data.leaks import Leak, find_leaks, find_leaks_of
from smdp.data.name_words import counterparts, name_parts, says_before, word_for_after
from smdp.data.read_table import read_table
from smdp.errors import DataError

HEARTSTEPS = Path(__file__).parents[4] / "shared" / "data" / "heartsteps"
needs_heartsteps = pytest.mark.skipif(not HEARTSTEPS.exists(), reason="HeartSteps is not here")


def asked_about(study):
    return {leak.column for leak in find_leaks(*study)}


def test_names_fall_into_words():
    assert name_parts("jbsteps30pre.zero") == ("jbsteps", "30", "pre", "zero")
    assert name_parts("stressPost_EMA-2") == ("stress", "post", "ema", "2")
    assert name_parts("ReturnedMessage") == ("returned", "message")
    assert name_parts("") == ()


@pytest.mark.parametrize(
    ("name", "word"),
    [("response.snow", "response"), ("stressPost", "post"), ("returned.message", "returned"),
     ("interaction.count", "interaction"), ("mood_after", "after"), ("afternoon", ""),
     ("postal", ""), ("last_response", ""), ("dec.response", ""), ("days_since_interaction", ""),
     ("predicted", ""), ("Nächste", "")],
)  # fmt: skip
def test_a_name_may_say_that_it_was_after(name, word):
    assert word_for_after(name) == word


def test_a_name_beside_the_same_with_pre_was_measured_after():
    names = ["steps30", "steps10", "steps60pre", "pulse", "mood", "mood_baseline", "dec.mood"]
    assert counterparts(names) == {"steps30": "steps60pre", "steps10": "steps60pre"}
    assert says_before("steps60pre")


@pytest.mark.parametrize("base", [*SAMPLES, *FRESH])
def test_nothing_is_asked_of_a_sound_study(base):
    assert find_leaks(*{**SAMPLES, **FRESH}[base]()) == ()


@pytest.mark.parametrize("make", [students, walkers])
def test_nothing_is_asked_of_other_draws(make):
    assert [seed for seed in range(30, 36) if find_leaks(*make(seed))] == []


@pytest.mark.parametrize("base", [*SAMPLES, *FRESH])
def test_what_is_known_before_is_not_asked_about(base):
    study = {**SAMPLES, **FRESH}[base]()
    assert [name for name in HARMLESS if asked_about(leaky(study, name, 1))] == []


@pytest.mark.parametrize("base", SAMPLES)
def test_leaks_in_the_samples_are_seen(base):
    study = SAMPLES[base]()
    missed = [name for name in MUTATIONS if ADDED not in asked_about(leaky(study, name, 1))]
    assert set(missed) <= {"outcome, noise .8"}  # where it says no more than a good predictor


@pytest.mark.parametrize("base", FRESH)
def test_leaks_in_studies_that_the_bounds_were_not_set_with_are_seen(base):
    study = FRESH[base]()
    missed = [name for name in MUTATIONS if ADDED not in asked_about(leaky(study, name, 1))]
    assert len(missed) <= 1  # of 26, so 19 of 20 and more


def test_evidence_is_told_in_words():
    frame, roles = leaky(SAMPLES["students"](), "outcome", 1)
    (leak,) = find_leaks(frame, roles)
    assert (leak.column, leak.why, leak.share) == (ADDED, "equals outcome", 1.0)
    assert leak.describe() == f"equals the outcome in 100 % of {leak.rows} rows"
    assert Leak("x", "name", word="post").describe() == "its name says 'post'"
    frame, roles = leaky(SAMPLES["students"](), "empty unless given", 1)
    (leak,) = find_leaks(frame, roles)
    assert (leak.why, leak.level) == ("empty without action", "0")


def test_a_lag_says_nothing_of_the_column_that_it_is_of():
    frame, roles = SAMPLES["students"]()
    lagged = frame.assign(**{"mood before": frame.groupby("student")["mood"].shift()})
    roles = replace(roles, states=(*roles.states, "mood before"))
    assert find_leaks(lagged, roles) == ()
    other = frame.assign(**{"mood before": frame["mood"].sample(frac=1, random_state=1).to_numpy()})
    assert [leak.why for leak in find_leaks(other, roles)] == ["counterpart"]


def test_nothing_is_said_without_rows_or_roles():
    empty = pd.DataFrame({"x": [], "post": []})
    assert find_leaks_of(empty, []) == ()
    assert [leak.why for leak in find_leaks_of(empty, ["x", "post"], subject="x", time="x")] == [
        "name"
    ]


def test_an_unanswered_leak_is_an_error_and_an_answer_settles_it():
    frame, roles = leaky(SAMPLES["walking"](), "outcome, noise .1", 1)
    (problem,) = (p for p in find_problems(frame, roles) if p.concerns == "known before")
    assert (problem.severity, problem.about) == ("error", ADDED)
    with pytest.raises(DataError, match="known only after the decision: 'x7'"):
        arrange(frame, roles)
    answered = replace(roles, known_before=[ADDED])
    assert answered.known_before == (ADDED,)
    assert arrange(frame, answered).roles == answered
    old = replace(roles, known_before=(NEVER_ASKED,))
    (problem,) = (p for p in find_problems(frame, old) if p.concerns == "known before")
    assert problem.severity == "warning"
    arrange(frame, old)


def test_plans_of_earlier_formats_run_as_before():
    roles = ColumnRoles("who", "t", "a", ["x", "post"], NextValue("x"))
    text = AnalysisPlan(roles=roles).to_toml()
    assert AnalysisPlan.from_toml(text).roles == roles
    old = text.replace("format = 7", "format = 4").replace("known_before = []\n", "")
    assert "known_before" not in old
    assert AnalysisPlan.from_toml(old).roles == replace(roles, known_before=(NEVER_ASKED,))


def raw_export():
    frame = read_table(HEARTSTEPS / "raw_export.csv")
    return frame.assign(steps=np.log(frame["jbsteps30"] + 0.5))


@needs_heartsteps
def test_a_raw_export_is_seen_through():
    frame = raw_export()
    roles = {"subject": "user.index", "time": "decision.index", "action": "send",
             "available": "avail"}  # fmt: skip
    others = [c for c in frame if c not in (*roles.values(), "steps")]
    after = {
        c for c in others
        if "response" in c or c in ("returned.message", "interaction.count")
        or (c.startswith(("jb", "gf")) and "pre" not in c)
    }  # fmt: skip
    before = {
        c for c in others
        if c.startswith("dec.") or "pre" in c.replace("prefetch", "").replace("precip", "")
        or c in ("recognized.activity", "sugg.select.slot", "sugg.decision.slot")
    }  # fmt: skip
    found = {leak.column for leak in find_leaks_of(frame, others, **roles, outcome="steps")}
    assert (len(after), len(before)) == (35, 22)
    assert after <= found
    assert before.isdisjoint(found)
    assert found - after == {"is.randomized", "send.active", "send.sedentary"}


@needs_heartsteps
def test_of_the_prepared_trial_only_the_copy_is_asked_about():
    frame = read_table(HEARTSTEPS / "heartsteps_v1.csv")
    roles = guess_roles(frame)
    assert find_leaks(frame, roles) == ()
    every = [c for c in frame if c not in roles.columns() or c in roles.state_names]
    found = find_leaks_of(
        frame, every, subject="subject", time="time", action="action", available="available",
        outcome="utility",
    )  # fmt: skip
    assert {leak.column for leak in found} == {"utility_zero_filled"}
    assert "equals outcome" in {leak.why for leak in found}


@needs_heartsteps
def test_the_guess_of_a_raw_export():
    guess = guess_columns(read_table(HEARTSTEPS / "raw_export.csv"))
    assert guess.first("subject") == "user.index"
    assert guess.first("time") == "decision.index"
    assert guess.first("action") == "send"
    assert guess.first("available") == "avail"
    assert guess.first("utility") is None
    assert guess.next_value is None
    states = {c.column for c in guess.columns if c.role == "state"}
    assert not any(c.startswith(("response", "jbsteps30.")) for c in states)
    assert {"dec.temperature", "jbsteps30pre", "sugg.select.slot"} <= states
