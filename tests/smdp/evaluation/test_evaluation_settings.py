"""What the settings of a policy, of its value and of the steps around them may be."""

from __future__ import annotations

import pytest

from smdp.errors import SettingError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.policy.policy_settings import PolicySettings
from smdp.settings import settings_of
from smdp.steps.step_plans import (
    EvaluationPlan,
    PlaceboPlan,
    PolicyPlan,
    ScreeningPlan,
    StabilityPlan,
    TrialPlan,
)

CLASSES = (PolicySettings, EvaluationSettings)
PLANS = (ScreeningPlan, StabilityPlan, PolicyPlan, EvaluationPlan, PlaceboPlan, TrialPlan)


@pytest.mark.parametrize(
    ("kind", "name", "value", "must"),
    [
        (PolicySettings, "model", "forest", "'linear', 'pessimistic' or 'neural'"),
        (PolicySettings, "update", "all", "'batch' or 'stochastic'"),
        (PolicySettings, "ridge", -1, "a number of at least 0"),
        (PolicySettings, "least_share", 0.5, "a share of at least 0, below 0.5"),
        (PolicySettings, "abstain_level", 0, "a share above 0, at most 0.5"),
        (PolicySettings, "bootstraps", -1, "a whole number of at least 0"),
        (PolicySettings, "width", 1.5, "a whole number of at least 1"),
        (EvaluationSettings, "discount", 1, "a number of at least 0, below 1"),
        (EvaluationSettings, "variables", "age", "a list of variables"),
        (EvaluationSettings, "coverage", 0.4, "a share of at least 0.5, below 1"),
        (EvaluationSettings, "rare", 0.5, "a probability of at least 0, below 0.5"),
        (EvaluationSettings, "weight_limit", float("inf"), "a number of at least 1"),
        (EvaluationSettings, "refit_map", 1, "True or False"),
        (StabilityPlan, "bootstraps", 1, "a whole number of at least 2"),
        (PlaceboPlan, "repeats", True, "a whole number of at least 1"),
        (TrialPlan, "moderators", "age", "a list of variables"),
        (TrialPlan, "coverage", 1, "a share of at least 0.5, below 1"),
        *((plan, "seed", -1, "a whole number of at least 0") for plan in PLANS[:-1]),
    ],
)
def test_a_wrong_value_is_refused_by_name(kind, name, value, must):
    with pytest.raises(SettingError) as refused:
        kind(**{name: value})
    assert str(refused.value).startswith(f"The setting '{name}' must be {must}. Got {value!r}")


def test_a_list_of_variables_is_kept_as_a_tuple():
    assert EvaluationSettings(variables=["a", "b"]).variables == ("a", "b")
    assert EvaluationSettings().variables is None
    assert TrialPlan(controls=["a"]).controls == ("a",)


@pytest.mark.parametrize("kind", [*CLASSES, *PLANS])
def test_every_setting_has_a_label_and_what_has_a_control_has_help(kind):
    for name, known in settings_of(kind).items():
        assert known.label, name
        assert known.help or not known.page, name
