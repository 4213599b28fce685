"""What every step must do, whatever it is."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import pandas as pd
import plotly.graph_objects as go
import pytest

from smdp.analysis.analysis import Analysis, StepState, load_analysis, run_analysis
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.analysis.step_request import StepRequest
from smdp.blocks import Draw
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.problem import Problem
from smdp.errors import SettingError
from smdp.plain_data import fingerprint, read_plain, write_plain
from smdp.progress import Cancelled, silent
from smdp.report.collect import contents
from smdp.settings import Setting, hints_of, options_of, settings_of
from smdp.steps import PlanSection, Step, step_named, steps

#: 1e-05: a number as no clinician writes it.
EXPONENT = re.compile(r"\de[-+]?\d")
UNREADABLE = re.compile(r"\bnan\b|\binf\b")
every_step = pytest.mark.parametrize("step", steps(), ids=str)


def in_words(text: str) -> bool:
    """One line for people."""
    return bool(text.strip()) and not (
        "\n" in text or EXPONENT.search(text) or UNREADABLE.search(text)
    )


@pytest.fixture(scope="module")
def opened(analysis) -> Analysis:
    return load_analysis(analysis_to_bytes(analysis))


def test_names_are_used_once():
    names = [step.name for step in steps()]
    assert len(set(names)) == len(names) == 18
    assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
    sections = [section.name for step in steps() for section in step.sections]
    assert len(set(sections)) == len(sections)
    keys = [section.key for step in steps() for section in step.report]
    assert len(set(keys)) == len(keys)


@every_step
def test_it_works_on_steps_before_it(step, plan):
    before = {each.name for each in steps()[: steps().index(step)]}
    assert set(step.needed(plan)) <= before
    assert set(step.takes.values()) <= before
    for name in step.takes.values():
        assert name in _all_needed(step, plan), f"'{name}' may be out of date, and nobody notices"


def _all_needed(step: Step, plan: Any) -> set[str]:
    own = set(step.needed(plan))
    return own.union(*(_all_needed(step_named(name), plan) for name in own))


@every_step
def test_it_says_what_it_is(step):
    assert in_words(step.title)
    assert in_words(step.question)
    assert step.effort > 0
    if step.page is not None:
        assert in_words(step.page.title)
        assert in_words(step.page.purpose)
    else:
        assert step_named(step.shown_with).page is not None


@every_step
def test_the_same_again_to_the_last_bit_while_it_says_how_far_it_is(step, analysis):
    heard: list[tuple[float, str]] = []
    again = analysis.run_one(step, progress=lambda *said: heard.append(said))
    assert fingerprint(again.results[step.name]) == fingerprint(analysis.results[step.name])
    assert again.records[step.name].output == analysis.records[step.name].output
    assert again.states() == analysis.states()
    shares = [share for share, _ in heard]
    assert shares
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] <= 1
    assert all(in_words(what) for _, what in heard)


@every_step
def test_a_worker_gives_what_the_engine_gives(step, analysis, tmp_path):
    """Asked for through files, answered through files, to the last bit."""
    write_plain(StepRequest.of(analysis, step), tmp_path / "request")
    write_plain(read_plain(tmp_path / "request").do(silent), tmp_path / "result")
    result = read_plain(tmp_path / "result")
    assert isinstance(result, step.result_type())
    assert fingerprint(result) == fingerprint(analysis.results[step.name])
    assert fingerprint(step.hands_on(result)) == analysis.records[step.name].output


@every_step
def test_it_stops_when_it_is_told_to(step, analysis):
    def stop(share: float, what: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled) as caught:
        analysis.run_one(step, progress=stop)
    assert caught.value.finished is None, "nothing was done yet"


@every_step
def test_what_it_works_on_is_asked_for(step, analysis, plan):
    begun = Analysis.begin(plan, analysis.table)
    if not step.needed(plan):
        assert begun.state(step) == StepState.READY
        with pytest.raises(SettingError, match=f"'{step.name}' reads the table.*with_table"):
            Analysis(plan, analysis.source).run_one(step)
        return
    assert begun.state(step) == StepState.NOT_STARTED
    with pytest.raises(SettingError) as caught:
        begun.run_one(step)
    assert in_words(str(caught.value))


@every_step
def test_without_its_section_it_is_not_done(step, analysis, plan):
    """An error that names the step, not one of Python's."""
    optional = [section.name for section in step.sections if section.default in (None, ())]
    if not optional or step.name == "rescaling":  # without it, variables keep their own units
        assert step.asked_by(plan) is not None
        return
    later = {s.name: s.default for s in _sections() if s.default in (None, ())}
    bare = analysis.with_plan(**later)
    assert step not in bare.plan.steps
    assert bare.state(step) == StepState.OUT_OF_DATE
    with pytest.raises(SettingError, match=rf"'{step.name}'.*with_plan\({optional[0]}=..\)"):
        bare.run_one(step)


