"""A step out of date is known, and cannot be exported without its warning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smdp import ImputationSettings, PolicyPlan, PolicySettings, RescalingSettings
from smdp.analysis.currency import currency, is_current, out_of_date, whole_warnings
from smdp.analysis.provenance import table_fingerprint
from smdp.analysis.result_files import write_results
from smdp.analysis.saved_file import analysis_to_bytes, load_analysis
from smdp.analysis.steps import Step
from smdp.analysis.summary import summary_text
from smdp.analysis.tables import result_tables


def changed(plan, **parts):
    return replace(plan, **parts)


CHANGES = {
    "reading": (lambda p: changed(p, reading=replace(p.reading, missing_codes={})), Step.DATA),
    "roles": (lambda p: changed(p, roles=replace(p.roles, lags=1)), Step.DATA),
    "order of the actions": (
        lambda p: changed(p, roles=replace(p.roles, action_levels={"1": "x", "0": "y"})),
        Step.DATA,
    ),
    "imputation": (
        lambda p: changed(
            p, preparation=replace(p.preparation, imputation=ImputationSettings(span=1.0))
        ),
        Step.MISSING,
    ),
    "rescaling": (
        lambda p: changed(p, preparation=replace(p.preparation, rescaling=RescalingSettings())),
        Step.RESCALING,
    ),
    "seed of screening": (
        lambda p: changed(p, screening=replace(p.screening, seed=9)),
        Step.SCREENING,
    ),
    "kind of map": (lambda p: changed(p, stability=None, features=replace(p.features, kind="pca")),
                    Step.FEATURES),
    "resamples": (lambda p: changed(p, stability=replace(p.stability, bootstraps=3)),
                  Step.STABILITY),
    "discount": (
        lambda p: changed(p, policies=(PolicyPlan(PolicySettings(discount=0.1)), p.policies[1])),
        Step.POLICY,
    ),
    "shuffles": (lambda p: changed(p, placebo=replace(p.placebo, repeats=9)), Step.PLACEBO),
    "moderators": (lambda p: changed(p, trial=replace(p.trial, moderators=())), Step.TRIAL),
    "seed of the value": (
        lambda p: changed(p, evaluation=replace(p.evaluation, seed=7)),
        Step.EVALUATION,
    ),
}  # fmt: skip


def test_a_fresh_analysis_is_current(analysis, plan):
    assert set(currency(plan, analysis).values()) == {"current"}
    assert is_current(plan, analysis)
    assert is_current(plan, analysis, Step.POLICY)
    assert out_of_date(analysis) == ()
    assert whole_warnings(analysis) == ()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_puts_its_step_and_what_follows_out_of_date(analysis, plan, name):
    change, first = CHANGES[name]
    states = currency(change(plan), analysis)
    late = [step for step, state in states.items() if state == "out of date"]
    assert late[0] == first
    assert not is_current(change(plan), analysis)
    follow = set(list(Step)[list(Step).index(first) :])
    if first in (Step.STABILITY, Step.EVALUATION, Step.PLACEBO, Step.TRIAL):
        after = {first}
    elif first == Step.POLICY:
        after = {Step.POLICY, Step.EVALUATION, Step.PLACEBO}
    else:
        after = follow - {Step.TRIAL} if first in (Step.SCREENING, Step.FEATURES) else follow
    assert set(late) == after


def test_what_does_not_change_the_numbers_keeps_the_step_current(analysis, plan):
    settings = replace(plan.screening.settings, jobs=4)
    same = replace(plan, screening=replace(plan.screening, settings=settings), notes={"data": "x"})
    assert is_current(same, analysis)


def test_the_changed_table_is_noticed(analysis, plan):
    other = replace(analysis, source=replace(analysis.source, fingerprint="0" * 64))
    assert out_of_date(other) == tuple(Step)


def test_it_survives_the_file(analysis, plan):
    later = replace(analysis, plan=CHANGES["seed of screening"][0](plan))
    back = load_analysis(analysis_to_bytes(later, with_data=False))
    assert out_of_date(back) == out_of_date(later)
    assert out_of_date(back)[0] == Step.SCREENING


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
        "features", "stability", "policy", "evaluation", "placebo"
    ]  # fmt: skip


def test_a_step_that_was_stopped_early_says_so(analysis):
    records = dict(analysis.records)
    records["features"] = replace(records["features"], complete=False)
    [warning] = whole_warnings(replace(analysis, records=records))
    assert "stopped before its end" in warning.message


def test_another_file_than_the_plans_is_said(analysis):
    plan = replace(analysis.plan, data_name="old.csv", data_fingerprint="0" * 64)
    [note] = whole_warnings(replace(analysis, plan=plan))
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
