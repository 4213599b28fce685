"""Missing values drawn several times, and the patterns of what is missing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

import smdp
from smdp.data.prepare import complete
from smdp.data.study import Cell
from smdp.evaluation.whole_analysis import WholeAnalysis
from smdp.simulation.basics_like import basics_like
from smdp.validation.imputation_draws import drawn_study, repeat_imputation
from smdp.validation.imputation_settings import ImputationDrawsSettings
from smdp.validation.missingness import OUTCOME, missing_patterns

QUICK = ImputationDrawsSettings(draws=3)
SCREEN = WholeAnalysis(smdp.ScreeningSettings(permutations=299), policies=())


@pytest.fixture(scope="module")
def students():
    frame = basics_like(3)
    return smdp.prepare(frame, smdp.guess_roles(frame)).completed


@pytest.fixture(scope="module")
def every_kind():
    frame = table_of_every_kind(people=14, decisions=16)
    return smdp.prepare(frame, roles_of_every_kind()).completed


@pytest.mark.parametrize("which", ["students", "every_kind"])
def test_only_what_was_missing_is_drawn_and_within_its_range(which, request):
    completed = request.getfixturevalue(which)
    drawn = drawn_study(completed, np.random.default_rng(1))
    seen = completed.origin == Cell.OBSERVED
    assert (drawn.study.values[seen] == completed.study.values[seen]).all()
    assert (drawn.study.values != completed.study.values).any()
    assert (np.isfinite(drawn.study.values) == np.isfinite(completed.study.values)).all()
    for j, variable in enumerate(completed.study.variables):
        observed = completed.study.values[:, :, j][seen[:, :, j]]
        made = drawn.study.values[:, :, j][np.isfinite(drawn.study.values[:, :, j])]
        if variable.whole_kind == "text":
            np.testing.assert_array_equal(drawn.study.values[:, :, j],
                                          completed.study.values[:, :, j])  # fmt: skip
            continue
        low = variable.low if variable.low is not None else observed.min()
        high = variable.high if variable.high is not None else observed.max()
        assert low <= made.min()
        assert made.max() <= high
        if variable.kind == "nominal":
            assert set(made) <= set(observed)


def test_drawn_values_vary_as_seen_ones_do():
    """A series of noise: what is drawn has the spread of what was seen, not that of a curve."""
    random = np.random.default_rng(4)
    people, days = 20, 40

    table = pd.DataFrame(
        {
            "person": np.repeat([f"p{i:02d}" for i in range(people)], days),
            "day": np.tile(np.arange(1, days + 1), people),
            "treated": random.integers(0, 2, people * days),
            "x": random.normal(size=people * days),
            "y": random.normal(size=people * days),
        }
    )
    table.loc[random.random(len(table)) < 0.3, "x"] = np.nan
    roles = smdp.ColumnRoles("person", "day", "treated", ["x"], "y", probability=0.5)
    completed = smdp.prepare(table, roles).completed
    filled = np.isin(completed.origin, (Cell.IMPUTED, Cell.EXTRAPOLATED))
    assert completed.study.values[filled].std() < 0.5
    spreads = [drawn_study(completed, np.random.default_rng(k)).study.values[filled].std()
               for k in range(5)]  # fmt: skip
    assert np.mean(spreads) == pytest.approx(1.0, abs=0.15)


def test_rubins_rules_and_what_is_kept(students):
    found = repeat_imputation(students, None, SCREEN, QUICK, seed=2)
    assert found.complete
    assert found.filled > 0
    [effect] = found.effects.to_dict("records")
    estimates = [float(each.effects["estimate"].iloc[0]) for each in found.draws]
    errors = [float(each.effects["standard_error"].iloc[0]) for each in found.draws]
    assert effect["combined"] == pytest.approx(np.mean(estimates))
    more = (1 + 1 / 3) * np.var(estimates, ddof=1)
    within = np.mean(np.square(errors))
    assert effect["combined_error"] == pytest.approx(np.sqrt(within + more))
    assert effect["missing_share"] == pytest.approx(more / (within + more))
    assert set(found.kept["variable"]) == set(found.variables)
    assert found == repeat_imputation(students, None, SCREEN, QUICK, seed=2)
    more_draws = repeat_imputation(
        students, None, SCREEN, replace(QUICK, draws=4), seed=2, earlier=found
    )
    assert more_draws.draws[:3] == found.draws


def test_a_study_without_missing_values_says_so():
    frame = basics_like(3, missing=False, subjects=8, reports=10)
    completed = smdp.prepare(frame, smdp.guess_roles(frame)).completed
    found = repeat_imputation(completed, None, SCREEN, QUICK)
    assert found.draws == ()
    assert found.complete
    assert found.patterns.missing == 0
    assert "nothing to draw" in found.summary()


def trial_with_losses(chance, seed, people=30, days=30):
    """`chance(day, action before, stress before)`: of an answer to be lost."""

    random = np.random.default_rng(seed)
    rows = []
    for i in range(people):
        own = random.normal(0, 0.5)
        before, stress_before = 0, 0.0
        for day in range(days):
            treated, stress = int(random.random() < 0.5), random.normal()
            lost = random.random() < 1 / (1 + np.exp(-(own + chance(day, before, stress_before))))
            rows.append((f"p{i:02d}", day + 1, treated, stress,
                         np.nan if lost else random.normal(), random.normal()))  # fmt: skip
            before, stress_before = treated, stress
    names = ["person", "day", "treated", "stress", "mood", "score"]
    frame = pd.DataFrame(rows, columns=names)
    roles = smdp.ColumnRoles("person", "day", "treated", ["stress", "mood"], "score",
                             probability=0.5)  # fmt: skip
    return smdp.prepare(frame, roles).completed


@pytest.mark.parametrize(
    ("chance", "question"),
    [
        (lambda day, action, stress: -2.5 + 0.08 * day, "time"),
        (lambda day, action, stress: -2.0 + 1.5 * action, "treatment"),
        (lambda day, action, stress: -1.5 + 1.0 * stress, "answers"),
    ],
)
def test_each_pattern_is_found(chance, question):
    tests = missing_patterns(trial_with_losses(chance, 3)).tests.set_index("question")
    assert tests.loc[question, "adjusted"] < 0.01
    assert tests.loc[question, "share_low"] < tests.loc[question, "share_high"]
    others = tests.drop(question)
    assert (others["p_value"] > 0.01).all()


def test_pure_chance_is_found_at_its_level():
    p_values = np.concatenate(
        [
            missing_patterns(trial_with_losses(lambda *_: -1.5, seed, 20, 15), draws=199).tests[
                "p_value"
            ]
            for seed in range(40)
        ]
    )
    assert len(p_values) == 120
    assert (p_values <= 0.05).sum() <= 13, "binomial, 120 at .05: more than 13 in 1 of 200"


def test_a_missing_outcome_has_patterns_too():
    frame = table_of_every_kind(people=14, decisions=16)
    frame.loc[frame.index % 5 == 0, "score"] = np.nan
    completed = complete(smdp.arrange(frame, roles_of_every_kind()), smdp.PreparationSettings())
    found = missing_patterns(completed)
    assert OUTCOME in set(found.by_variable["variable"])
    few = found.tests[found.tests["variable"] == OUTCOME]
    assert set(few["question"]) <= {"time", "treatment", "answers"}


def test_too_few_people_are_not_tested():
    found = missing_patterns(trial_with_losses(lambda *_: -1.0, 1, people=5))
    assert found.tests.empty
    assert "fewer than 6 people" in found.notes[0]
