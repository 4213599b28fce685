"""The history of an analysis: what is told, what undo and redo lead to, what is brought back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from smdp.analysis import history as history_module
from smdp.analysis.analysis import Analysis
from smdp.analysis.changes import what_changed
from smdp.analysis.history import (
    MOST_TURNS,
    AnalysisHistory,
    bare,
    history_from_plain,
    history_to_plain,
    results_from_plain,
)
from smdp.analysis.known_results import KnownResults, size_of
from smdp.analysis.provenance import StepRecord
from smdp.data.column_roles import StateVariable
from smdp.errors import SettingError
from smdp.plain_data import from_plain, to_plain
from smdp.steps import steps


@pytest.fixture
def begun(study_file, plan) -> Analysis:
    """Nothing done."""
    return Analysis.from_file(study_file, roles=plan.roles, reading=plan.reading)


@pytest.fixture
def prepared(begun) -> Analysis:
    return begun.run("rescaling")


def known(*analyses: Analysis) -> KnownResults:
    found = KnownResults()
    for analysis in analyses:
        for name, record in analysis.records.items():
            found.remember(record, analysis.results[name])
    return found


def without_noise(analysis: Analysis) -> Analysis:
    roles = analysis.plan.roles
    states = tuple(each for each in roles.variables if each.name != "noise")
    return analysis.with_plan(roles=replace(roles, states=states))


def again(analysis: Analysis, level: float) -> Analysis:
    """With another level in the plan, and nothing run."""
    return analysis.with_settings("screening", level=level)


# What is told.


def test_steps_that_were_done_are_told_with_what_they_found(begun, prepared):
    assert what_changed(begun, prepared) == (
        "Data: 14 subjects, 4 state variables",
        "Missing values: 14 of 14 subjects kept",
        "Rescaling: 154 transitions, own units",
    )
    assert what_changed(prepared, prepared) == ()
    assert what_changed(prepared, prepared.run_one("rescaling")) == ()


def test_a_column_that_is_left_out_is_named(prepared):
    changed = without_noise(prepared).run_one("data")
    assert what_changed(prepared, changed) == (
        "Column 'noise' left out of the state",
        "Data: now 14 subjects, 3 state variables",
    )
    assert what_changed(changed, prepared)[0] == "Column 'noise' added to the state"


def test_settings_are_told_as_they_are_called_on_the_pages(prepared):
    at_ten, at_five = again(prepared, 0.1), again(prepared, 0.05)
    assert what_changed(at_ten, at_five) == ("Screening: false-alarm level (tau) 0.1 → 0.05",)
    assert what_changed(prepared, at_ten) == ("Screening: planned",)
    assert what_changed(at_ten, prepared) == ("Screening: left out",)


def test_a_result_of_other_data_is_told_as_done_again(prepared):
    changed = without_noise(prepared).run("rescaling")
    assert what_changed(prepared, changed)[2:] == (
        "Missing values, again: 14 of 14 subjects kept",
        "Rescaling, again: 154 transitions, own units",
    )


def test_a_type_or_a_range_is_told(prepared):
    roles = prepared.plan.roles
    states = (StateVariable("stress", "continuous", -5, 12), *roles.variables[1:])
    changed = prepared.with_plan(roles=replace(roles, states=states))
    (line,) = what_changed(prepared, changed)
    assert line == "Data: state variables: 'stress': Highest value 15.0 → 12.0"


def test_another_table_and_a_hidden_outcome_are_told(prepared):
    other = replace(prepared.source, name="other.csv", fingerprint="other")
    assert what_changed(prepared, replace(prepared, source=other)) == ("Another table: other.csv",)
    assert what_changed(prepared, prepared.with_outcome_hidden()) == ("Outcome hidden",)


def test_many_changes_are_not_all_told(prepared):
    roles = prepared.plan.roles
    words = {name: f"kind {name}" for name in "abcdefghijkl"}
    changed = prepared.with_plan(
        roles=roles, reading=replace(prepared.plan.reading, labels=words)
    )  # fmt: skip
    lines = what_changed(prepared, changed)
    assert len(lines) == 9
    assert lines[-1] == "and 4 more changes"


# Undo, redo, and back.


@pytest.fixture
def walk(prepared) -> AnalysisHistory:
    """Prepared, then three levels."""
    history = AnalysisHistory.begin(prepared)
    for level in (0.1, 0.05, 0.2):
        history = history.changed(again(prepared, level))
    return history


def levels(history: AnalysisHistory) -> list[float | None]:
    """Of the turns, in order."""
    planned = [turn.state.plan.screening for turn in history.turns]
    return [None if own is None else own.settings.level for own in planned]


def level(history: AnalysisHistory) -> float | None:
    own = history.present.state.plan.screening
    return None if own is None else own.settings.level


def test_what_is_the_same_is_no_turn(prepared, walk):
    assert [turn.number for turn in walk.turns] == [1, 2, 3, 4]
    assert walk.changed(again(prepared, 0.2)) is walk
    noted = again(prepared, 0.2).with_plan(notes={"data": "Mine."}, stop_after="screening")
    assert walk.changed(noted) is walk
    assert walk.present.state.plan.notes == {}
    assert not walk.present.state.results


def test_undo_and_redo_walk_to_and_fro(walk):
    back = walk.undone
    assert level(back) == 0.05
    assert level(back.undone) == 0.1
    assert back.undone.undone.undone is None
    assert walk.redone is None
    assert level(back.undone.redone) == 0.05
    assert back.redone.present is walk.present


def test_a_change_ends_what_can_be_redone_and_loses_nothing(prepared, walk):
    other = walk.undone.undone.changed(again(prepared, 0.4))
    assert other.redone is None
    assert level(other) == 0.4
    assert level(other.undone) == 0.1
    assert levels(other) == [None, 0.1, 0.05, 0.2, 0.4]


def test_going_back_is_a_turn_that_can_be_undone(walk):
    back = walk.back_to(2)
    assert level(back) == 0.1
    assert back.present.headline == "Back to: Screening: planned"
    assert level(back.undone) == 0.2
    assert back.back_to(5).present.headline == "Back to: Screening: planned"


def test_turns_are_bounded_and_undo_passes_over_those_that_are_gone(prepared):
    history = AnalysisHistory.begin(prepared)
    for number in range(MOST_TURNS + 20):
        history = history.changed(again(prepared, 0.1 + 0.001 * number))
    assert len(history.turns) == MOST_TURNS
    steps_back = 0
    while history.undone is not None:
        history, steps_back = history.undone, steps_back + 1
    assert steps_back == MOST_TURNS - 1
    for number in range(3):  # at the very beginning of what is left
        history = history.changed(again(prepared, 0.3 + 0.001 * number))
        assert history.undone is not None


def test_undo_passes_over_what_is_left_out(walk):
    short = walk.without({2, 3})
    assert [turn.number for turn in short.turns] == [1, 4]
    assert short.undone.at == 1
    assert walk.undone.without({4}).redone is None


# What is brought back.


def test_results_come_back_as_they_were(prepared):
    changed = without_noise(prepared).run("rescaling")
    history = AnalysisHistory.begin(prepared).changed(changed)
    found = history.undone.brought_back(known(prepared, changed), changed)
    assert found.lost == ()
    assert set(found.analysis.results) == {"data", "missing", "rescaling"}
    for name, own in prepared.results.items():
        assert found.analysis.results[name] is own
    assert found.analysis.out_of_date == ()


def test_results_out_of_date_come_back_out_of_date(prepared):
    changed = without_noise(prepared).run_one("data")
    history = AnalysisHistory.begin(prepared).changed(changed)
    at_both = known(prepared, changed)
    back = history.undone.brought_back(at_both, changed).analysis
    there = history.undone.redone.brought_back(at_both, back).analysis
    assert there.out_of_date == changed.out_of_date == ("missing", "rescaling")


def test_what_is_not_known_is_made_anew_where_that_takes_moments(prepared):
    screened = again(prepared, 0.1).run("screening", permutations=299)
    history = AnalysisHistory.begin(screened).changed(without_noise(screened))
    found = history.undone.brought_back(KnownResults(), prepared)
    assert found.analysis.records["rescaling"] is screened.records["rescaling"]
    assert [str(step) for step in found.lost] == ["screening"]
    rerun = found.analysis.run_one("screening")
    assert rerun.records["screening"].output == screened.records["screening"].output
    assert history.undone.changed(rerun).at == 1  # that it was made again is no change


def test_notes_and_the_locked_plan_stay(prepared):
    history = AnalysisHistory.begin(prepared).changed(again(prepared, 0.1))
    now = again(prepared, 0.1).with_plan(notes={"data": "Mine."})
    now = now.with_locked(now.lock())
    back = history.undone.brought_back(known(prepared), now).analysis
    assert back.plan.notes == {"data": "Mine."}
    assert back.locked is now.locked
    assert back.plan.screening is None


# Saved, and opened again.


def through_a_file(history, held, analysis, **options):
    arrays = {}
    plain = to_plain(history_to_plain(history, held, analysis, **options), arrays)
    return from_plain(plain, arrays)


def test_it_is_saved_and_opened_again(prepared, walk):
    changed = walk.undone.changed(without_noise(again(prepared, 0.05)).run_one("data")).undone
    saved = through_a_file(changed, known(prepared), prepared)
    found = history_from_plain(saved, prepared)
    assert (found.at, found.ahead) == (changed.at, changed.ahead)
    for one, other in zip(found.turns, changed.turns, strict=True):
        assert (one.number, one.at, one.said, one.before, one.back) == (
            other.number, other.at, other.said, other.before, other.back,
        )  # fmt: skip
        assert one.state.plan == other.state.plan
        assert dict(one.state.records) == dict(other.state.records)
    assert found.changed(found.present.state) is found


def test_results_of_other_turns_are_saved_within_a_bound(prepared):
    screened = again(prepared, 0.1).run("screening", permutations=99)
    changed = without_noise(screened).run("rescaling")
    history = AnalysisHistory.begin(prepared).changed(screened).changed(changed).undone.undone
    held = known(screened, changed)
    (pair,) = results_from_plain(through_a_file(history, held, prepared))
    assert pair == (screened.records["screening"], screened.screening)
    assert not list(results_from_plain(through_a_file(history, held, prepared, most_bytes=0)))


def test_results_that_are_out_of_date_are_saved_too(prepared):
    changed = without_noise(prepared).run_one("data")
    history = AnalysisHistory.begin(prepared).changed(changed).undone
    held = known(prepared, changed)
    begun = replace(prepared, results={}, records={})
    (pair,) = results_from_plain(through_a_file(history, held, begun))
    assert pair[0].step == "missing"
    opened = KnownResults()
    opened.remember(*pair)
    there = history.redone.brought_back(opened, begun)
    assert there.lost == ()
    assert there.analysis.out_of_date == ("missing", "rescaling")


def test_turns_of_another_table_are_not_saved(prepared):
    other = replace(prepared, source=replace(prepared.source, fingerprint="other"))
    history = AnalysisHistory.begin(other).changed(prepared).changed(again(prepared, 0.2))
    found = history_from_plain(through_a_file(history, KnownResults(), prepared), prepared)
    assert [turn.number for turn in found.turns] == [2, 3]
    assert found.undone.undone is None


WRONG = (3, "text", None, (), {}, {"$": 1}, (1, 2), -1, True, ("x",) * 200, 1.5)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_is_no_history_is_none(prepared, walk, wrong):
    saved = through_a_file(walk, known(prepared), prepared)
    assert history_from_plain(wrong, prepared) is None
    assert list(results_from_plain(wrong)) == []
    assert list(results_from_plain({"results": wrong})) == []
    for name in ("turns", "at", "ahead", "plans", "records"):
        if (name, wrong) != ("ahead", ()):
            found = history_from_plain(saved | {name: wrong}, prepared)
            assert found is None or found.present is not None, name
    for key in saved["turns"][1]:
        turns = (saved["turns"][0], saved["turns"][1] | {key: wrong}, *saved["turns"][2:])
        found = history_from_plain(saved | {"turns": turns}, prepared)
        assert found is None or found.undone is None or found.undone.present.number, key


def test_a_circle_of_turns_is_refused(prepared, walk):
    saved = through_a_file(walk, known(prepared), prepared)
    turns = (saved["turns"][0] | {"before": 4}, *saved["turns"][1:])
    assert history_from_plain(saved | {"turns": turns}, prepared) is None


def test_a_result_that_is_not_of_its_step_is_left_out(prepared):
    record = prepared.records["data"]
    pairs = ((record, prepared.results["rescaling"]), (record, 3), (3, 3), record)
    assert list(results_from_plain({"results": pairs})) == []


# What is remembered.


def test_what_was_stopped_early_is_found_by_its_record_alone(prepared):
    record = replace(prepared.records["data"], complete=False)
    held = KnownResults()
    held.remember(record, prepared.study)
    assert held.find("data", record.asked, record.inputs) is None
    assert held.find_record(record).result is prepared.study
    assert list(held.of("data")) == []


def record_of(number: int) -> StepRecord:
    return StepRecord("screening", {"trajectories": "t"}, number, f"output {number}", "")


def test_memory_is_bounded_and_what_was_used_last_stays(prepared):
    held = KnownResults(most_bytes=3 * 80_200)
    for number in range(6):
        held.remember(record_of(number), np.zeros(10_000))
        held.find_record(record_of(0))
        held.let_go(prepared)
    assert [held.find_record(record_of(n)) is not None for n in range(6)] == [
        True, False, False, False, True, True,
    ]  # fmt: skip


def test_what_the_present_analysis_has_is_never_forgotten(prepared):
    held = KnownResults(most_bytes=0)
    for name, record in prepared.records.items():
        held.remember(record, prepared.results[name])
    held.let_go(prepared)
    assert len(held) == 3


def test_the_size_of_a_result_counts_what_it_holds_once(prepared):
    cells = np.zeros(1000)
    assert 8000 < size_of((cells, cells)) < 8400
    assert size_of({"a": cells, "b": np.ones(1000)}) > 16_000
    assert size_of(prepared.table) > prepared.table.size * 8
    assert size_of(prepared.prepared) > prepared.prepared.trajectories.states.nbytes


def test_times_are_read_by_anybody(walk):
    assert all(datetime.fromisoformat(turn.at).tzinfo for turn in walk.turns)


def test_a_step_that_fails_is_lost_and_no_fault(prepared, monkeypatch):
    history = AnalysisHistory.begin(prepared)

    def failing(self, step, **options):
        raise SettingError("No.")

    monkeypatch.setattr(history_module.Analysis, "run_one", failing)
    found = history.brought_back(KnownResults(), prepared)
    assert [step.name for step in found.lost] == ["data", "missing", "rescaling"]
    assert not found.analysis.results
    assert {step.name for step in steps()} > set(found.analysis.records)
    assert bare(prepared).results == {}
