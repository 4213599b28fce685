"""A locked plan: what departs from it is listed, all of it and nothing else."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import get_args, get_type_hints

import numpy as np
import pytest
from small_trial import quick_plan

from smdp.analysis.analysis import Analysis, load_analysis
from smdp.analysis.deviations import plan_deviations
from smdp.analysis.locked_plan import LockedPlan, lock_plan, locked_from_toml
from smdp.analysis.plan import plan_sections
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.step_request import StepRequest
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.preparation_settings import RescalingSettings
from smdp.data.read_table import read_table
from smdp.data.shaping.compute import ComputeColumn
from smdp.data.shaping.rows_and_names import DropColumns, KeepRows
from smdp.errors import SettingError, SmdpError
from smdp.policy.policy_settings import PolicySettings
from smdp.result import same_content
from smdp.settings import options_of
from smdp.steps.step import StepState
from smdp.steps.step_plans import PolicyPlan, TradeOffPlan


@pytest.fixture(scope="module")
def planned():
    plan = quick_plan()
    shape = (ComputeColumn("twice", "2 * noise"), KeepRows("day > 0"))
    return plan.replace(reading=replace(plan.reading, shape=shape), trade_off=TradeOffPlan())


def inside(section, name, value):
    """Change a setting of a section, or of the settings within it."""

    def change(plan):
        own = getattr(plan, section)
        if hasattr(own, name):
            return plan.replace(**{section: replace(own, **{name: value})})
        settings = replace(own.settings, **{name: value})
        return plan.replace(**{section: replace(own, settings=settings)})

    return change


def of_roles(**changes):
    return lambda plan: plan.replace(roles=replace(plan.roles, **changes))


def states(change):
    return lambda plan: plan.replace(
        roles=replace(plan.roles, states=tuple(change(list(plan.roles.variables))))
    )


def shaped(change):
    return lambda plan: plan.replace(
        reading=replace(plan.reading, shape=tuple(change(list(plan.reading.shape))))
    )


def policy(place, **changes):
    def change(plan):
        own = list(plan.policies)
        seed = changes.get("seed", own[place].seed)
        settings = {k: v for k, v in changes.items() if k != "seed"}
        own[place] = replace(
            own[place], seed=seed, settings=replace(own[place].settings, **settings)
        )
        return plan.replace(policies=tuple(own))

    return change


def with_stress(**changes):
    return states(lambda own: [replace(v, **changes) if v.name == "stress" else v for v in own])


#: Each: the change, and the places that are to be listed.
CHANGES = [
    (inside("screening", "level", 0.2), {"screening.settings.level"}),
    (inside("screening", "permutations", 499), {"screening.settings.permutations"}),
    (inside("screening", "force_in", ("craving", "noise")), {"screening.settings.force_in"}),
    (inside("screening", "seed", 99), {"screening.seed"}),
    (inside("features", "widths", (8,)), {"features.settings.widths"}),
    (inside("features", "steps", 31), {"features.settings.steps"}),
    (inside("features", "level", 0.01), {"features.settings.level"}),
    (inside("features", "use_all", True), {"features.use_all"}),
    (inside("features", "seed", 5), {"features.seed"}),
    (inside("stability", "bootstraps", 7), {"stability.bootstraps"}),
    (inside("markov", "draws", 299), {"markov.settings.draws"}),
    (inside("markov", "most", 2), {"markov.settings.most"}),
    (inside("evaluation", "bootstraps", 30), {"evaluation.settings.bootstraps"}),
    (inside("evaluation", "weight_limit", 12.5), {"evaluation.settings.weight_limit"}),
    (inside("evaluation", "variables", ("stress",)), {"evaluation.settings.variables"}),
    (inside("placebo", "repeats", 3), {"placebo.repeats"}),
    (inside("rule", "own", ()), {"rule.own"}),
    (inside("rule", "depth", 1), {"rule.settings.depth"}),
    (inside("trade_off", "points", 5), {"trade_off.settings.points"}),
    (inside("passport", "level", 0.1), {"passport.settings.level"}),
    (inside("twin", "repetitions", 4), {"twin.settings.repetitions"}),
    (inside("imputations", "draws", 9), {"imputations.settings.draws"}),
    (inside("trial", "coverage", 0.8), {"trial.coverage"}),
    (inside("trial", "controls", ("stress", "noise")), {"trial.controls"}),
    (inside("trial", "logarithm", True), {"trial.logarithm"}),
    (inside("preparation", "exclude_above", 0.4), {"missing.exclude_above"}),
    (inside("preparation", "also_exclude", ()), {"missing.also_exclude"}),
    (policy(0, discount=0.6), {"policy.1.settings.discount"}),
    (policy(1, width=5), {"policy.2.settings.width"}),
    (policy(1, seed=17), {"policy.2.seed"}),
    (
        lambda plan: plan.replace(policies=(*plan.policies, PolicyPlan(PolicySettings(), 9))),
        {"policy.3"},
    ),
    (
        lambda plan: plan.replace(rescaling=RescalingSettings()),
        {"rescaling"},
    ),
    (lambda plan: plan.replace(stability=None), {"stability"}),
    (lambda plan: plan.replace(markov=None), {"markov"}),
    (lambda plan: plan.replace(trial=None), {"trial"}),
    (of_roles(lags=1), {"data.2.lags"}),
    (of_roles(add_time=True), {"data.2.add_time"}),
    (of_roles(assignment="observed"), {"data.2.assignment"}),
    (of_roles(probability=0.4), {"data.2.probability"}),
    (of_roles(utility=NextValue("craving", 1)), {"data.2.utility.sign"}),
    (of_roles(action_levels={"0": "nothing", "1": "a call"}), {"data.2.action_levels.1"}),
    (with_stress(high=20), {"data.2.states.stress.high"}),
    (with_stress(unit="points"), {"data.2.states.stress.unit"}),
    (states(lambda own: [*own, StateVariable("twice")]), {"data.2.states.twice"}),
    (states(lambda own: [v for v in own if v.name != "smoker"]), {"data.2.states.smoker"}),
    (
        lambda plan: plan.replace(reading=replace(plan.reading, missing_codes={"stress": (-8,)})),
        {"data.1.missing_codes.stress"},
    ),
    (
        lambda plan: plan.replace(
            reading=replace(plan.reading, missing_codes={"stress": (-9,), "*": (99,)})
        ),
        {"data.1.missing_codes.*"},
    ),
    (shaped(lambda own: [*own, DropColumns(("left",))]), {"data.1.shape.3"}),
    (shaped(lambda own: own[:-1]), {"data.1.shape.2"}),
    (shaped(lambda own: [ComputeColumn("twice", "3 * noise"), *own[1:]]), {"data.1.shape.1"}),
]


def test_the_same_plan_departs_in_nothing(planned):
    assert plan_deviations(planned, planned) == ()
    assert plan_deviations(planned, type(planned).from_toml(planned.to_toml())) == ()
    assert plan_deviations(planned, planned.replace(notes={"data": "Other words."})) == ()


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_each_change_alone(planned, number):
    change, places = CHANGES[number]
    found = plan_deviations(planned, change(planned))
    assert {each.place for each in found} == places
    for each in found:
        assert each.planned != each.done
        assert each.what
        assert each.step


def test_100_mutated_plans(planned):
    """One to six changes at once, of different places: all are listed, none is invented."""
    random = np.random.default_rng(24)
    tried = 0
    while tried < 100:
        chosen = random.choice(len(CHANGES), size=int(random.integers(1, 7)), replace=False)
        places = [place for k in chosen for place in CHANGES[k][1]]
        parts = [place.split(".")[:2] for place in places]
        steps = [p[0] for p in parts]
        whole = {place for place in places if "." not in place}
        same = ("data.1.shape", "data.1.missing_codes")
        if len(set(places)) < len(places) or any(steps.count(step) > 1 for step in whole):
            continue
        if any(sum(place.startswith(each) for place in places) > 1 for each in same):
            continue
        plan = planned
        for k in chosen:
            plan = CHANGES[k][0](plan)
        assert {each.place for each in plan_deviations(planned, plan)} == set(places)
        tried += 1


def leaves(part, place=""):
    """Every value of a plan as its file has it, by its place."""
    if isinstance(part, dict) and part:
        for key, own in part.items():
            yield from leaves(own, f"{place}.{key}")
    elif isinstance(part, list) and any(isinstance(own, dict) for own in part):
        for own in part:
            name = own.get("name", own.get("column", part.index(own)))
            yield from leaves(own, f"{place}.{name}")
    else:
        yield place, part


def another(value, hints, random):
    """Another value of the same kind, within what most settings take."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(random.integers(1, 4))
    if isinstance(value, float):
        return value * float(random.uniform(0.4, 0.95))
    options = [o for each in options_of(hints) for o in get_args(each) if isinstance(o, str)]
    return next((o for o in options if o != value), value)


