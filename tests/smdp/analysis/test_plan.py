"""A plan holds every choice, and comes back from TOML and JSON as it was."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import get_args, get_type_hints

import pytest

import smdp
from smdp.analysis.plan import AnalysisPlan, plan_sections, read_plan
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.preparation_settings import CompletionSettings
from smdp.errors import SettingError, SmdpError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.screening_settings import ScreeningSettings
from smdp.steps import DATA, MISSING, steps
from smdp.steps.step_plans import (
    EvaluationPlan,
    FeatureMapPlan,
    PolicyPlan,
    ReadingSettings,
    ScreeningPlan,
    StabilityPlan,
)
from smdp.typed_text import _default, _options

SHORT = """
[roles]
subject = "person"
time = "day"
action = "treated"
states = ["stress", "craving"]
utility = { variable = "craving", sign = -1 }

[screening]
level = 0.2
"""


def names(plan):
    return [step.name for step in plan.steps]


def test_a_plan_comes_back_from_both_texts(plan, rescaled):
    for each in (plan, rescaled, plan.replace(stop_after="missing")):
        for back in (
            AnalysisPlan.from_toml(each.to_toml()),
            AnalysisPlan.from_json(each.to_json()),
        ):
            assert back == each
            assert (back.to_toml(), back.to_json()) == (each.to_toml(), each.to_json())


@pytest.mark.parametrize(
    "roles",
    [
        ColumnRoles("s", "t", "a", ["x"], "u", "avail", "prob"),
        ColumnRoles("s", "t", "a", ["x"], NextValue("x", 1), None, {"b": 0.3, "c": "column"}),
        ColumnRoles("none", "t", "a", [StateVariable("None", "binary", 0, 1)], "u", lags=3),
        ColumnRoles("s", "t", 'a "quoted"\n', ["[x]", "y.z", "#"], "u = ", add_time=True),
        ColumnRoles("s", "t", "a", ["x"], "u", action_levels={"2": "b", "10": "a", "1": ""}),
    ],
)
def test_every_kind_of_role_comes_back_in_its_order(roles):
    plan = AnalysisPlan(roles=roles)
    back = AnalysisPlan.from_toml(plan.to_toml())
    assert back == plan == AnalysisPlan.from_json(plan.to_json())
    assert list(back.roles.action_levels or ()) == list(roles.action_levels or ())


def test_none_comes_back_where_it_is_not_the_default(plan):
    settings = FeatureMapSettings(permutations=None, dimensions=None)
    changed = plan.replace(features=FeatureMapPlan(settings=settings))
    assert 'permutations = "none"' in changed.to_toml()
    assert AnalysisPlan.from_toml(changed.to_toml()).features == changed.features
    assert AnalysisPlan.from_json(changed.to_json()).features == changed.features


def test_no_text_setting_could_be_mistaken_for_none():
    """'none' stands for None only where no text can stand."""

    def check(kind: type) -> None:
        hints = get_type_hints(kind)
        for each in fields(kind):
            options = _options(hints[each.name])
            if type(None) in options and _default(each) is not None:
                assert str not in options, f"{kind.__name__}.{each.name}"
            for option in (*options, *(a for o in options for a in get_args(o))):
                if is_dataclass(option):
                    check(option)

    for section in plan_sections().values():
        for kind in (section.kind, *get_args(section.kind)):
            if is_dataclass(kind):
                check(kind)


def test_a_short_plan_has_the_defaults():
    plan = AnalysisPlan.from_toml(SHORT)
    assert plan.screening == ScreeningPlan(ScreeningSettings(level=0.2))
    assert plan.roles.states == (StateVariable("stress"), StateVariable("craving"))
    assert plan.reading == ReadingSettings()
    assert names(plan) == ["data", "missing", "rescaling", "screening"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("level = 0.2", "levle = 0.2"), r"unknown key 'levle' in section \[screening\].*'level'"),
        (("level = 0.2", "zzz = 1"), r"unknown key 'zzz'.*Known keys are: level"),
        (("level = 0.2", "level = 2"), r"section \[screening\].*'level' must be a probab.*Got 2.0"),
        (
            ("level = 0.2", 'level = "high"'),
            r"'screening.level' of the plan must be a number.*high",
        ),
        (
            ("level = 0.2", "level = nan"),
            r"'screening.level' of the plan must be a number. Got nan",
        ),
        (("level = 0.2", "seed = 1.5"), r"'screening.seed' of the plan must be a whole number"),
        (("level = 0.2", "seed = true"), r"'screening.seed' of the plan must be a whole number"),
        (("level = 0.2", "seed = -1"), r"'seed' must be a whole number of at least 0. Got -1"),
        (("level = 0.2", 'force_in = "x"'), r"'screening.force_in' of the plan must be a list"),
        (
            ("level = 0.2", "force_in = [1]"),
            r"'screening.force_in, place 1' .* must be text. Got 1",
        ),
        (('time = "day"', ""), r"The plan lacks 'roles.time'. Add the key"),
        (('time = "day"', 'time = "person"'), r"section \[roles\].*more than one role: person"),
        (("sign = -1", "sign = 2"), r"'roles.utility.sign' of the plan must be 1 or -1. Got 2"),
        (("[screening]", "[screenin]"), r"unknown key 'screenin'.*'screening'"),
        (("[screening]", "[screening"), r"not valid TOML: .*line"),
        (("[screening]", "[screening]\nlevel = 0.1"), r"not valid TOML"),
        (("[roles]", 'stop_after = "lunch"\n[roles]'), r"'stop_after' must be one of.*lunch"),
        (("[roles]", "format = 8\n[roles]"), r"format 8; .* knows formats up to 7.*later version"),
        (("[roles]", "format = 0\n[roles]"), r"'format' is 0"),
        (("[roles]", "screening = 3\n[roles]"), r"not valid TOML|must be a table"),
    ],
)
def test_a_wrong_plan_is_one_clear_error(change, message):
    with pytest.raises(SettingError, match=message):
        AnalysisPlan.from_toml(SHORT.replace(*change))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must be a table"),
        ("{", "not valid JSON"),
        ('{"roles": {}, "roles": {}}', "key 'roles' twice"),
        ('{"data_name": NaN}', "NaN, which is not a number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"roles": null}', "'roles' of the plan must be a table"),
    ],
)
def test_wrong_json_is_one_clear_error(text, message):
    with pytest.raises(SettingError, match=message):
        AnalysisPlan.from_json(text)


def test_numbers_keep_every_digit(plan):
    settings = ScreeningSettings(level=0.1 + 0.2 / 3)
    changed = plan.replace(screening=ScreeningPlan(settings))
    for back in (
        AnalysisPlan.from_toml(changed.to_toml()),
        AnalysisPlan.from_json(changed.to_json()),
    ):
        assert back.screening is not None
        assert back.screening.settings.level == settings.level


def test_whole_numbers_become_what_they_are_read_as():
    plan = AnalysisPlan(roles=ColumnRoles("s", "t", "a", [StateVariable("x", None, 0, 7)], "u"))
    text = json.loads(plan.to_json())
    (state,) = text["roles"]["states"]
    assert (state["low"], state["high"]) == (0.0, 7.0)


def test_codes_may_be_numbers_and_stand_without_a_list():
    reading = ReadingSettings(missing_codes={"x": (-9, 9.5), "*": "NA", "y": ()})  # type: ignore[dict-item]
    assert reading.missing_codes == {"x": ("-9", "9.5"), "*": ("NA",)}


def test_one_line_asks_for_the_paper_and_what_is_written_out_wins():
    text = SHORT + '[features]\nupdates = "joint"\n'
    plan = AnalysisPlan.from_toml("as_in_the_paper = true\n" + text)
    assert (plan.screening.settings.method, plan.screening.settings.level) == ("paper", 0.2)
    assert plan.features.settings.test == "absolute"
    assert plan.features.settings.updates == "joint"
    assert AnalysisPlan.from_toml(plan.to_toml()) == plan
    assert AnalysisPlan.from_toml("as_in_the_paper = false\n" + text).screening.settings.method == (
        "closed_set"
    )
    printed = AnalysisPlan.from_toml(text).as_in_the_paper()
    assert printed.features.settings.updates == "alternating"
    assert printed.screening == plan.screening
    with pytest.raises(SettingError, match="'as_in_the_paper' must be true or false"):
        AnalysisPlan.from_toml('as_in_the_paper = "yes"\n' + text)


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"features": FeatureMapPlan()}, "'features' but no 'screening'"),
        ({"policies": (PolicyPlan(),)}, "'policies' but no 'features'"),
        ({"stability": StabilityPlan()}, "'stability' but no 'features'"),
        ({"evaluation": EvaluationPlan()}, "'evaluation' but no 'policies'"),
        (
            {"features": FeatureMapPlan("pca", True), "stability": StabilityPlan()},
            "'stability' of a feature map of kind 'pca'",
        ),
    ],
)
def test_a_step_without_what_it_needs_is_refused(steps, message):
    with pytest.raises(SettingError, match=message):
        AnalysisPlan(roles=ColumnRoles("s", "t", "a", ["x"], "u"), **steps)


def test_the_settings_of_prepare_speak_of_two_sections(plan):
    both = plan.replace(
        preparation=smdp.PreparationSettings(0.3, rescaling=smdp.RescalingSettings("stress"))
    )
    assert both.preparation == CompletionSettings(0.3)
    assert both.rescaling == smdp.RescalingSettings("stress")
    one = both.replace(preparation=smdp.PreparationSettings(0.4))
    assert (one.preparation.exclude_above, one.rescaling.reference) == (0.4, "stress")


@pytest.mark.parametrize("rescaling", [None, smdp.RescalingSettings("stress")])
def test_rescaling_of_a_plan_of_the_second_format_is_found(plan, rescaling):
    asked = plan.replace(rescaling=rescaling)
    old = json.loads(asked.to_json()) | {"format": 2}
    old["preparation"]["rescaling"] = old.pop("rescaling")
    assert AnalysisPlan.from_json(json.dumps(old)) == asked
    text = asked.to_toml().replace("format = 7", "format = 2")
    text = text.replace("[rescaling]", "[preparation.rescaling]")
    assert AnalysisPlan.from_toml(text) == asked


def test_a_plan_of_the_third_format_chose_the_dimension_by_comparison():
    text = SHORT + "[features]\n"
    assert AnalysisPlan.from_toml(text).features.settings.test == "closed"
    old = AnalysisPlan.from_toml("format = 3\n" + text)
    assert old.features.settings.test == "relative"
    asked = AnalysisPlan.from_toml("format = 3\n" + text + 'test = "absolute"\n')
    assert asked.features.settings.test == "absolute"
    other = AnalysisPlan.from_toml("format = 3\n" + text + 'kind = "pca"\n')
    assert other.features.kind == "pca"


def test_a_plan_of_the_fifth_format_estimates_effects_as_before():
    text = SHORT + "[trial]\n"
    now = AnalysisPlan.from_toml(text).trial
    assert (now.each_decision, now.kind) == (True, "recognised")
    old = AnalysisPlan.from_toml("format = 5\n" + text).trial
    assert (old.each_decision, old.kind) == (False, "continuous")
    ended = AnalysisPlan.from_toml('format = 5\nstop_after = "policy"\n' + text)
    assert ended.trial is None, "effects were the last step"
    whole = AnalysisPlan.from_toml('format = 5\nstop_after = "trial"\n' + text)
    assert (whole.trial, whole.stop_after) == (old, None)


def test_the_plan_ends_where_it_is_told(plan):
    assert plan.steps == steps()
    assert plan.replace(stop_after="missing").steps == (DATA, MISSING)
    without = plan.replace(stability=None, stop_after="policy")
    left_out = {"stability", "folds", "evaluation", "rule", "trade_off", "placebo", "new_data"}
    left_out |= {"twin", "imputations", "passport"}
    assert names(without) == [step.name for step in steps() if step.name not in left_out]


def test_a_plan_is_read_from_its_file(plan, tmp_path):
    (tmp_path / "plan.toml").write_text("\ufeff" + plan.to_toml(), encoding="utf-8")
    (tmp_path / "plan.json").write_text(plan.to_json(), encoding="utf-8")
    assert read_plan(tmp_path / "plan.toml") == plan == read_plan(tmp_path / "plan.json")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SmdpError, match=r"'bad.toml' is not a text in UTF-8"):
        read_plan(tmp_path / "bad.toml")
    with pytest.raises(SmdpError, match=r"'no.toml' cannot be opened"):
        read_plan(tmp_path / "no.toml")


@pytest.mark.parametrize("number", ["9" * 400, "9" * 5_000, "1e999", "-1e999", "nan"])
def test_numbers_beyond_all_numbers_are_errors_for_people(plan, number):
    level = f"level = {plan.screening.settings.level}"
    assert level in plan.to_toml()
    with pytest.raises(SettingError, match="plan"):
        AnalysisPlan.from_toml(plan.to_toml().replace(level, f"level = {number}"))
