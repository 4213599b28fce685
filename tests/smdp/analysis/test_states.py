"""A step out of date is known, and cannot be exported without its warning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smdp.analysis.analysis import Analysis, StepState, load_analysis
from smdp.analysis.provenance import table_fingerprint
from smdp.analysis.result_files import write_results
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.step_request import StepRequest
from smdp.analysis.summary import summary_text
from smdp.analysis.tables import result_tables
from smdp.data.preparation_settings import ImputationSettings, RescalingSettings
from smdp.errors import DataError
from smdp.policy.policy_settings import PolicySettings
from smdp.steps import steps
from smdp.steps.step_plans import FeatureMapPlan, PolicyPlan

NAMES = tuple(step.name for step in steps())


def changed(plan, **parts):
    return plan.replace(**parts)


CHANGES = {
    "reading": (lambda p: changed(p, reading=replace(p.reading, missing_codes={})), "data"),
    "roles": (lambda p: changed(p, roles=replace(p.roles, lags=1)), "data"),
    "order of the actions": (
        lambda p: changed(p, roles=replace(p.roles, action_levels={"1": "x", "0": "y"})),
        "data",
    ),
    "imputation": (
        lambda p: changed(
            p, preparation=replace(p.preparation, imputation=ImputationSettings(span=1.0))
        ),
        "missing",
    ),
    "rescaling": (
        lambda p: changed(p, rescaling=RescalingSettings()),
        "rescaling",
    ),
    "seed of screening": (
        lambda p: changed(p, screening=replace(p.screening, seed=9)),
        "screening",
    ),
    "kind of map": (
        lambda p: changed(p, stability=None, features=FeatureMapPlan("pca", p.features.use_all)),
        "features",
    ),
    "resamples": (lambda p: changed(p, stability=replace(p.stability, bootstraps=3)),
                  "stability"),
    "discount": (
        lambda p: changed(p, policies=(PolicyPlan(PolicySettings(discount=0.1)), p.policies[1])),
        "policy",
    ),
    "shuffles": (lambda p: changed(p, placebo=replace(p.placebo, repeats=9)), "placebo"),
    "rules of one's own": (lambda p: changed(p, rule=replace(p.rule, own=())), "rule"),
    "moderators": (lambda p: changed(p, trial=replace(p.trial, moderators=())), "trial"),
    "level of the Markov check": (
        lambda p: changed(
            p, markov=replace(p.markov, settings=replace(p.markov.settings, level=0.1))
        ),
        "markov",
    ),
    "seed of the value": (
        lambda p: changed(p, evaluation=replace(p.evaluation, seed=7)),
        "folds",
    ),
}  # fmt: skip


def test_a_fresh_analysis_is_done(analysis, plan):
    assert analysis.states() == dict.fromkeys(NAMES, StepState.DONE)
    assert analysis.state("policy") == "done"
    assert analysis.out_of_date == ()
    assert analysis.whole_warnings == ()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_puts_its_step_and_what_follows_out_of_date(analysis, plan, name):
    change, first = CHANGES[name]
    later = replace(analysis, plan=change(plan))
    late = later.out_of_date
    assert late[0] == first
    assert later.state(first) == "out of date"
    assert all(later.state(name) == StepState.DONE for name in NAMES if name not in late)
    follow = set(NAMES[NAMES.index(first) :])
    if first in ("stability", "markov", "evaluation", "rule", "placebo"):
        after = {first}
    elif first == "folds":
        after = {"folds", "evaluation", "rule", "trade_off", "new_data"}
    elif first == "policy":
        after = {"policy", "folds", "evaluation", "rule", "trade_off", "placebo", "new_data"}
        after |= {"twin"}
    elif first == "trial":
        after = {"trial", "imputations"}
    else:
        beside = {"screening": {"trial"}, "features": {"trial", "markov", "imputations"}}
        after = follow - beside.get(first, set())
        if first in beside:
            after -= {"passport"}  # what it gathered is not another result yet
    assert set(late) == after


def test_what_is_not_done_is_ready_if_what_it_needs_is(partial, plan):
    begun = Analysis.begin(plan, partial.table)
    assert begun.state("data") == "ready"
    assert {begun.state(name) for name in NAMES[1:]} == {StepState.NOT_STARTED}
    states = partial.states()
    assert (states["missing"], states["rescaling"], states["screening"]) == (
        "done", "ready", "not started"
    )  # fmt: skip
    later = replace(partial, plan=CHANGES["imputation"][0](plan))
    assert (later.state("missing"), later.state("rescaling")) == ("out of date", "not started")


def test_done_again_as_it_was_asked_it_is_fresh_again(analysis, plan):
    """What comes out the same leaves the later steps fresh, whatever came between."""
    later = replace(analysis, plan=CHANGES["seed of the value"][0](plan))
    assert later.with_plan(evaluation=plan.evaluation).out_of_date == ()
    again = later.run_one("folds").run_one("evaluation").run_one("rule").run_one("trade_off")
    again = again.run_one("new_data")
    assert again.out_of_date == ("passport",), "it gathered another value"
    again = again.run_one("passport")
    assert again.out_of_date == ()
    assert again.records["evaluation"].asked.seed == 7
    assert again.records["folds"].asked.seed == 7


def test_judged_quickly_there_are_no_analyses_without_each_fold(analysis, plan):
    quick = analysis.with_settings("evaluation", judged="quick")
    assert quick.out_of_date == ("folds", "evaluation", "rule", "trade_off", "new_data")
    assert "folds" not in [step.name for step in quick.plan.steps]
    done = quick.run_one("evaluation")
    assert done.state("evaluation") == "done"
    assert done.values[0].quick
    assert not analysis.values[0].quick


def test_folds_that_were_stopped_are_gone_on_with(analysis, plan):
    complete = analysis.fold_analyses
    partly = replace(complete, analyses=complete.analyses[:1], complete=False)
    stopped = analysis.with_result("folds", partly)
    assert stopped.state("folds") == "ready"
    assert stopped.state("evaluation") == "out of date"
    request = StepRequest.of(stopped, "folds")
    assert request.handed["folds"] == partly
    shares: list[float] = []
    again = stopped.run("evaluation", progress=lambda share, _: shares.append(share))
    assert again.fold_analyses == complete
    assert again.state("evaluation") == "done"
    with pytest.raises(DataError, match="Only 1 of the 2"):
        stopped.run_one("evaluation")


def test_what_does_not_change_the_numbers_keeps_the_step_done(analysis, plan):
    settings = replace(plan.screening.settings, jobs=4)
    same = plan.replace(screening=replace(plan.screening, settings=settings), notes={"data": "x"})
    assert replace(analysis, plan=same).out_of_date == ()


def test_the_changed_table_is_noticed(analysis, plan):
    other = replace(analysis, source=replace(analysis.source, fingerprint="0" * 64))
    assert other.out_of_date == NAMES


def test_it_survives_the_file(analysis, plan):
    later = replace(analysis, plan=CHANGES["seed of screening"][0](plan))
    back = load_analysis(analysis_to_bytes(later, with_data=False))
    assert back.out_of_date == later.out_of_date
    assert back.out_of_date[0] == "screening"


def test_no_export_without_the_warning(analysis, plan, tmp_path):
    later = replace(analysis, plan=CHANGES["kind of map"][0](plan))
    names = {t.file_name for t in result_tables(later)}
    assert {"out-of-date-weights.csv", "screening.csv", "out-of-date-value-1.csv"} <= names
    text = summary_text(later)
    assert text.index("WARNING (features): The result of the step 'features' is out of date") < 200
    assert "[OUT OF DATE]" in text
    written = {p.name for p in write_results(later, tmp_path)}
    assert names <= written
    assert [p.about for p in later.warnings if "out of date" in p.message] == [
        "features", "stability", "policy", "folds", "evaluation", "rule", "trade_off", "placebo",
        "twin", "new_data",
    ]  # fmt: skip


def test_a_step_that_was_stopped_early_says_so(analysis):
    records = dict(analysis.records)
    records["features"] = replace(records["features"], complete=False)
    [warning] = replace(analysis, records=records).whole_warnings
    assert "stopped before its end" in warning.message


def test_another_file_than_the_plans_is_said(analysis):
    plan = analysis.plan.replace(data_name="old.csv", data_fingerprint="0" * 64)
    [note] = replace(analysis, plan=plan).whole_warnings
    assert note.severity == "note"
    assert "another file ('old.csv')" in note.message


def test_the_tables_fingerprint_sees_every_cell_name_and_type(analysis):
    table = analysis.table
    found = {
        table_fingerprint(table),
        table_fingerprint(table.rename(columns={"noise": "noise2"})),
        table_fingerprint(table.assign(day=table["day"].astype(float))),
        table_fingerprint(table.iloc[::-1]),
        table_fingerprint(table.iloc[:-1]),
        table_fingerprint(table[table.columns[::-1]]),
        table_fingerprint(table.assign(smoker=table["smoker"].replace("no", None))),
        table_fingerprint(table.assign(noise=table["noise"].where(table["noise"] > 5))),
    }
    assert len(found) == 8
    assert table_fingerprint(table.copy()) == table_fingerprint(table)
