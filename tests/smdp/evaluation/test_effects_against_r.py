"""Effects of treatment agree with R; and what is done with data that are not as usual."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from smdp.data.column_roles import ColumnRoles
from smdp.data.prepare import PreparedData, prepare
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.trial_effects import TrialSummary, trial_summary

TESTS = Path(__file__).parents[2]
REFERENCE = json.loads((TESTS / "reference" / "emee.json").read_text())
PUBLISHED = TESTS.parents[1] / "shared" / "data" / "mrt"
needs_published = pytest.mark.skipif(not PUBLISHED.exists(), reason="MRTAnalysis is not here")


def trial(
    states: NDArray[np.float64],
    actions: NDArray[np.int64],
    utilities: NDArray[np.float64],
    probabilities: NDArray[np.float64],
    available: NDArray[np.bool_] | None = None,
) -> Trajectories:
    """States (n, T, p); probabilities (n, T, K), or of the second of two actions (n, T)."""
    if probabilities.ndim == 2:
        probabilities = np.stack([1 - probabilities, probabilities], axis=2)
    everywhere = np.ones(actions.shape, dtype=bool)
    return Trajectories(
        states=np.concatenate([states, np.full_like(states[:, :1], np.nan)], axis=1),
        actions=actions,
        utilities=utilities,
        valid=everywhere,
        available=everywhere if available is None else available,
        probabilities=probabilities,
        variables=("x", "z")[: states.shape[2]],
        subjects=tuple(f"{i:03d}" for i in range(len(actions))),
        action_labels=tuple(str(k) for k in range(probabilities.shape[2])),
    )


def trajectories_of(case: dict) -> Trajectories:
    shape = case["subjects"], case["times"]
    return trial(
        np.stack([case["x"], case["z"]], axis=-1).reshape(*shape, 2),
        np.array(case["action"], dtype=np.int64).reshape(shape),
        np.array(case["utility"], dtype=float).reshape(shape),
        np.array(case["probability"]).reshape(*shape, case["actions"]),
        np.array(case["available"], dtype=bool).reshape(shape),
    )


def answers(case: dict) -> TrialSummary:
    return trial_summary(
        trajectories_of(case),
        controls=case["controls"],
        moderators=case["moderators"],
        numerator=case["numerator"],
        kind=case["kind"],
    )


@pytest.mark.parametrize("case", REFERENCE, ids=[case["name"] for case in REFERENCE])
def test_agrees_with_r(case):
    """tests/reference/emee.R: the equations row by row, with full matrices H_ii."""
    found = answers(case)
    assert found.scale == ("linear" if case["kind"] == "continuous" else "ratio")
    assert found.freedom == case["freedom"]
    assert found.decisions == sum(case["available"])
    keys = [
        (str(int(k)), term) for k, term in zip(case["action_of_term"], case["term"], strict=True)
    ]
    effects = found.effects.set_index(["action", "term"])
    assert set(effects.index) == set(keys)
    effects = effects.loc[keys]
    np.testing.assert_allclose(effects["estimate"], case["estimate"], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(effects["standard_error"], case["error"], rtol=1e-7, atol=1e-7)
    for name in ("lower", "upper", "p_value"):
        np.testing.assert_allclose(effects[name], case[name], rtol=1e-6, atol=1e-6)


def test_numerators_matter_in_the_references():
    """So that agreeing with R in two of them is agreeing twice."""
    by_name = {case["name"]: case for case in REFERENCE}
    for kind, other in (("continuous", "numerator of the mean"), ("yes/no", "moderated")):
        half, mean = by_name[f"{kind}, numerator of .5"], by_name[f"{kind}, {other}"]
        assert half["utility"] == mean["utility"]
        assert abs(half["estimate"][-1] - mean["estimate"][-1]) > 1e-4


@pytest.mark.parametrize("numerator", [None, 0.5, "own"])
def test_what_happened_where_nothing_could_be_chosen_does_not_matter(numerator):
    case = next(case for case in REFERENCE if case["name"] == "yes/no, unavailable decisions")
    data = trajectories_of(case)
    other = replace(data, utilities=np.where(data.available, data.utilities, 1 - data.utilities))
    one, two = (trial_summary(each, numerator=numerator, controls=["x"]) for each in (data, other))
    if numerator != "own":
        pd.testing.assert_frame_equal(one.effects, two.effects)
    np.testing.assert_allclose(one.effects["estimate"], two.effects["estimate"], rtol=1e-12)
    # R's `emee2` lets them into its correction for few subjects, and so does this.
    np.testing.assert_allclose(
        one.effects["standard_error"], two.effects["standard_error"], rtol=0.05
    )
    assert one.decisions == two.decisions == sum(case["available"])
    assert list(one.delayed["decisions"]) == list(two.delayed["decisions"])


def test_decisions_without_a_choice_whose_probabilities_are_unknown_are_left_alone():
    case = next(case for case in REFERENCE if case["name"] == "yes/no, unavailable decisions")
    data = trajectories_of(case)
    known = data.available[:, :, None]
    without = replace(data, probabilities=np.where(known, data.probabilities, np.nan))
    nobody = replace(without, valid=data.available)
    one, two = (trial_summary(each, numerator="own", controls=["x"]) for each in (without, nobody))
    pd.testing.assert_frame_equal(one.effects, two.effects)


# Values that the R package MRTAnalysis 0.3.0 gives for its own example trials, whose licence keeps
# them out of this repository: estimate, lower, upper, error, degrees of freedom, p-value.
STEPS = {
    ("logstep_pre30min",): {
        "average": (
            0.1574444084, 0.03099683162, 0.2838919852, 0.06222065122, 34, 0.01619006223
        ),
    },
    ("logstep_pre30min", "is_at_home_or_work"): {
        "intercept": (
            0.1060265621, -0.03388690107, 0.2459400254, 0.06868828755, 32, 0.1325204507
        ),
        "is_at_home_or_work": (
            0.1324598454, -0.16944930006, 0.4343689908, 0.14821748901, 32, 0.3781624401
        ),
    },
    ("logstep_pre30min", "day_in_study"): {
        "intercept": (
            0.64860063176, 0.43049809467, 0.86670316885, 0.10707396871, 32, 9.191087831e-07
        ),
        "day_in_study": (
            -0.02374011092, -0.03278932632, -0.01469089552, 0.00444256825, 32, 7.307052746e-06
        ),
    },
}  # fmt: skip
YES_NO = {
    (): {
        "average": (
            0.3405625707, 0.2412750146, 0.4398501269, 0.0500193153, 96, 8.537818557e-10
        ),
    },
    ("time_var1",): {
        "intercept": (
            0.0811449531, -0.18020067393, 0.3424905801, 0.1316436192, 95, 0.53910569408
        ),
        "time_var1": (
            0.4293133239, 0.05103279696, 0.8075938509, 0.1905454405, 95, 0.02655486481
        ),
    },
}  # fmt: skip
ALWAYS_CENTRED = {
    "average": (0.3347771091, 0.2355306925, 0.4340235257, 0.04999858992, 96, 1.446879739e-09),
}


@pytest.fixture(scope="module")
def steps() -> PreparedData:
    states = ["logstep_pre30min", "is_at_home_or_work", "day_in_study"]
    roles = ColumnRoles(
        "userid", "decision_point", "intervention", states, "logstep_30min", "avail", "rand_prob"
    )
    return prepare(pd.read_csv(PUBLISHED / "mimic_heartsteps.csv"), roles)


@pytest.fixture(scope="module")
def yes_no() -> PreparedData:
    roles = ColumnRoles(
        "userid", "time", "A", ["time_var1", "time_var2"], "Y", "avail", "rand_prob"
    )
    return prepare(pd.read_csv(PUBLISHED / "binary_outcome.csv"), roles)


def assert_as_published(found: TrialSummary, published: dict[str, tuple[float, ...]]) -> None:
    effects = found.effects.set_index("term")
    columns = ["estimate", "lower", "upper", "standard_error", "p_value"]
    for term, (estimate, lower, upper, error, freedom, p_value) in published.items():
        expected = [estimate, lower, upper, error, p_value]
        np.testing.assert_allclose(effects.loc[term, columns].astype(float), expected, atol=1e-6)
        assert effects.loc[term, "p_value"] == pytest.approx(p_value, rel=1e-4)
        assert found.freedom == freedom


@needs_published
@pytest.mark.parametrize("controls", STEPS, ids=["average", "by place", "by day"])
def test_steps_as_in_mrtanalysis(steps, controls):
    found = trial_summary(steps, controls=controls, moderators=controls[1:])
    assert (found.kind, found.scale) == ("continuous", "linear")
    assert_as_published(found, STEPS[controls])


@needs_published
@pytest.mark.parametrize("moderators", YES_NO, ids=["average", "by time_var1"])
def test_log_relative_risks_as_in_mrtanalysis(yes_no, moderators):
    controls = ["time_var1", "time_var2"]
    found = trial_summary(yes_no, controls=controls, moderators=moderators, numerator=0.5)
    assert (found.kind, found.scale) == ("yes/no", "ratio")
    assert_as_published(found, YES_NO[moderators])


@needs_published
def test_always_centred_as_in_mrtanalysis(yes_no):
    """R's `emee2`, with its look at unavailable decisions in the correction for few subjects."""
    found = trial_summary(yes_no, controls=["time_var1", "time_var2"], numerator="own")
    assert_as_published(found, ALWAYS_CENTRED)


