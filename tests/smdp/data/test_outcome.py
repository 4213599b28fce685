"""What the outcome is: its kind, its unit, which way is better; and who decided on treatment."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.analysis.plan import AnalysisPlan
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.describe import describe_study, utility_meaning
from smdp.data.measured import measured_outcome, outcome_kind
from smdp.data.outcome import AboutOutcome, OutcomeName, recognise_outcome
from smdp.errors import SettingError
from smdp.plain_data import fingerprint, from_plain, to_plain
from tests.small_trial import study_frame

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (RANDOM.integers(0, 2, 80), "yes/no"),
        ([1.0, 2.0, 1.0], "yes/no"),
        (RANDOM.poisson(1, 200), "count"),
        (RANDOM.integers(0, 4000, 500), "count"),
        (RANDOM.integers(0, 11, 300), "continuous"),
        (RANDOM.integers(1, 6, 300), "continuous"),
        (RANDOM.normal(size=50), "continuous"),
        (RANDOM.poisson(2, 200) - 1, "continuous"),
        ([3.0, np.nan], "continuous"),
        ([], "continuous"),
    ],
)
def test_the_kind_is_recognised_from_the_values(values, kind):
    assert recognise_outcome(np.array([*values, np.nan], float)) == kind


@pytest.fixture(scope="module")
def frame():
    made = study_frame()
    return made.assign(smoked=RANDOM.poisson(1, len(made)))


@pytest.fixture(scope="module")
def roles(frame):
    from smdp.data.guess_roles import guess_columns

    guess = guess_columns(frame)
    who = {role: guess.first(role) for role in ("subject", "time", "action")}
    return ColumnRoles(**who, states=["stress", "craving"], utility="smoked")


def test_less_of_a_column_can_be_better(frame, roles):
    more, less = (
        arrange(frame, replace(roles, outcome=AboutOutcome(unit="cigarettes", less_is_better=way)))
        for way in (False, True)
    )
    assert np.array_equal(less.utilities, -more.utilities, equal_nan=True)
    assert measured_outcome(more).variable.title == "smoked (cigarettes)"
    assert measured_outcome(less).variable.title == "minus smoked (cigarettes)"
    assert outcome_kind(more) == outcome_kind(less) == "count"
    said = describe_study(less)[-1]
    assert "less smoked is better, so the utility is minus it. It goes from 0 to" in said


def test_the_outcome_has_one_name(roles):
    assert roles.outcome_name.title == "smoked"
    assert roles.outcome_name.better == "more smoked is better"
    following = replace(
        roles, utility=NextValue("stress", -1), states=[StateVariable("stress", unit="points")]
    )
    assert following.outcome_name.title == "minus next stress (points)"
    assert following.outcome_name.the == "minus next stress"
    own = replace(following, outcome=AboutOutcome(unit="stars"))
    assert utility_meaning(own, "count") == (
        "Outcome: the next value of 'stress' (in stars, count); less stress is better, so the "
        "utility is minus it."
    )
    assert (OutcomeName().the, OutcomeName().title, OutcomeName().better) == (
        "the utility",
        "utility",
        "",
    )


@pytest.mark.parametrize(
    ("column", "kind", "words"),
    [
        ("stress", "yes/no", "different values"),
        ("stress", "count", "values that are not whole"),
        ("below", "count", "values below 0, such as -3"),
    ],
)
def test_a_kind_that_cannot_be_is_an_error(frame, roles, column, kind, words):
    frame = frame.assign(below=frame["smoked"] - 3, stress=RANDOM.random(len(frame)))
    said = replace(roles, utility=column, states=["craving"], outcome=AboutOutcome(kind))
    (problem,) = (p for p in find_problems(frame, said) if p.severity == "error")
    assert words in problem.message
    assert "continuous" in problem.remedy


def test_what_is_said_is_checked_and_kept(frame, roles):
    with pytest.raises(SettingError, match="kind of the outcome"):
        AboutOutcome("counts")
    with pytest.raises(SettingError, match="at most 40 letters"):
        AboutOutcome(unit="x" * 41)
    with pytest.raises(SettingError, match="assignment"):
        replace(roles, assignment="chosen")
    said = replace(roles, assignment="observed", outcome=AboutOutcome("count", "cigarettes", True))
    plan = AnalysisPlan(roles=said)
    assert AnalysisPlan.from_toml(plan.to_toml()) == AnalysisPlan.from_json(plan.to_json()) == plan
    assert 'assignment="observed"' in plan.to_script("study.csv")
    assert from_plain(to_plain(said, {}), {}) == said


def test_words_make_no_later_step_out_of_date(frame, roles):
    study = arrange(frame, roles)
    said = replace(roles, assignment="randomised", outcome=AboutOutcome("count", "cigarettes"))
    assert fingerprint(arrange(frame, said)) == fingerprint(study)
    assert arrange(frame, said) != study
    less = replace(roles, outcome=AboutOutcome(less_is_better=True))
    assert fingerprint(arrange(frame, less)) != fingerprint(study)


def test_who_decided_is_said_from_the_first_page_on(frame, roles):
    texts = {
        said: describe_study(arrange(frame, replace(roles, assignment=said)))[2]
        for said in (None, "randomised", "observed")
    }
    assert "Randomised, by your account. Randomisation probabilities are not" in texts["randomised"]
    assert "Observed, not randomised: what treatment seems to do" in texts["observed"]
    assert texts[None].endswith(
        "Randomisation probabilities are not given; they will be estimated."
    )
    known = replace(roles, assignment="observed", probability=0.5)
    assert "Observed, not randomised; the" in describe_study(arrange(frame, known))[2]
    assert (roles.randomised, replace(roles, probability=0.5).randomised) == (False, True)
    found = find_problems(frame, known)
    assert [p.severity for p in found if "observed" in p.message] == ["warning"]
    assert not [p for p in find_problems(frame, roles) if "observed" in p.message]
