"""A new file is a new work; the one before stays among the last works, whole and unmixed."""

import pytest

from dashboard.session import Key
from smdp.analysis.autosave import Autosaves
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.simulation.samples import sample_file
from tests.dashboard.conftest import Driver, saved

FIRST, SECOND = "basics_mobile_synthetic.csv", "three_action_synthetic.csv"


def load_second(app: Driver) -> Driver:
    return app.go("start").upload(SECOND, sample_file(SECOND).read_bytes())


def worked_on(app: Driver) -> Driver:
    """Roles, a result, a note and a choice that nothing was made with."""
    app.press("Use these roles")
    note = next(area for area in app.at.text_area if "note" in (area.key or "").lower())
    note.set_value("Of the first study.")
    app.run().go("missing_values").press("impute")
    app.at.slider(key="missing.span").set_value(0.5)
    return app.run()


def go_on(app: Driver, name: str) -> Driver:
    app.go("start")
    next(b for b in app.at.button if b.label.replace("\\", "") == name).click()
    return app.run()


def check_the_first_is_whole(app: Driver) -> None:
    own = app.at.session_state[Key.ANALYSIS]
    assert own.source.name == FIRST
    assert {"data", "missing"} <= set(own.results)
    assert "not those that the result" in app.go("missing_values").text
    assert app.at.slider(key="missing.span").value == 0.5
    app.go("data")
    assert any(area.value == "Of the first study." for area in app.at.text_area)


def check_the_second_is_new(app: Driver) -> None:
    own = app.at.session_state[Key.ANALYSIS]
    assert own.source.name == SECOND
    assert not own.results
    assert not own.records
    assert not own.plan.notes
    kept = app.at.session_state[Key.KEPT]
    assert not [name for name in kept if name.startswith(("note.", "missing.", "report."))]


def test_nothing_is_lost_and_nothing_is_mixed(sample, autosaves):
    first = worked_on(sample).at.query_params["work"]
    app = load_second(sample)
    assert app.title == "Data"
    assert f"That of {FIRST} was set aside" in app.text
    check_the_second_is_new(app)
    app.press("Use these roles")
    second = saved(app, autosaves)
    assert second.source.name == SECOND
    assert app.at.query_params["work"] != first
    assert Autosaves(autosaves).load(first).source.name == FIRST

    check_the_first_is_whole(go_on(app, FIRST))
    assert app.at.query_params["work"] == first
    go_on(app, SECOND)
    assert app.at.session_state[Key.ANALYSIS].records == second.records
    assert len(Autosaves(autosaves).names()) == 2


def test_opening_a_saved_analysis_leaves_the_present_one_as_it_is(sample, autosaves):
    content = analysis_to_bytes(saved(load_second(sample), autosaves))
    app = worked_on(Driver().press("Smoking in students"))
    app.go("start")
    app.at.file_uploader[1].upload("second.smdp", content)
    check_the_second_is_new(app.run())
    check_the_first_is_whole(go_on(app, FIRST))


@pytest.mark.parametrize("how", ["program", "person", "disk"])
def test_where_nothing_is_written_it_stays_in_memory(monkeypatch, how):
    if how == "program":
        monkeypatch.setenv("SMDP_AUTOSAVE", "off")
    app = worked_on(Driver().press("Smoking in students"))
    if how == "person":
        app.at.toggle(key="autosave.on").set_value(False)
        app.run()
    if how == "disk":

        def full(*_: object) -> None:
            raise OSError("No space left on device")

        monkeypatch.setattr(Autosaves, "save", full)
    check_the_second_is_new(load_second(app))
    assert "in memory only" in app.go("start").text
    check_the_first_is_whole(go_on(app, FIRST))
    check_the_second_is_new(go_on(app, SECOND))


def test_the_same_table_again_is_the_same_work(sample):
    worked_on(sample)
    sample.go("start").upload("renamed.csv", sample_file(FIRST).read_bytes())
    assert {"data", "missing"} <= set(sample.at.session_state[Key.ANALYSIS].results)
    assert "set aside" not in sample.text


def test_a_file_that_cannot_be_read_sets_nothing_aside(sample, autosaves):
    worked_on(sample)
    sample.go("start").upload("broken.xlsx", b"nothing")
    assert len(sample.at.error) == 1
    check_the_first_is_whole(sample)
    assert len(Autosaves(autosaves).names()) == 1


def test_work_that_cannot_be_opened_leaves_the_present_one(sample, autosaves):
    first = worked_on(sample).at.query_params["work"]
    app = load_second(sample)
    (autosaves / f"{first}.smdp").write_bytes(b"nothing")
    app.go("start")
    app.at.button(key=f"go-on-{first}").click()
    app.run()
    assert len(app.at.error) == 1
    assert app.at.session_state[Key.ANALYSIS].source.name == SECOND


def test_forget_everything_forgets_what_was_set_aside(sample, autosaves):
    load_second(worked_on(sample)).press("Forget everything")
    assert not Autosaves(autosaves).names()