def changed_anywhere(plan, random):
    """One setting of any section, found by its class and not by a list of ours."""
    sections = [s for s in plan_sections() if s not in ("notes", "roles", "reading", "new_data")]
    for _ in range(200):
        name = str(random.choice(sections))
        section = getattr(plan, name)
        if not is_dataclass(section):
            continue
        inner = [f.name for f in fields(section) if is_dataclass(getattr(section, f.name))]
        holder = str(random.choice([*inner, ""]))
        own = getattr(section, holder) if holder else section
        field = str(random.choice([f.name for f in fields(own)]))
        value = another(getattr(own, field), get_type_hints(type(own))[field], random)
        if is_dataclass(value) or same_content(value, getattr(own, field)):
            continue
        try:
            new = replace(own, **{field: value})
            new = replace(section, **{holder: new}) if holder else new
            return plan.replace(**{name: new})
        except SmdpError:
            continue  # it does not fit the others
    raise AssertionError("nothing could be changed")


def test_any_setting_of_any_section_is_listed(planned):
    """100 plans changed at random: what is listed is what differs between the two files."""
    random = np.random.default_rng(7)
    places = set()
    for _ in range(100):
        plan = planned
        for _ in range(int(random.integers(1, 5))):
            plan = changed_anywhere(plan, random)
        before, after = (dict(leaves(p.to_table(nulls=True))) for p in (planned, plan))
        differing = {k for k in {**before, **after} if before.get(k) != after.get(k)}
        differing -= {".screening.jobs"}  # of the machine; numbers do not depend on it
        found = plan_deviations(planned, plan)
        assert len(found) == len(differing), (differing, [each.place for each in found])
        last = sorted(each.place.rpartition(".")[2] for each in found)
        assert last == sorted(key.rpartition(".")[2] for key in differing)
        places |= {each.place for each in found}
    assert len(places) > 60


