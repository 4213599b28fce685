"""How outcomes are spread under a policy, and whether a group loses."""

from dataclasses import replace

import numpy as np
import pytest
from small_policies import trajectories_of

from smdp.evaluation.estimators import Estimate
from smdp.evaluation.judged_decisions import JudgedDecisions
from smdp.evaluation.outcome_risk import (
    BELOW_QUARTILE,
    LOWER_QUARTILE,
    MEDIAN,
    Loses,
    outcome_risk,
    subgroup_gains,
)
from smdp.words.policy_comparison import (
    describe_risk,
    describe_subgroups,
    risk_words,
    subgroup_words,
)

PEOPLE, TIMES = 40, 25
HOW = {"coverage": 0.95, "least_effective": 10.0}


def estimate(value, of_people, weights):
    return Estimate(
        value=value,
        influence=(of_people - of_people.mean()) / PEOPLE,
        fitted_q=value,
        fitted_q_draws=np.full(50, value),
        weights=weights,
        clipped=0.0,
    )


def judged(gain, weights=None, seed=0):
    """`gain`: (people,), of the policy over what was done."""
    random = np.random.default_rng(seed)
    row = np.repeat(np.arange(PEOPLE), TIMES)
    utility = random.normal(0, 1, len(row))
    own = np.ones(len(row)) if weights is None else weights(utility)
    noise = random.normal(0, 0.3, PEOPLE)
    done = estimate(0.0, noise - noise.mean(), np.ones(len(row)))
    policy = estimate(float(gain.mean()), gain + noise, own)
    time = np.tile(np.arange(TIMES), PEOPLE)
    return JudgedDecisions(row, time, row, utility, {"learned": policy, "observed": done})


def study(values):
    """One variable, the same at each decision."""
    return trajectories_of(np.repeat(values[:, None, None], TIMES + 1, axis=1), ["age"])


def test_with_equal_weights_it_is_the_distribution_of_the_outcomes():
    found = judged(np.zeros(PEOPLE))
    risk = outcome_risk(found, seed=1, **HOW)
    own = risk.figures.set_index(["policy", "figure"]).loc["learned"]
    assert own.loc[MEDIAN, "estimate"] == pytest.approx(np.median(found.utility), abs=0.01)
    assert own.loc[LOWER_QUARTILE, "estimate"] == pytest.approx(
        np.quantile(found.utility, 0.25), abs=0.01
    )
    assert own.loc[BELOW_QUARTILE, "estimate"] == pytest.approx(0.25, abs=0.01)
    assert own["difference"].abs().max() == 0
    assert "does not tell" in describe_risk(risk, "linear")[0]


def test_weights_on_good_outcomes_make_bad_ones_fewer():
    found = judged(np.zeros(PEOPLE), weights=np.exp)
    risk = outcome_risk(found, seed=1, **HOW)
    row = risk.figures.set_index(["policy", "figure"]).loc[("learned", BELOW_QUARTILE)]
    expected = np.exp(found.utility)[found.utility < np.quantile(found.utility, 0.25)].sum()
    assert row["estimate"] == pytest.approx(expected / np.exp(found.utility).sum(), abs=0.01)
    assert row["difference_upper"] < 0
    assert "become fewer" in describe_risk(risk, "linear")[0]
    assert len(risk_words(risk, ["learned", "observed"])) == 4
    assert outcome_risk(found, seed=1, **HOW) == risk
    few = outcome_risk(found, seed=1, coverage=0.95, least_effective=1000.0)
    assert few.figures["lower"].isna().all()
    assert "no interval" in describe_risk(few, "linear")[0]


def test_a_group_that_loses_is_found():
    young = np.arange(PEOPLE) < 20
    values = np.where(young, 18.0, 60.0) + np.arange(PEOPLE) / 100
    gains = subgroup_gains(judged(np.where(young, 1.0, -1.0)), study(values), ["age"], **HOW)
    assert list(gains.groups["people"]) == [20, 20]
    assert list(gains.groups["loses"]) == [Loses.NOT_SHOWN, Loses.YES]
    assert gains.groups["estimate"].tolist() == pytest.approx([1.0, -1.0], abs=0.3)
    assert "Yes: age: above" in describe_subgroups(gains)[0]
    assert list(subgroup_words(gains)["does it lose?"]) == ["not shown", "loses"]


def test_where_all_gain_nobody_is_said_to_lose_but_what_is_unknown_is():
    values = np.arange(PEOPLE) % 3.0
    gains = subgroup_gains(judged(np.full(PEOPLE, 0.1)), study(values), ["age"], **HOW)
    assert list(gains.groups["group"]) == ["0", "1", "2"]
    said = describe_subgroups(gains)
    assert "No group is shown to, reckoning with the 3 groups" in said[0]
    assert "cannot be ruled out" in said[1]


def test_chance_losses_among_many_groups_are_rare():
    """18 groups in each of 60 data sets without any effect: 'yes' at most in a twentieth."""
    yes = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        states = random.normal(size=(PEOPLE, 9))
        data = trajectories_of(
            np.repeat(states[:, None, :], TIMES + 1, axis=1), [f"v{k}" for k in range(9)]
        )
        noisy = judged(random.normal(0, 1, PEOPLE), seed=seed)
        own = noisy.estimates["learned"]
        zero = replace(noisy, estimates={**noisy.estimates, "learned": replace(own, value=0.0)})
        gains = subgroup_gains(zero, data, data.variables, **HOW)
        yes += bool(len(gains.those_who(Loses.YES)))
    assert yes <= 6


def test_small_groups_have_no_interval():
    values = np.where(np.arange(PEOPLE) < 3, 1.0, 0.0)
    gains = subgroup_gains(judged(np.ones(PEOPLE)), study(values), ["age"], **HOW)
    assert list(gains.groups["loses"]) == [Loses.NOT_SHOWN, Loses.TOO_FEW]
    assert gains.groups["lower"].isna().tolist() == [False, True]
