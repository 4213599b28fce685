"""An analysis by plan is what its steps give one by one, in this process or in a worker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import smdp
from smdp.analysis.analysis import AnalysisCancelled, run_analysis
from smdp.analysis.saved_file import without_data
from smdp.errors import DataError
from smdp.plain_data import fingerprint, read_plain, write_plain
from smdp.progress import Cancelled
from smdp.screening_settings import ScreeningSettings
from smdp.steps import SCREENING, step_named, steps
from smdp.steps.step_plans import FeatureMapPlan, ReadingSettings, ScreeningPlan


def test_it_has_every_step_and_its_record(analysis, plan):
    assert list(analysis.results) == list(analysis.records) == [step.name for step in steps()]
    assert analysis.feature_map.dimension == 1
    assert [p.kind for p in analysis.policies] == ["linear", "neural"]
    assert len(analysis.values) == 2
    for step, record in analysis.records.items():
        assert record.asked == step_named(step).asked_by(plan)
        assert record.seconds >= 0
        assert {"smdp", "numpy", "torch", "python"} <= set(record.versions)
        assert all(len(found) == 64 or found == "all" for found in record.inputs.values())
    assert analysis.records["screening"].summary == "2 of 4 variables kept"


def test_it_is_what_the_steps_give(analysis, plan, study_file):
    """The same calls by hand, with public names, from the same file."""
    frame = smdp.mark_missing(smdp.read_table(study_file), {"stress": [-9]})
    settings = smdp.PreparationSettings.of(plan.preparation, plan.rescaling)
    prepared = smdp.prepare(frame, plan.roles, settings)
    trajectories = prepared.trajectories
    screening = smdp.screen(trajectories, plan.screening.settings, seed=3)
    kept = trajectories.select(screening.selected)
    fitted = smdp.fit_feature_map(kept, plan.features.settings, seed=2)
    policy = smdp.learn_policy(trajectories, fitted, plan.policies[0].settings, seed=4)
    assert fingerprint(prepared) == fingerprint(analysis.prepared)
    assert fingerprint(screening) == fingerprint(analysis.screening)
    assert fingerprint(fitted) == fingerprint(analysis.feature_map)
    assert fingerprint(policy) == fingerprint(analysis.policies[0])


def test_selected_variables_lie_in_memory_as_after_a_file(analysis, tmp_path):
    kept = analysis.prepared.trajectories.select(["noise", "stress"])
    write_plain(kept, tmp_path)
    back = read_plain(tmp_path)
    assert kept.states.strides == back.states.strides
    np.testing.assert_array_equal(kept.states, back.states)


def test_it_stops_where_the_plan_stops(partial, study_file, plan):
    assert list(partial.results) == ["data", "missing"]
    assert partial.prepared is None
    assert partial.policies == ()
    only_data = run_analysis(study_file, plan.replace(stop_after="data"))
    assert list(only_data.results) == ["data"]


def test_without_a_variable_to_go_on_with_it_says_so(study_file, plan):
    nothing = plan.replace(
        roles=replace(plan.roles, states=["noise", "smoker"], utility="stress"),
        screening=ScreeningPlan(ScreeningSettings(level=0.001)),
        trial=None,
    )
    found = run_analysis(study_file, nothing)
    assert list(found.results)[-1] == "screening"
    assert found.stopped.startswith("Screening kept no variable")
    assert found.stopped in [p.message for p in found.warnings]


def test_all_variables_need_no_screening(study_file, plan):
    asked = plan.replace(
        screening=None,
        features=FeatureMapPlan("identity", True),
        stability=None,
        stop_after="features",
    )
    found = run_analysis(study_file, asked)
    assert found.feature_map.variables == ("stress", "craving", "noise", "smoker")
    assert found.records["features"].inputs["variables"] == "all"


def test_a_wide_table_is_read_as_the_plan_says(plan, study_file):
    """Codes are named by the columns of the long table."""
    long = smdp.read_table(study_file)
    wide = long.pivot(index="person", columns="day").swaplevel(axis=1)
    wide.columns = [f"{name}_{day}" for day, name in wide.columns]
    asked = plan.replace(reading=ReadingSettings(None, "wide", {"stress": (-9,)}))
    asked = asked.replace(roles=replace(plan.roles, time="decision_number"), stop_after="rescaling")
    found = run_analysis(wide.reset_index(), asked)
    again = run_analysis(long, plan.replace(stop_after="rescaling"))
    np.testing.assert_array_equal(
        found.prepared.trajectories.states, again.prepared.trajectories.states
    )


def test_the_number_of_threads_changes_nothing(study_file, plan, analysis):
    settings = replace(plan.screening.settings, jobs=2)
    asked = plan.replace(screening=replace(plan.screening, settings=settings))
    found = run_analysis(study_file, asked.replace(stop_after="screening"))
    assert found.screening.table.equals(analysis.screening.table)
    assert SCREENING.asked_by(found.plan) == SCREENING.asked_by(plan)


def test_progress_runs_from_nothing_to_all(study_file, plan):
    heard = []
    asked = plan.replace(stop_after="screening")
    run_analysis(study_file, asked, progress=lambda share, what: heard.append((share, what)))
    shares = [share for share, _ in heard]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert any(what.startswith("Screening: Round 1") for _, what in heard)


def test_stopped_it_hands_over_what_was_finished(study_file, plan):
    def stop(share: float, what: str) -> None:
        if what.startswith("Screening"):
            raise Cancelled

    with pytest.raises(AnalysisCancelled) as caught:
        run_analysis(study_file, plan, progress=stop)
    assert list(caught.value.finished.results) == ["data", "missing", "rescaling", "trial"]


def test_an_error_names_its_step(study_file, plan):
    wrong = plan.replace(roles=replace(plan.roles, time="hour"))
    with pytest.raises(DataError, match=r"Step 'data': The table has no column 'hour'.*day"):
        run_analysis(study_file, wrong)


def test_a_saved_analysis_meets_its_data_again(analysis):
    bare = without_data(analysis)
    again = bare.with_table(analysis.table, analysis.frames)
    assert list(again.results) == list(analysis.results)
    assert again.records["rescaling"].output == analysis.records["rescaling"].output
    assert again.out_of_date == ()
    other = analysis.table.assign(noise=0.0)
    assert bare.with_table(other).out_of_date[:2] == ("trial", "screening")