def test_one_change_of_many_columns_is_one_line(planned):
    codes = {f"column {k}": (-1024,) for k in range(30)} | {"noise": (99,)}
    reading = replace(planned.reading, missing_codes={**planned.reading.missing_codes, **codes})
    found = plan_deviations(planned, planned.replace(reading=reading))
    assert len(found) == 2
    assert "30 columns" in found[0].what
    assert (found[0].planned, found[0].done) == ("not set", "-1024")
    assert found[1].place == "data.1.missing_codes.noise"


def test_variables_in_another_order_are_said(planned):
    turned = states(lambda own: own[::-1])(planned)
    (found,) = plan_deviations(planned, turned)
    assert found.what == "State variables: order"


def test_labels_are_those_of_the_pages(planned):
    (found,) = plan_deviations(planned, inside("screening", "level", 0.2)(planned))
    assert (found.step, found.what) == ("Screening", "False-alarm level (tau)")
    assert (found.planned, found.done) == ("0.1", "0.2")


def test_a_locked_plan_comes_back_from_its_file(planned, analysis):
    locked = lock_plan(planned, analysis.source, outcome_hidden=True, date="2026-01-02T03:04:05")
    again = locked_from_toml(locked.to_toml())
    assert again == locked
    assert again.plan == planned
    assert again.outcome_hidden
    assert lock_plan(planned, None).of_this_table(analysis.source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2026-01-02", "2025-01-02"),
        ("0.1", "0.2"),
        ("outcome_hidden = true", "outcome_hidden = false"),
    ],
)
def test_a_changed_file_is_refused(planned, analysis, old, new):
    text = lock_plan(
        planned, analysis.source, outcome_hidden=True, date="2026-01-02T03:04:05"
    ).to_toml()
    assert old in text
    with pytest.raises(SettingError, match="changed since"):
        locked_from_toml(text.replace(old, new))