# Data that are not as usual.


def small_trial(
    seed: int = 0, people: int = 20, times: int = 20, kind: str = "continuous", actions: int = 2
) -> Trajectories:
    """x moves from decision to decision, z differs between people as well; actions are even."""
    random = np.random.default_rng(seed)
    shape = people, times
    x = random.normal(size=shape)
    z = random.normal(size=shape) + random.normal(size=(people, 1))
    given = random.integers(0, actions, shape)
    mean = 0.3 * x + 0.4 * given
    if kind == "yes/no":
        outcome = (random.random(shape) < np.clip(0.2 * np.exp(mean), 0, 1)).astype(float)
    elif kind == "count":
        outcome = random.poisson(np.exp(mean)).astype(float)
    else:
        outcome = mean + random.normal(size=shape)
    return trial(np.stack([x, z], axis=2), given, outcome, np.full((*shape, actions), 1 / actions))


def average(found: TrialSummary) -> pd.Series:
    return found.effects[found.effects["term"] == "average"].set_index("action")["estimate"]


@pytest.mark.parametrize("kind", ["continuous", "yes/no", "count"])
def test_an_action_that_nobody_got_at_some_times(kind):
    data = small_trial(kind=kind, actions=3)
    early = np.arange(data.actions.shape[1]) < 5
    never = replace(data, actions=np.where(early & (data.actions == 2), 1, data.actions))
    found = trial_summary(never, controls=["x"], kind=kind)
    assert np.isfinite(found.effects.select_dtypes(float)).all(axis=None)
    assert found.decisions == data.actions.size
    assert set(found.over_time["action"]) == {"1", "2"}
    (note,) = found.notes
    assert note.startswith("Nobody got '2' at 5 decision times")
    assert trial_summary(data, controls=["x"], kind=kind).notes == ()


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_decisions_without_chance_are_left_out_and_said(kind, certain):
    data = small_trial(kind=kind)
    sure = np.zeros(data.actions.shape, dtype=bool)
    sure[:, ::4] = True
    chance = np.where(sure, certain, 0.5)
    actions = np.where(sure, int(certain), data.actions)
    probabilities = np.stack([1 - chance, chance], axis=2)
    data = replace(data, actions=actions, probabilities=probabilities)
    found = trial_summary(data, controls=["x"])
    assert found.decisions == (~sure).sum()
    assert any("100 decisions were left out" in note for note in found.notes)
    without = trial_summary(replace(data, available=~sure), controls=["x"])
    pd.testing.assert_frame_equal(found.effects, without.effects)