def _sections() -> list[PlanSection]:
    return [section for step in steps() for section in step.sections]


@every_step
def test_a_setting_that_it_does_not_have(step, analysis):
    with pytest.raises(SettingError) as caught:
        analysis.with_settings(step, colour="red")
    assert f"'{step.name}' has no setting 'colour'" in caught.value.problem
    assert in_words(caught.value.remedy)


def settings_classes() -> list[tuple[Step, type]]:
    """Each dataclass in the sections of the steps, nested ones too."""
    found: list[tuple[Step, type]] = []

    def look(step: Step, kind: Any) -> None:
        for each in (kind, *get_args(kind)):
            if is_dataclass(each) and isinstance(each, type) and (step, each) not in found:
                found.append((step, each))
                for hint in hints_of(each).values():
                    for option in options_of(hint):
                        look(step, option)

    for step in steps():
        for section in step.sections:
            look(step, section.kind)
    return found


def declared() -> list[tuple[Step, type, str, Setting]]:
    return [
        (step, kind, name, known)
        for step, kind in settings_classes()
        for name, known in settings_of(kind).items()
    ]


every_setting = pytest.mark.parametrize(
    ("step", "kind", "name", "known"),
    declared(),
    ids=[f"{step}-{kind.__name__}-{name}" for step, kind, name, _ in declared()],
)


def test_settings_are_found():
    assert {step.name for step, *_ in declared()} >= {"missing", "screening"}


@every_setting
def test_a_setting_on_a_page_has_a_label_and_help(step, kind, name, known):
    of_its_own = any(is_dataclass(option) for option in options_of(hints_of(kind)[name]))
    if known.page and not of_its_own:
        assert in_words(known.label)
        assert in_words(known.help)
        assert known.help.rstrip().endswith((".", "?", ")"))


@every_setting
def test_a_setting_keeps_its_bounds(step, kind, name, known, analysis):
    outside = [
        bound + beyond
        for bound, beyond in (
            (known.least, -1), (known.above, 0), (known.most, 1), (known.below, 0)
        )
        if bound is not None
    ]  # fmt: skip
    whole = any(int in (option, *get_args(option)) for option in options_of(hints_of(kind)[name]))
    several = any(get_args(option) for option in options_of(hints_of(kind)[name]))
    for value in (*(int(v) if whole else float(v) for v in outside), object()):
        given = (value,) if several else value
        with pytest.raises(SettingError, match=f"'{name}'"):
            kind(**{name: given})


BAD = {
    "data": {"layout": "diagonal"},
    "missing": {"exclude_above": 2.0},
    "rescaling": {"reference": 3},
    "screening": {"level": 2.0},
    "features": {"kind": "magic"},
    "stability": {"bootstraps": 0},
    "markov": {"most": 11},
    "policy": {"discount": 2.0},
    "evaluation": {"folds": 0},
    "rule": {"depth": 4},
    "trade_off": {"points": 0},
    "placebo": {"repeats": 0},
    "trial": {"coverage": 2.0},
    "new_data": {"withdraw_level": 2.0},
    "twin": {"repetitions": 0},
    "imputations": {"draws": 0},
    "passport": {"level": 2.0},
}