@pytest.mark.parametrize("text", ["", "kind = 1", "= =", 'kind = "smdp locked plan"\nformat = 99'])
def test_what_is_no_locked_plan_is_refused(text):
    with pytest.raises(SettingError):
        locked_from_toml(text)


def test_an_analysis_as_planned_departs_in_nothing(analysis):
    held = analysis.with_locked(analysis.lock())
    assert held.deviations == ()
    assert held.whole_warnings == analysis.whole_warnings


def test_what_was_done_counts_not_what_is_asked_now(analysis):
    """The result in the report is of the settings that it was made with."""
    held = analysis.with_locked(analysis.lock())
    asked = held.with_settings("screening", level=0.33)
    assert asked.deviations == ()
    other = held.with_plan(screening=replace(held.plan.screening, seed=77))
    record = replace(held.records["screening"], asked=other.plan.screening)
    done = replace(other, records={**held.records, "screening": record})
    assert [each.place for each in done.deviations] == ["screening.seed"]


def test_a_planned_step_that_was_not_done_is_said(analysis):
    records = {name: r for name, r in analysis.records.items() if name != "placebo"}
    held = replace(analysis, records=records).with_locked(analysis.lock())
    (found,) = held.deviations
    assert (found.step, found.done) == ("Placebo check", "not done")


def test_a_plan_locked_for_another_table_is_said(analysis):
    other = replace(analysis.source, fingerprint="0" * 64, name="other.csv")
    held = analysis.with_locked(lock_plan(analysis.plan, other))
    assert any("another table ('other.csv')" in str(p) for p in held.whole_warnings)
    assert held.deviations == ()


def test_a_hidden_outcome_is_shuffled_and_said(plan, study_file):
    frame = read_table(study_file)
    shown = Analysis.begin(plan.replace(stop_after="rescaling"), frame).run_all()
    hidden = shown.with_outcome_hidden()
    assert hidden.state("data") == StepState.OUT_OF_DATE, "no result of before may pass for one"
    hidden = hidden.run_all()
    assert any("hidden" in str(p) for p in hidden.whole_warnings)
    j = [v.name for v in shown.study.variables].index("craving")
    before, after = shown.study.values[:, :, j], hidden.study.values[:, :, j]
    assert not np.array_equal(before, after, equal_nan=True)
    assert np.nansum(before) == pytest.approx(np.nansum(after))
    others = [k for k in range(len(shown.study.variables)) if k != j]
    assert np.array_equal(
        shown.study.values[:, :, others], hidden.study.values[:, :, others], equal_nan=True
    )
    again = hidden.with_outcome_hidden(False)
    assert again.state("data") == StepState.OUT_OF_DATE
    assert again.run_all().records["rescaling"].output == shown.records["rescaling"].output
    asked = StepRequest.of(hidden, "data")
    assert asked.outcome_hidden


def test_both_are_in_the_saved_file(analysis, tmp_path):
    held = analysis.with_locked(analysis.lock()).with_outcome_hidden()
    again = load_analysis(analysis_to_bytes(held))
    assert again.locked == held.locked
    assert isinstance(again.locked, LockedPlan)
    assert again.outcome_hidden
    plain = load_analysis(analysis_to_bytes(analysis))
    assert plain.locked is None
    assert not plain.outcome_hidden


def test_roles_of_another_study(planned):
    """Plans that have nothing in common: every difference is one line, and nothing fails."""
    roles = ColumnRoles("a", "b", "c", ["d", "e"], "f", probability=0.5)
    other = type(planned)(roles=roles)
    found = plan_deviations(planned, other)
    places = [each.place for each in found]
    assert len(places) == len(set(places))
    assert {"data.2.subject", "data.2.states.d", "data.2.states.stress", "screening"} <= set(places)
