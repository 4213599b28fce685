"""Sizes of trials by formula: equal to published ones, to R, and to simulated power."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from smdp.errors import SettingError
from smdp.simulation.trial_size import (
    TrialSizeSettings,
    grant_sentence,
    noncentrality_continuous,
    noncentrality_yes_no,
    over_days,
    people_needed,
    power_of,
    trial_size,
)

R = json.loads((Path(__file__).parents[2] / "reference" / "trial_size.json").read_text())
#: The vignette of MRTSampleSizeBinary: log probabilities -0.2 - 0.1 t, log ratios 0.15 - 0.01 t.
VIGNETTE = TrialSizeSettings(
    outcome="yes/no", days=10, decisions=1, probability=0.4, effect_shape="linear",
    ratio=float(np.exp(0.095)), ratio_first=float(np.exp(0.14)), availability=0.8,
    baseline=float(np.exp(-0.3)), baseline_last=float(np.exp(-1.2)), people=275,
)  # fmt: skip


def test_the_documented_example_of_mrtsamplesize():
    """?calculateSampleSize, first example: 46."""
    asked = TrialSizeSettings(
        days=42, decisions=5, probability=0.4, effect_shape="quadratic", effect=0.1,
        effect_first=0.0, effect_peak=28, availability_shape="quadratic", availability=0.5,
        availability_first=0.7, availability_turn=42,
    )  # fmt: skip
    assert trial_size(asked).needed == 46


def test_the_vignette_of_mrtsamplesizebinary():
    """275 people, and power .8015381 with them."""
    found = trial_size(VIGNETTE)
    assert found.needed == 275
    assert found.power == pytest.approx(0.8015381, abs=5e-8)


@pytest.mark.parametrize(
    ("effect", "controls", "exact"),
    [((0.15, -0.01, -0.1), (-0.2, -0.1, 0.01), 32.003286527546599),
     ((0.15, -0.01), (-0.2, -0.1, 0.01), 184.43823325060882)],
)  # fmt: skip
def test_the_package_s_own_tests(effect, controls, exact):
    """MRTSampleSizeBinary 0.1.2, tests/testthat/test-mrt_binary_ss.R."""
    t = np.arange(1, 11.0)
    design = np.vander(t, len(effect), increasing=True)
    baseline = np.exp(np.vander(t, len(controls), increasing=True) @ controls)
    one = noncentrality_yes_no(np.array(effect), baseline, np.full(10, 0.8), 0.4, design)
    needed = people_needed(one, len(effect), len(controls), 0.8, 0.05)
    assert needed == int(np.ceil(exact))


#: Working curves without treatment, as logarithms of probabilities: coefficients of 1, t, t^2.
LINE, BEND = (-0.810012174506443, -0.0246704215585719), (-0.69472137700259, -0.100033424519049,
              0.00322688466190481)  # fmt: skip
LEVEL_1, LEVEL_2, LEVEL_3 = (
    (-1.20397280432593,),
    (-1.20397280432593, 0.0),
    (-1.20397280432593, 0, 0),
)


@pytest.mark.parametrize(
    ("row", "ratio", "baseline", "people"),
    [(92, (0.17912344229912, 0.00545553631367878), LINE, 51),
     (94, (0.262364264467491,), LINE, 41),
     (98, (0.341959386540508, -0.0053570661076842), LINE, 47),
     (112, (0.262364264467491,), LEVEL_1, 42),
     (122, (0.262364264467491, 0.0), LEVEL_2, 52),
     (129, (0.395553978131988, -0.0252546262533424, 0.000814665363011045), LEVEL_3, 57),
     (131, (0.262364264467491, 0.0), LEVEL_3, 52),
     (132, (0.262364264467491, 0.0, 0.0), LEVEL_3, 60),
     (156, (0.377504039146773, -0.0241022058804771, 0.000777490512273453), BEND, 52),
     (162, (0.15387255040673, 0.022156217825161, -0.000714716704037451), BEND, 58)],
)  # fmt: skip
def test_sizes_from_the_simulations_of_cohn_and_others(row, ratio, baseline, people):
    """The column n of their replication files, simulation 9.1 (30 decisions, availability .75)."""
    t = np.arange(1, 31.0)
    design = np.vander(t, len(ratio), increasing=True)
    risk = np.exp(np.vander(t, len(baseline), increasing=True) @ np.array(baseline))
    one = noncentrality_yes_no(np.array(ratio), risk, np.linspace(0.55, 0.95, 30), 0.5, design)
    assert people_needed(one, len(ratio), len(baseline), 0.8, 0.05) == people


def test_row_112_of_theirs_as_it_is_planned_here():
    asked = TrialSizeSettings(
        outcome="yes/no", days=30, decisions=1, ratio=1.3, baseline=0.3,
        availability_shape="linear", availability=0.75, availability_first=0.55,
    )  # fmt: skip
    assert trial_size(asked).needed == 42


@pytest.mark.parametrize(("effect", "controls"), [(1, 1), (1, 3), (2, 2), (3, 3)])
def test_no_smaller_number_is_enough(effect, controls):
    """Also where the halving looks at numbers with a noncentrality of thousands."""
    for each in np.geomspace(0.002, 2, 60):
        needed = people_needed(each, effect, controls, 0.8, 0.05)
        assert power_of(needed, each, effect, controls, 0.05) >= 0.8
        if needed > effect + controls + 1:
            assert power_of(needed - 1, each, effect, controls, 0.05) < 0.8


def test_power_is_a_number_for_any_number_of_people():
    found = [power_of(n, 10 / 51, 2, 2, 0.05) for n in range(7500, 8100, 7)]
    assert np.allclose(found, 1)


@pytest.mark.parametrize("case", R, ids=lambda c: f"{c['outcome']}-{c['needed']}")
def test_equal_to_r(case):
    """tests/reference/trial_size.R."""
    asked = {k: v for k, v in case.items() if k not in ("needed", "at_needed", "at_30")}
    found = trial_size(TrialSizeSettings(**asked))
    assert found.needed == case["needed"]
    assert found.power == pytest.approx(case["at_needed"], abs=1e-9)
    small = trial_size(TrialSizeSettings(**asked, people=30))
    assert small.power == pytest.approx(case["at_30"], abs=1e-9)


def test_the_second_documented_example_of_mrtsamplesize():
    """?calculateSampleSize, randomised with .7, .6, .5, .4 in turn: 66."""
    p = np.repeat([0.7, 0.6, 0.5, 0.4], 35)
    day = np.repeat(np.arange(28.0), 5)
    effect = np.repeat(over_days("quadratic", 28, 0.1, 0, 28), 5)
    tau = np.repeat(over_days("quadratic", 28, 0.5, 0.7, 42), 5)
    one = noncentrality_continuous(effect, tau, p, np.vander(day, 3, increasing=True))
    assert one == pytest.approx(float(np.sum(tau * p * (1 - p) * effect**2)))
    assert people_needed(one, 3, 3, 0.8, 0.05) == 66


def _share_found(yes_no: bool, people: int, asked: TrialSizeSettings, runs: int) -> float:
    draw, found = np.random.default_rng(7), 0
    shape = (people, asked.days * asked.decisions)
    for _ in range(runs):
        here = draw.random(shape) < asked.availability
        a = here & (draw.random(shape) < asked.probability)
        b = here & ~a
        if yes_no:
            y = draw.random(shape) < np.where(a, asked.baseline * asked.ratio, asked.baseline)
        else:
            y = asked.effect * a + draw.standard_normal(shape)
        m1, m0 = y[a].mean(), y[b].mean()
        u1 = (np.where(a, y - m1, 0).sum(1)) / a.sum()
        u0 = (np.where(b, y - m0, 0).sum(1)) / b.sum()
        if yes_no:
            estimate, u = np.log(m1 / m0), u1 / m1 - u0 / m0
        else:
            estimate, u = m1 - m0, u1 - u0
        left = people - sum(asked.parameters)
        error = np.sqrt((u**2).sum() * people / left)
        found += abs(estimate / error) > stats.t.ppf(1 - asked.level / 2, left)
    return found / runs


@pytest.mark.parametrize("outcome", ["continuous", "yes/no"])
def test_simulated_trials_have_the_power(outcome):
    asked = TrialSizeSettings(outcome=outcome, days=10, decisions=3, effect=0.15, ratio=1.3)
    size = trial_size(asked)
    share = _share_found(outcome == "yes/no", size.needed, asked, 500)
    assert abs(share - size.power) < 3 * np.sqrt(size.power * (1 - size.power) / 500)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"probability": 0.0}, "'probability'"), ({"probability": 1.0}, "'probability'"),
     ({"availability": 0.0}, "'availability'"), ({"effect": 0.0}, "'effect'"),
     ({"outcome": "yes/no", "ratio": 1.0}, "'ratio'"),
     ({"outcome": "yes/no", "baseline": 1.0}, "'baseline'"),
     ({"outcome": "yes/no", "baseline": 0.6, "ratio": 2.0}, "120.0 % on day 1"),
     ({"effect": 1e-5}, "more than 1,000,000 people"),
     ({"people": 4}, "4 parameters"), ({"power": 0.04}, "'power'"),
     ({"days": 2, "effect_shape": "quadratic"}, "2 days"),
     ({"availability_shape": "linear", "availability": 0.4, "availability_first": 0.9},
      "'availability' gives")],
)  # fmt: skip
def test_bad_input_is_one_message(wrong, said):
    with pytest.raises(SettingError, match=said):
        trial_size(TrialSizeSettings(**wrong))


def test_power_grows_and_the_sentence_says_it():
    found = trial_size(VIGNETTE)
    assert found.curve["power"].is_monotonic_increasing
    assert power_of(found.needed - 1, *_one(found)) < 0.8
    text = grant_sentence(found)
    assert "With 275 participants the trial has 80.2 % power" in text
    assert "once a day for 10 days" in text
    assert "Cohn et al., 2023" in text


def _one(found):
    from smdp.simulation.trial_size import _noncentrality_of_one

    asked = found.settings
    return _noncentrality_of_one(asked), *asked.parameters, asked.level
