"""Every control that a result was made with: changed, the page says so; changed back, no more."""

import ast
import io
from dataclasses import replace
from pathlib import Path

import pytest

import dashboard
from dashboard.form import Form
from smdp.analysis.analysis import run_analysis
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.feature_map.kinds import map_kinds
from smdp.feature_map.tnn import TnnSettings
from smdp.steps import steps
from smdp.steps.step_plans import FeatureMapPlan, PlaceboPlan, TrialPlan
from tests.dashboard.conftest import open_file
from tests.small_trial import quick_plan, study_frame

NOTICE = "not those that the result"
KINDS = (
    "checkbox", "number_input", "slider", "radio", "selectbox", "multiselect", "text_input",
)  # fmt: skip
#: By page: the steps whose controls it has.
PAGES = {
    "missing_values": ("missing",),
    "rescaling": ("rescaling",),
    "screening": ("screening",),
    "feature_dimension": ("features",),
    "weights": ("stability",),
    "markov_check": ("markov",),
    "q_functions": ("policy",),
    "policy": ("evaluation", "rule", "placebo"),
    "twin": ("twin", "imputations"),
    "passport": ("passport",),
}
#: Controls of the pages' own, beside those that the settings declare.
OF_THE_PAGES = {
    "rescaling": {"way"},
    "features": {"by_hand", "why"},
    "policy": {"linear", "neural", "pessimistic"},
}
#: Settings that a page takes from elsewhere: the map's seed, the map's dimension by hand, and for
#: the placebo check whatever the policy's value is estimated with. Or that have no part in it.
NO_CONTROL = {
    "screening": {"test", "pooling"},  # of the paper's screening only
    "stability": {"seed"},
    "features": {"dimensions", "reason"},
    "evaluation": {"refit_map"},  # in the whole analysis every map is fitted anew
    "rule": {"seed"},
    "placebo": {"folds", "bootstraps", "coverage", "refit_map", "seed"},
}
#: On the page, but no part of how a result was made.
VIEWS_ONLY = {"policy.export-support", "policy.subgroup", "rescaling.variable", "screening.round"}


def small_plan():
    """Every step; what the pages ask once is the same wherever it counts."""
    plan = quick_plan()
    own, (linear, neural) = plan.evaluation, plan.policies
    enough = replace(linear, settings=replace(linear.settings, bootstraps=12))
    return plan.replace(
        policies=(enough, neural),  # with fewer refits no policy can be pessimistic
        rule=replace(plan.rule, own=(), evaluation=own.settings, seed=own.seed),
        placebo=PlaceboPlan(2, 2, own.settings, own.seed),
        trial=TrialPlan(("stress",), (), own.settings.coverage),
    )


def done(plan):
    file = io.BytesIO(study_frame().to_csv(index=False).encode())
    file.name = "trial.csv"
    return analysis_to_bytes(run_analysis(file, plan))


@pytest.fixture(scope="module")
def finished():
    return done(small_plan())


def controls(app, step):
    """By key, those of a step."""
    found = [each for kind in KINDS for each in getattr(app.at, kind)]
    named = {each.key: each for each in found if (each.key or "").startswith(f"{step}.")}
    return {key: each for key, each in named.items() if key not in VIEWS_ONLY and " " not in key}


def another_value(control):
    """One that the control can have, and has not."""
    if control.type == "checkbox":
        return not control.value
    if control.type in ("number_input", "slider"):
        up = control.value + control.step
        return up if up <= control.max else control.value - control.step
    if control.type == "multiselect":
        return [] if control.value else control.options[-1:]
    if control.type == "text_input":
        return f"{control.value} and more"
    return next(value for value in raw_options(control) if value != control.value)


def raw_options(control):
    """The values behind the words of a choice."""
    if control.key == "features.kind":
        return [kind.name for kind in map_kinds()]
    known = {
        "screening.method": ["closed_set", "rounds", "paper"],
        "screening.test": ["distance_covariance", "likelihood_ratio"],
        "screening.pooling": ["ruger", "trajectory"],
        "features.choose_by": ["exact_first", "exact", "practical"],
        "features.test": ["closed", "next_state", "absolute"],
        "policy.update": ["batch", "stochastic"],
        "missing.degree": [0, 1, 2],
        "evaluation.judged": ["whole analysis", "quick"],
        "evaluation.coverage": [0.9, 0.95, 0.99],
        "twin.repeated": ["screening", "policy", "value"],
        "imputations.repeated": ["screening", "features"],
        "rule.among": ["policy", "all"],
        "rule.scores": ["model", "doubly robust"],
        "rescaling.reference": ["stress", "craving", "noise", "smoker"],
    }
    return known.get(control.key, control.options)


def declared(step, plan):
    """The names of the settings of a step for which its page has a control."""
    section = plan.section(step.sections[0].name)
    if step.name == "policy":
        section = section[0]
    names = set() if section is None else set(Form(step.name, section).names)
    return names - NO_CONTROL.get(step.name, set())


def change_each(app, step, keys):
    """One after the other; where it can be, one is changed back in the run that changes the next.

    Then what was said is said of the next, and in the end nothing of any."""
    before = {key: controls(app, step)[key].value for key in keys}
    changed = None
    for key in keys:
        if changed is not None and key not in controls(app, step):  # it depends on that one
            change_back(app, step, changed, before)
            changed = None
        value = another_value(controls(app, step)[key])
        if changed is not None:
            controls(app, step)[changed].set_value(before[changed])
        controls(app, step)[key].set_value(value)
        assert NOTICE in app.run().text, key
        assert controls(app, step)[key].value != before[key], key
        changed = key
    if changed is not None:
        change_back(app, step, changed, before)
    assert {key: controls(app, step)[key].value for key in keys} == before