with_settings = pytest.mark.parametrize(
    "step", [step for step in steps() if step.sections], ids=str
)


@with_settings
def test_a_bad_setting_is_a_clear_error(step, analysis):
    [(name, value)] = BAD[step.name].items()
    with pytest.raises(SettingError, match=f"'{name}'") as caught:
        analysis.with_settings(step, **{name: value})
    assert in_words(str(caught.value))
    seeded = any(
        "seed" in {each.name for each in fields(section.kind)}
        for section in step.sections
        if is_dataclass(section.kind)
    )
    if seeded:
        with pytest.raises(SettingError, match="'seed' must be a whole number of at least 0"):
            analysis.with_settings(step, seed=-1)


@every_step
def test_it_comes_back_from_a_file(step, analysis, opened):
    name = step.name
    assert isinstance(opened.results[name], step.result_type())
    assert fingerprint(opened.results[name]) == fingerprint(analysis.results[name])
    assert fingerprint(opened.records[name]) == fingerprint(analysis.records[name])
    assert opened.state(step) == StepState.DONE
    assert step.summary(opened.results[name], opened) == analysis.records[name].summary


@every_step
def test_its_line_is_for_people(step, analysis):
    line = step.summary(analysis.results[step.name], analysis)
    assert in_words(line)
    assert len(line) < 120


@every_step
def test_its_sentences_and_warnings_are_for_people(step, analysis):
    said = list(step.says(analysis))
    assert said
    assert all(in_words(sentence) for sentence in said)
    for problem in step.warns(analysis.results[step.name], analysis):
        assert isinstance(problem, Problem)
        assert in_words(problem.message)


@every_step
def test_its_tables_have_names_and_columns(step, analysis):
    found = list(step.tables(analysis))
    assert found
    names = [name for name, _ in found]
    assert len(set(names)) == len(names)
    for name, frame in found:
        assert re.fullmatch(r"[a-z0-9-]+", name)
        assert isinstance(frame, pd.DataFrame)
        assert len(frame) > 0
        assert frame.columns.is_unique


@every_step
def test_its_figures_show_something(step, analysis, opened):
    found = step.figures(analysis.results[step.name])
    if step.name == "rescaling":  # in their own units, there is nothing to see
        assert found == {}
        return
    assert found
    for figure in found.values():
        assert isinstance(figure, go.Figure)
        assert figure.data
    assert list(step.figures(opened.results[step.name])) == list(found)


def test_rescaled_variables_have_a_figure(study_file, plan):
    asked = plan.replace(
        preparation=PreparationSettings(rescaling=RescalingSettings("craving")),
        stop_after="rescaling",
    )
    found = run_analysis(study_file, asked)
    assert [*step_named("rescaling").figures(found.prepared)] == ["levels"]
    assert "levels" in found.records["rescaling"].summary


@every_step
def test_its_methods_are_a_paragraph(step, analysis):
    asked = analysis.records[step.name].asked
    text = step.methods(analysis, asked)
    assert in_words(text)
    assert text.endswith(".")
    bare = Analysis(analysis.plan, analysis.source)
    assert in_words(step.methods(bare, asked)), "the result may have been left out of the file"


@every_step
def test_it_is_in_the_report(step, analysis):
    """Shown in a section, which has something to show."""
    own = [each for each in contents().values() if step.name in (*each.shows, *each.steps)]
    assert own
    for section in own:
        assert set(section.shows) <= {each.name for each in steps()}
        assert section.blocks(analysis, Draw("x", ()))


@every_step
def test_it_is_in_the_script(step, plan):
    text = plan.to_script("study.csv")
    compile(text, "script.py", "exec")
    lines = step.script(plan)
    assert lines in text
    if step.name == "missing":  # one call prepares the data for both steps
        assert "smdp.prepare(" in step_named("rescaling").script(plan)
        lines = step.script(plan.replace(stop_after="missing"))
    assert "smdp." in lines
    if step.name != "data":
        assert step.script_end
        assert step.script_end in text
