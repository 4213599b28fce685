"""An analysis by plan is what its steps give one by one, in this process or in a worker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import smdp
from smdp import FeatureMapPlan, ReadingSettings, ScreeningPlan, ScreeningSettings, run_analysis
from smdp.analysis.run import AnalysisCancelled, with_table
from smdp.analysis.saved_file import without_data
from smdp.analysis.steps import Step
from smdp.errors import DataError
from smdp.plain_data import fingerprint, read_plain, write_plain
from smdp.progress import Cancelled
from smdp.worker import TASKS, Request


def test_it_has_every_step_and_its_record(analysis, plan):
    assert list(analysis.results) == list(analysis.records) == [str(s) for s in Step]
    assert analysis.feature_map.dimension == 1
    assert [p.kind for p in analysis.policies] == ["linear", "neural"]
    assert len(analysis.values) == 2
    for step, record in analysis.records.items():
        assert record.asked == plan.asked(Step(step))
        assert record.seconds >= 0
        assert {"smdp", "numpy", "torch", "python"} <= set(record.versions)
        assert all(len(found) == 64 or found == "all" for found in record.inputs.values())
    assert analysis.records["screening"].summary == "3 of 4 variables kept"


def test_it_is_what_the_steps_give(analysis, plan, study_file):
    """The same calls by hand, with public names, from the same file."""
    frame = smdp.mark_missing(smdp.read_table(study_file), {"stress": [-9]})
    prepared = smdp.prepare(frame, plan.roles, plan.preparation)
    trajectories = prepared.trajectories
    screening = smdp.screen(trajectories, plan.screening.settings, seed=3)
    kept = trajectories.select(screening.selected)
    fitted = smdp.fit_feature_map(kept, plan.features.settings, seed=2)
    policy = smdp.learn_policy(trajectories, fitted, plan.policies[0].settings, seed=4)
    assert fingerprint(prepared) == fingerprint(analysis.prepared)
    assert fingerprint(screening) == fingerprint(analysis.screening)
    assert fingerprint(fitted) == fingerprint(analysis.feature_map)
    assert fingerprint(policy) == fingerprint(analysis.policies[0])


def requests(analysis, plan) -> dict[Step, Request]:
    """What the pages would ask a worker for."""
    whole = analysis.prepared.trajectories
    kept = whole.select(analysis.screening.selected)
    asked = plan.placebo
    return {
        Step.SCREENING: Request("screen", whole, plan.screening.settings, plan.screening.seed),
        Step.FEATURES: Request("adnn", kept, plan.features.settings, plan.features.seed),
        Step.STABILITY: Request("stability", (kept, analysis.feature_map), 2, 1),
        Step.EVALUATION: Request(
            "evaluation", (whole, analysis.policies), plan.evaluation.settings, plan.evaluation.seed
        ),
        Step.PLACEBO: Request(
            "placebo", (whole, analysis.policies[1]), ("neural", 2, asked.settings), asked.seed
        ),
    }


@pytest.mark.parametrize(
    "step",
    [Step.SCREENING, Step.FEATURES, Step.STABILITY, Step.EVALUATION, Step.PLACEBO],
)
def test_a_worker_gives_the_same_to_the_last_digit(analysis, plan, tmp_path, step):
    """The pages send their data to another process, and get its result, through files."""
    write_plain(requests(analysis, plan)[step], tmp_path / "request")
    request = read_plain(tmp_path / "request")
    result = TASKS[request.task](request, lambda share, what: None)
    write_plain(result, tmp_path / "result")
    assert fingerprint(read_plain(tmp_path / "result")) == analysis.records[step].output


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
    only_data = run_analysis(study_file, replace(plan, stop_after="data"))
    assert list(only_data.results) == ["data"]


def test_without_a_variable_to_go_on_with_it_says_so(study_file, plan):
    nothing = replace(
        plan,
        roles=replace(plan.roles, states=["noise", "smoker"], utility="stress"),
        screening=ScreeningPlan(ScreeningSettings(level=0.001)),
    )
    found = run_analysis(study_file, nothing)
    assert list(found.results)[-1] == "screening"
    assert found.stopped.startswith("Screening kept no variable")
    assert found.stopped in [p.message for p in found.warnings]


def test_all_variables_need_no_screening(study_file, plan):
    asked = replace(
        plan,
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
    asked = replace(plan, reading=ReadingSettings(None, "wide", {"stress": (-9,)}))
    asked = replace(
        asked, roles=replace(plan.roles, time="decision_number"), stop_after="rescaling"
    )
    found = run_analysis(wide.reset_index(), asked)
    again = run_analysis(long, replace(plan, stop_after="rescaling"))
    np.testing.assert_array_equal(
        found.prepared.trajectories.states, again.prepared.trajectories.states
    )


def test_the_number_of_threads_changes_nothing(study_file, plan, analysis):
    settings = replace(plan.screening.settings, jobs=2)
    asked = replace(plan, screening=replace(plan.screening, settings=settings))
    found = run_analysis(study_file, replace(asked, stop_after="screening"))
    assert found.screening.table.equals(analysis.screening.table)
    assert found.plan.asked(Step.SCREENING) == plan.asked(Step.SCREENING)


def test_progress_runs_from_nothing_to_all(study_file, plan):
    heard = []
    asked = replace(plan, stop_after="screening")
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
    assert list(caught.value.finished.results) == ["data", "missing", "rescaling"]


def test_an_error_names_its_step(study_file, plan):
    wrong = replace(plan, roles=replace(plan.roles, time="hour"))
    with pytest.raises(DataError, match=r"Step 'data': The table has no column 'hour'.*day"):
        run_analysis(study_file, wrong)


def test_a_saved_analysis_meets_its_data_again(analysis):
    bare = without_data(analysis)
    again = with_table(bare, analysis.table)
    assert list(again.results) == list(analysis.results)
    assert again.records["rescaling"].output == analysis.records["rescaling"].output
    assert smdp.analysis.currency.is_current(again.plan, again)
    other = analysis.table.assign(noise=0.0)
    assert smdp.analysis.currency.out_of_date(with_table(bare, other))[0] == Step.SCREENING