def change_back(app, step, key, before):
    controls(app, step)[key].set_value(before[key])
    assert NOTICE not in app.run().text, key
    assert "out of date" not in app.text, key


@pytest.mark.parametrize("page", PAGES)
def test_each_control_changed_is_said_and_changed_back_is_not(finished, page):
    app = open_file(finished).go(page)
    assert NOTICE not in app.text
    plan = small_plan()
    for step in steps():
        if step.name in PAGES[page]:
            wanted = declared(step, plan) | OF_THE_PAGES.get(step.name, set())
            if step.name == "rescaling":
                wanted = {"way"}  # the reference is asked for with common levels only
            keys = sorted(f"{step}.{name}" for name in wanted)
            assert keys == sorted(controls(app, step))
            change_each(app, step, keys)


def test_every_step_with_settings_is_looked_at():
    looked_at = {name for names in PAGES.values() for name in names}
    has_none_or_tests_of_its_own = {"data", "trial", "folds", "trade_off", "new_data"}
    assert {step.name for step in steps()} - looked_at == has_none_or_tests_of_its_own


def test_the_reference_of_common_levels():
    plan = small_plan()
    app = open_file(done(plan.replace(stop_after="rescaling"))).go("rescaling")
    app.at.radio(key="rescaling.way").set_value("Ordinal: common levels")
    app.run().press("Rescale all variables")
    assert NOTICE not in app.text
    change_each(app, "rescaling", ["rescaling.reference"])
    change_each(app, "rescaling", ["rescaling.way"])  # without which there is no reference


OF_ANOTHER_MAP = {
    "pca": None,
    "identity": None,
    "tnn": TnnSettings(
        dimensions=(1,), widths=(4,), penalties=(0.02,), folds=2, steps=20, polish_steps=5,
        refit_steps=20, restarts=1, batch=16,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OF_ANOTHER_MAP)
def test_each_control_of_each_kind_of_map(kind):
    plan = small_plan().replace(
        features=FeatureMapPlan(kind, True, OF_ANOTHER_MAP[kind]),
        screening=None, stability=None, policies=(), evaluation=None, rule=None, placebo=None,
        trial=None, twin=None,
    )  # fmt: skip
    app = open_file(done(plan)).go("feature_dimension")
    assert NOTICE not in app.text
    names = set(Form("features", plan.features).names) - {"dimensions", "reason", "use_all"}
    change_each(app, "features", sorted(f"features.{name}" for name in names))


def test_a_seed_of_the_value_is_one_of_the_placebo_check(finished):
    app = open_file(finished).go("policy")
    app.at.number_input(key="evaluation.seed").set_value(7)
    assert app.run().text.count(NOTICE) == 3
    app.at.number_input(key="evaluation.seed").set_value(6)
    assert NOTICE not in app.run().text


def test_effects_follow_their_controls_at_once(finished):
    from dashboard.session import Key

    app = open_file(finished).go("effects")
    for name, value in (("controls", ["noise"]), ("moderators", ["stress"])):
        app.at.multiselect(key=f"trial.{name}").set_value(value)
        asked = app.run().at.session_state[Key.ANALYSIS].records["trial"].asked
        assert list(getattr(asked, name)) == value
    app.at.checkbox(key="trial.logarithm").check()
    assert app.run().at.session_state[Key.ANALYSIS].records["trial"].asked.logarithm
    assert NOTICE not in app.text


def keyed(app, kind, label):
    return next(each for each in getattr(app.at, kind) if each.label.startswith(label))


OF_DATA = {
    "codes": ("text_input", "Missing codes in all", "-99"),
    "utility": ("selectbox", "Outcome", "stress (next value)"),
    "label": ("text_input", "Label of treated = 1", "a call"),
    "randomised": ("selectbox", "How was", "observed"),
    "kind": ("selectbox", "What kind of outcome", "count"),
    "unit": ("text_input", "Unit", "points"),
    "direction": ("selectbox", "Direction", "More is better"),
    "probability": ("number_input", "Probability of", 0.4),
    "look-back": ("number_input", "Look-back", 1),
    "time": ("checkbox", "Add the decision", True),
    "layout": ("selectbox", "Layout", "wide"),
}


@pytest.mark.parametrize("control", OF_DATA)
def test_each_control_of_the_data_page(finished, control):
    kind, label, value = OF_DATA[control]
    app = open_file(finished).go("data")
    assert NOTICE not in app.text
    before = keyed(app, kind, label).value
    keyed(app, kind, label).set_value(value)
    app.run()
    if control != "layout":  # as which this table cannot be read: one message, and no result of it
        assert NOTICE in app.text
    keyed(app, kind, label).set_value(before)
    assert NOTICE not in app.run().text


@pytest.mark.parametrize(
    "cells", [{"role": "ignore"}, {"type": "ordinal"}, {"missing codes": "-8"}, {"highest": 14.0}]
)
def test_each_cell_of_the_table_of_columns(finished, cells):
    app = open_file(finished).go("data")
    rows = app.at.data_editor[0].value.set_index("column")
    before = {name: rows.loc["stress", name] for name in cells}
    assert NOTICE in app.set_role("stress", **cells).text
    assert NOTICE not in app.set_role("stress", **before).text


def test_tabs_have_keys():
    """Without one, the first tab opens again when a notice appears above them."""
    bare = []
    for module in Path(dashboard.__file__).parent.rglob("*.py"):
        for call in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "st.tabs":
                bare += [] if any(k.arg == "key" for k in call.keywords) else [module.name]
    assert bare == []