@pytest.mark.parametrize("action", [0, 1])
@pytest.mark.parametrize("numerator", [None, "own"])
def test_never_yes_under_an_action(action, numerator):
    data = small_trial(kind="yes/no")
    utilities = np.where(data.actions == action, 0.0, data.utilities)
    found = trial_summary(replace(data, utilities=utilities), controls=["x"], numerator=numerator)
    assert (found.kind, found.scale) == ("yes/no", "linear")
    assert any(f"Under '{action}' the outcome was never yes" in note for note in found.notes)
    assert np.isfinite(found.effects["estimate"]).all()


def test_a_count_that_was_always_zero_under_an_action():
    data = small_trial(kind="count")
    found = trial_summary(replace(data, utilities=data.utilities * data.actions))
    assert found.scale == "linear"
    assert any("was always 0" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
def test_an_outcome_that_never_changes_is_refused(kind):
    data = small_trial(kind=kind)
    with pytest.raises(DataError):
        trial_summary(replace(data, utilities=np.ones_like(data.utilities)), kind=kind)


def test_never_yes_one_decision_after_an_action():
    """There is no ratio at lag 1, but there is one at the others."""
    data = small_trial(kind="yes/no")
    after = np.concatenate([np.zeros((20, 1)), data.actions[:, :-1]], axis=1) == 1
    found = trial_summary(replace(data, utilities=np.where(after, 0.0, data.utilities)))
    assert found.scale == "ratio"
    assert list(found.delayed["later"]) == [0, 2, 3]


@pytest.mark.parametrize(
    "numerator",
    [
        None,
        0.5,
        "own",
    ],
)
def test_never_yes_under_an_action_at_a_level_of_the_moderator(numerator):
    """The ratio there would be 0, so that its logarithm has no finite estimate."""
    data = small_trial(kind="yes/no", people=40)
    level = (data.states > 0).astype(float)
    never = (data.actions == 1) & (level[:, :-1, 0] == 1)
    data = replace(data, states=level, utilities=np.where(never, 0.0, data.utilities))
    with pytest.raises(DataError, match="could not be estimated"):
        trial_summary(data, moderators=["x"], numerator=numerator)


@pytest.mark.parametrize("numerator", [None, "own"])
def test_a_variable_by_which_there_is_no_ratio_is_named(numerator):
    data = small_trial(kind="yes/no", people=40)
    level = (data.states > 0).astype(float)
    never = (data.actions == 1) & (level[:, :-1, 0] == 1)
    data = replace(data, states=level, utilities=np.where(never, 0.0, data.utilities))
    found = trial_summary(data, numerator=numerator)
    assert set(found.by_variable["variable"]) == {"z"}
    assert any("By x, the effect could not be estimated" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
def test_the_effect_over_time_is_there_where_time_is_adjusted_for(kind):
    data = small_trial(kind=kind, people=30)
    states = data.states.copy()
    states[:, :-1, 1] = np.arange(20) / 7
    dated = replace(data, states=states)
    found = trial_summary(dated, controls=["z"]).over_time
    expected = trial_summary(dated).over_time
    pd.testing.assert_frame_equal(found, expected, rtol=1e-6)


def test_an_action_that_one_person_got_once_is_one_message():
    data = small_trial(actions=3)
    actions = np.where(data.actions == 2, 1, data.actions)
    actions[0, 0] = 2
    with pytest.raises(DataError, match="One subject alone") as refused:
        trial_summary(replace(data, actions=actions))
    assert "Join an action that only one subject got" in str(refused.value)


def test_an_outcome_that_treatment_decides_has_no_error_and_no_traceback():
    data = small_trial()
    found = trial_summary(replace(data, utilities=2.0 * data.actions), kind="continuous")
    assert found.effects["estimate"].iloc[0] == pytest.approx(2)
    assert np.isfinite(found.effects.select_dtypes(float)).all(axis=None)


@pytest.mark.parametrize(
    "times",
    [
        1,
        2,
        3,
        4,
    ],
)
def test_trials_of_few_decisions(times):
    found = trial_summary(small_trial(people=30, times=times))
    assert list(found.delayed["later"]) == list(range(times))


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
def test_moderators_that_repeat_each_other_are_refused(kind):
    data = small_trial(kind=kind)
    x = data.states[:, :, [0]]
    twice = replace(data, states=np.concatenate([x, 3 - 2 * x], axis=2))
    with pytest.raises(DataError, match="cannot be told apart"):
        trial_summary(twice, moderators=["x", "z"])


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
def test_too_few_people_for_the_coefficients_are_refused(kind):
    data = small_trial(people=5, kind=kind)
    with pytest.raises(DataError, match="5 subjects are too few for the 6 coefficients") as refused:
        trial_summary(data, moderators=["x", "z"])
    assert "At least 7 subjects" in str(refused.value)
    with pytest.raises(DataError, match="1 subject is too few for the 2 coefficients"):
        trial_summary(small_trial(people=1, kind=kind))


def test_a_negative_count_is_refused():
    with pytest.raises(DataError, match="a count cannot be negative"):
        trial_summary(small_trial(), kind="count")


def test_more_than_two_values_are_not_yes_or_no():
    with pytest.raises(DataError, match="so it is not yes/no"):
        trial_summary(small_trial(), kind="yes/no")


@pytest.mark.parametrize("kind", ["continuous", "yes/no", "count"])
def test_another_reference_flips_the_sign(kind):
    data = small_trial(kind=kind)
    first, second = (trial_summary(data, controls=["x"], reference=r) for r in ("0", "1"))
    for one, other in (("estimate", "estimate"), ("lower", "upper"), ("upper", "lower")):
        np.testing.assert_allclose(first.effects[one], -second.effects[other], rtol=1e-7)
    assert list(second.effects["action"]) == ["0"]
    assert list(second.effects["against"]) == ["1"]


@pytest.mark.parametrize("kind", ["continuous", "yes/no", "count"])
def test_effects_of_three_actions_add_up_for_any_reference(kind):
    data = small_trial(kind=kind, actions=3)
    first, second = (average(trial_summary(data, controls=["x"], reference=r)) for r in ("0", "1"))
    assert second["0"] == pytest.approx(-first["1"], rel=1e-7)
    assert second["2"] == pytest.approx(first["2"] - first["1"], rel=1e-7)


@pytest.mark.parametrize("kind", ["continuous", "yes/no"])
def test_an_effect_on_the_outcome_of_the_next_decision(kind):
    """Treatment does nothing at once; it shows at the outcome after the next decision."""
    random = np.random.default_rng(4)
    shape = 60, 30
    actions = random.integers(0, 2, shape)
    earlier = np.concatenate([np.zeros((60, 1)), actions[:, :-1]], axis=1)
    if kind == "yes/no":
        outcome = (random.random(shape) < 0.3 * np.exp(0.4 * earlier)).astype(float)
    else:
        outcome = 0.4 * earlier + random.normal(size=shape)
    data = trial(random.normal(size=(*shape, 2)), actions, outcome, np.full(shape, 0.5))
    delayed = trial_summary(data).delayed.set_index("later")
    assert delayed.loc[1, "p_value"] < 1e-4
    assert delayed.loc[1, "lower"] < 0.4 < delayed.loc[1, "upper"]
    assert (delayed.loc[[0, 2, 3], "p_value"] > 0.05).all()
    assert list(delayed["decisions"]) == [60 * (30 - lag) for lag in range(4)]


# Probabilities that were learned.


def learning_trial(seed: int, people: int = 40, times: int = 40) -> Trajectories:
    """Thompson sampling of a linear model of everybody's outcomes so far."""
    random = np.random.default_rng(seed)
    states = random.normal(size=(people, times, 2))
    actions = np.zeros((people, times), dtype=np.int64)
    utilities, chance = np.zeros((people, times)), np.zeros((people, times))
    precision, weighted = np.eye(4), np.zeros(4)
    for t in range(times):
        base = np.column_stack([np.ones(people), states[:, t, 0]])
        covariance = np.linalg.inv(precision)
        gain = base @ (covariance @ weighted)[2:]
        spread = np.sqrt(np.einsum("ni,ij,nj->n", base, covariance[2:, 2:], base))
        chance[:, t] = np.clip(norm.cdf(gain / spread), 0.1, 0.9)
        actions[:, t] = random.random(people) < chance[:, t]
        effect = 0.1 + 0.3 * states[:, t, 0]
        utilities[:, t] = states[:, t, 0] + actions[:, t] * effect + random.normal(size=people)
        design = np.hstack([base, actions[:, [t]] * base])
        precision += design.T @ design
        weighted += design.T @ utilities[:, t]
    return trial(states, actions, utilities, chance)


def fixed_trial(seed: int, design: str, people: int = 40, times: int = 40) -> Trajectories:
    random = np.random.default_rng(seed)
    states = random.normal(size=(people, times, 2))
    x = states[:, :, 0]
    clock = np.broadcast_to(np.arange(times), (people, times))
    chance = {
        "constant": np.full_like(x, 0.4),
        "by stratum": np.where(x > 0, 0.6, 0.3),
        "by state": 1 / (1 + np.exp(-x)),
        "by day of the week": 0.3 + 0.05 * (clock % 7),
        "by a long schedule": 0.3 + 0.4 * clock / times,
    }[design]
    actions = (random.random(x.shape) < chance).astype(np.int64)
    return trial(states, actions, x + 0.3 * actions + random.normal(size=x.shape), chance)


def test_learned_probabilities_are_recognised():
    found = [trial_summary(learning_trial(seed)).learned for seed in range(5)]
    assert np.mean(found) > 0.5


@pytest.mark.parametrize(
    "design",
    [
        "constant",
        "by stratum",
        "by state",
        "by day of the week",
        "by a long schedule",
    ],
)
def test_fixed_probabilities_are_not_taken_for_learned(design):
    assert not any(trial_summary(fixed_trial(seed, design)).learned for seed in range(5))
