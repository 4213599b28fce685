"""An analysis as somebody works with it in a notebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import smdp
from smdp.analysis.analysis import AnalysisCancelled, StepState
from smdp.data.preparation_settings import PreparationSettings
from smdp.errors import DataError, SettingError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.plain_data import fingerprint
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Cancelled
from smdp.screening import ScreeningResult
from smdp.steps.step_plans import PolicyPlan, ReadingSettings

SAMPLES = Path(__file__).resolve().parents[3] / "sample_data"


@pytest.fixture(scope="module")
def begun(study_file, plan) -> smdp.Analysis:
    return smdp.Analysis.from_file(study_file, roles=plan.roles, reading=plan.reading)


@pytest.fixture(scope="module")
def screened(begun) -> smdp.Analysis:
    return begun.run("screening", level=0.10, seed=1, permutations=199, pooling="trajectory")


@pytest.fixture(scope="module")
def mapped(screened) -> smdp.Analysis:
    return screened.run("features", kind="pca")


def test_it_begins_with_nothing(begun, study_file):
    assert begun.results == {}
    assert begun.screening is None
    assert begun.source.name == "study.csv"
    assert repr(begun) == "Analysis of study.csv\n  nothing done yet"
    assert begun.state("data") == StepState.READY


def test_a_step_runs_what_it_needs_before(begun, screened):
    assert list(screened.results) == ["data", "missing", "rescaling", "screening"]
    assert isinstance(screened.screening, ScreeningResult)
    assert screened.plan.screening.settings.level == 0.10
    assert screened.plan.screening.seed == 1
    assert begun.results == {}, "an analysis is never changed"
    shown = repr(screened)
    assert f"Screening: {screened.records['screening'].summary}" in shown
    assert "out of date" not in shown


def test_it_is_what_the_plan_gives(screened, study_file):
    by_plan = smdp.run_analysis(study_file, screened.plan)
    assert fingerprint(by_plan.screening) == fingerprint(screened.screening)


def test_what_is_fresh_is_not_done_again(screened, mapped):
    for name in ("data", "missing", "rescaling", "screening"):
        assert mapped.results[name] is screened.results[name]
    assert isinstance(mapped.feature_map, FittedFeatureMap)
    assert mapped.feature_map.kind == "pca"


def test_another_setting_puts_later_steps_out_of_date(mapped):
    again = mapped.run("screening", level=0.9)
    assert again.plan.screening.settings.permutations == 199, "what is not named stays"
    assert again.plan.screening.seed == 1
    assert again.state("screening") == StepState.DONE
    assert again.results["rescaling"] is mapped.results["rescaling"]
    assert len(again.screening.selected) > len(mapped.screening.selected)
    assert again.out_of_date == ("features",)
    assert "(out of date)" in repr(again)
    assert again.run("features").out_of_date == ()


def test_a_setting_can_be_changed_without_running(mapped):
    later = mapped.with_settings("missing", exclude_above=0.9)
    assert later.out_of_date == ("missing", "rescaling", "screening", "features")
    assert later.run("rescaling").state("rescaling") == StepState.DONE
    assert later.with_settings("missing", exclude_above=0.5).out_of_date == ()


@pytest.mark.parametrize(
    ("step", "settings", "message"),
    [
        ("screening", {"levle": 0.1}, r"'screening' has no setting 'levle'. It has: level, .*seed"),
        ("features", {"lots": 1}, r"'features' has no setting 'lots'. It has: kind, use_all"),
        ("screening", {"level": 3}, r"'level' must be a probab.*Got 3"),
        ("policy", {"discont": 0.5}, r"'policy' has no setting 'discont'. It has: .*discount"),
        ("policy", {"discount": 0.5}, r"has 'policies' but no 'features'.*Add 'features'"),
        ("lunch", {}, r"no step called 'lunch'. The steps are: data, missing"),
    ],
)
def test_what_is_not_there_is_a_clear_error(begun, step, settings, message):
    with pytest.raises(SettingError, match=message):
        begun.with_settings(step, **settings)
    with pytest.raises(SettingError, match=message):
        begun.run(step, **settings)


def test_a_map_needs_to_know_its_variables(begun):
    """Nobody screens by accident."""
    with pytest.raises(SettingError, match=r"no 'screening'.*Add 'screening'.*'use_all'"):
        begun.run("features")
    found = begun.run("features", kind="identity", use_all=True)
    assert list(found.results) == ["data", "missing", "rescaling", "features"]


def test_a_setting_is_that_of_every_policy(mapped):
    found = mapped.run("policy", discount=0.5, bootstraps=2, seed=1)
    assert found.plan.policies == (PolicyPlan(PolicySettings(discount=0.5, bootstraps=2), 1),)
    assert [policy.kind for policy in found.policies] == ["linear"]
    both = mapped.with_plan(policies=(PolicyPlan(), PolicyPlan(PolicySettings(model="neural"))))
    asked = both.with_settings("policy", discount=0.5).plan.policies
    assert [each.settings.discount for each in asked] == [0.5, 0.5]
    assert [each.settings.model for each in asked] == ["linear", "neural"]


def test_rescaling_has_settings_of_its_own(screened):
    assert screened.plan.rescaling is None
    assert screened.run("rescaling").prepared.study.levels is None
    found = screened.run("rescaling", reference="craving")
    assert found.plan.rescaling == smdp.RescalingSettings("craving")
    assert found.prepared.study.reference == "craving"
    assert found.state("missing") == StepState.DONE
    assert found.out_of_date == ("screening",)


def test_a_step_with_defaults_needs_no_settings(screened):
    assert screened.plan.trial is None
    found = screened.run("trial")
    assert found.plan.trial == smdp.TrialPlan()
    assert found.trial is not None


def test_an_error_says_in_which_step_it_was(study_file, plan):
    wrong = smdp.Analysis.from_file(study_file, roles=replace(plan.roles, time="hour"))
    with pytest.raises(DataError, match=r"Step 'data': The table has no column 'hour'"):
        wrong.run("screening")


def test_stopped_it_hands_over_what_was_done(begun):
    def stop(share: float, what: str) -> None:
        assert 0 <= share <= 1
        if what.startswith("Screening"):
            raise Cancelled

    with pytest.raises(AnalysisCancelled) as caught:
        begun.run("screening", permutations=199, progress=stop)
    finished = caught.value.finished
    assert list(finished.results) == ["data", "missing", "rescaling"]
    assert finished.plan.screening.settings.permutations == 199


def test_roles_are_guessed_from_the_long_table():
    table = pd.read_csv(SAMPLES / "basics_mobile_synthetic_wide.csv")
    study = smdp.Analysis.from_file(table, reading=ReadingSettings(layout="wide"))
    long = smdp.Analysis.from_file(SAMPLES / "basics_mobile_synthetic.csv")
    assert study.plan.roles.subject == long.plan.roles.subject == "student"
    assert study.plan.roles.action == long.plan.roles.action == "module"


def test_why_it_ended_is_forgotten_once_it_went_on(study_file, plan):
    nothing = plan.replace(
        roles=replace(plan.roles, states=["noise", "smoker"], utility="stress"),
        screening=smdp.ScreeningPlan(smdp.ScreeningSettings(level=0.001)),
        features=smdp.FeatureMapPlan("identity"),
        stability=None,
        policies=(),
        evaluation=None,
        rule=None,
        trade_off=None,
        placebo=None,
        new_data=None,
        twin=None,
        imputations=None,
        passport=None,
        trial=None,
        preparation=PreparationSettings(),
    )
    ended = smdp.run_analysis(study_file, nothing)
    assert ended.stopped.startswith("Screening kept no variable")
    with pytest.raises(SettingError, match="Screening kept no variable"):
        ended.run("features")
    again = ended.run("features", use_all=True)
    assert again.stopped == ""
    assert again.whole_warnings == ()


def test_it_is_reported_and_saved(screened, tmp_path):
    page = screened.report(tmp_path / "report.html", title="My study")
    text = page.read_text(encoding="utf-8")
    assert "My study" in text
    assert "Screening of variables" in text
    assert screened.report(tmp_path / "report.docx").read_bytes().startswith(b"PK")
    opened = smdp.load_analysis(screened.save(tmp_path / "study.smdp"))
    assert repr(opened) == repr(screened)
    assert screened.summary().startswith("Analysis of study.csv: 168 rows")
