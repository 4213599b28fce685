"""Saving and opening an analysis, and the autosave."""

import pytest
from streamlit.testing.v1 import AppTest
from waiting import finish

from dashboard.session import Key
from smdp.analysis.analysis import load_analysis
from smdp.analysis.autosave import Autosaves
from smdp.analysis.saved_file import analysis_to_bytes
from smdp.plain_data import fingerprint
from smdp.simulation.samples import sample_file
from tests.dashboard.conftest import APP, Driver, open_file, saved

SAMPLE = "basics_mobile_synthetic.csv"
STEPS = ("data", "missing", "rescaling", "screening", "features", "policy")


@pytest.fixture
def analysed(sample, in_this_process):
    """The sample study to a quick policy, with choices that are not the defaults."""
    sample.press("Use these roles").go("missing_values")
    sample.at.slider(key="missing.span").set_value(0.8)
    sample.run().press("impute").go("rescaling").press("Rescale all variables").go("screening")
    sample.at.number_input(key="screening.seed").set_value(3)
    sample.at.number_input(key="screening.permutations").set_value(299)
    finish(sample.run().press("Screen 15 variables")).go("feature_dimension")
    sample.at.selectbox(key="features.kind").set_value("pca")
    finish(sample.run().press("Fit the feature map")).go("q_functions")
    sample.at.checkbox(key="policy.neural").set_value(False)
    sample.at.number_input(key="policy.bootstraps").set_value(20)
    return finish(sample.run().press("Learn the Q-functions"))


def results(app):
    own = app.at.session_state[Key.ANALYSIS]
    return {step: fingerprint(result) for step, result in own.results.items()}


def test_opened_again_it_shows_the_same(analysed, autosaves):
    before = analysed.sidebar[:9]
    content = analysis_to_bytes(saved(analysed, autosaves))
    app = open_file(content)
    assert app.title == "Q-functions"
    assert app.sidebar[:9] == before
    assert set(results(app)) == set(STEPS)
    assert results(app) == results(analysed)
    for page in ("data", "missing_values", "rescaling", "feature_dimension", "q_functions"):
        assert "not those that the result" not in app.go(page).text, page
        assert "out of date" not in app.text
    app.go("missing_values")
    assert app.at.slider(key="missing.span").value == 0.8
    # The same settings again are known, and what is saved now is what was opened.
    app.go("screening").press("Screen 15 variables")
    assert app.sidebar[4] == before[4]
    assert app.sidebar[7] == before[7]
    again = saved(app, autosaves)
    first = load_analysis(content)
    assert again.plan == first.plan
    assert again.records == first.records
    # A change marks what follows, as before.
    app.go("missing_values")
    app.at.slider(key="missing.span").set_value(0.5)
    app.run().press("impute")
    assert [app.sidebar[k] for k in (2, 4)] == ["out of date", "out of date"]
    stale = saved(app, autosaves)
    assert "rescaling" in stale.out_of_date
    old = open_file(analysis_to_bytes(stale))
    shown = [old.sidebar[k] for k in (0, 1, 2, 4)]
    assert shown == [before[0], before[1], "out of date", "out of date"]
    assert "out of date" in old.go("patient").text
    assert "are gone" not in old.text


def test_a_reload_keeps_the_work(sample, autosaves):
    sample.press("Use these roles")
    sample.at.text_area[0].set_value("Two students joined late.")
    sample.run()
    assert saved(sample, autosaves).plan.notes == {"data": "Two students joined late."}
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = sample.at.query_params["work"]
    at.run()
    assert not at.exception
    assert at.sidebar.caption[0].value == "30 subjects, 15 state variables"
    assert at.session_state[Key.KEPT]["note.data"] == "Two students joined late."


def test_a_reload_keeps_what_was_chosen_before_it_was_used(sample, autosaves):
    sample.set_role("day", role="state").go("missing_values").go("data")
    saved(sample, autosaves)
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = sample.at.query_params["work"]
    at.run()
    at.switch_page("views/data.py").run()
    roles = at.data_editor[0].value.set_index("column")["role"]
    assert roles["day"] == "state"


def test_a_reload_keeps_the_values_of_a_form_that_nothing_was_made_with(sample, autosaves):
    sample.press("Use these roles").go("missing_values")
    sample.at.slider(key="missing.span").set_value(0.4)
    sample.at.multiselect(key="missing.also_exclude").set_value(["S02"])
    sample.run()
    saved(sample, autosaves)
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = sample.at.query_params["work"]
    at.run()
    at.switch_page("views/missing_values.py").run()
    assert at.slider(key="missing.span").value == 0.4
    assert at.multiselect(key="missing.also_exclude").value == ["S02"]
    assert at.sidebar.caption[1].value == "ready"


def test_choices_are_written_once_not_at_every_run(sample, autosaves):
    saved(sample, autosaves)
    sample.run()
    saved(sample, autosaves)
    path = autosaves / f"{sample.at.query_params['work']}.smdp"
    written = path.stat().st_mtime_ns
    sample.run()
    saved(sample, autosaves)
    assert path.stat().st_mtime_ns == written


def test_a_loaded_table_is_kept_before_anything_is_done(sample, autosaves):
    kept = saved(sample, autosaves)
    assert kept.source.name == SAMPLE
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = sample.at.query_params["work"]
    assert at.run().sidebar.caption[0].value == "ready"


def test_kept_work_that_cannot_be_opened_is_said(autosaves):
    autosaves.mkdir()
    (autosaves / f"{'a' * 32}.smdp").write_bytes(b"not an analysis")
    at = AppTest.from_file(str(APP), default_timeout=60)
    at.query_params["work"] = "a" * 32
    at.run()
    assert not at.exception
    assert any("could not be opened" in c.value for c in at.sidebar.caption)


def test_a_second_tab_gets_a_file_of_its_own(sample, autosaves, monkeypatch):
    from dashboard import autosaving

    saved(sample, autosaves)
    name = sample.at.query_params["work"]
    monkeypatch.setattr(autosaving, "_in_use", lambda name: True)
    other = AppTest.from_file(str(APP), default_timeout=60)
    other.query_params["work"] = name
    other.run()
    assert other.sidebar.caption[0].value == "ready"
    assert other.session_state[Key.AUTOSAVE].name != name


def test_the_work_of_an_open_page_is_not_tidied_away(sample, autosaves):
    saved(sample, autosaves)
    name, store = sample.at.query_params["work"], Autosaves(autosaves)
    store.tidy(files=0)
    assert store.names() == [name]
    again = AppTest.from_file(str(APP), default_timeout=60)
    again.query_params["work"] = name
    again.run()
    sample.at.session_state[Key.AUTOSAVE].mark.release()
    store.tidy(files=0)
    assert store.names() == [name]  # the page that found it again has it open, too
    again.session_state[Key.AUTOSAVE].mark.release()
    store.tidy(files=0)
    assert list(autosaves.iterdir()) == []


def test_switched_off_or_forgotten_nothing_stays(sample, autosaves):
    saved(sample, autosaves)
    sample.at.toggle(key="autosave.on").set_value(False)
    sample.run()
    assert list(autosaves.iterdir()) == []
    assert sample.at.query_params["work"] == "off"
    sample.press("Use these roles")
    assert list(autosaves.iterdir()) == []
    sample.at.toggle(key="autosave.on").set_value(True)
    sample.run()
    assert saved(sample, autosaves).study is not None
    sample.press("Forget everything")
    assert list(autosaves.iterdir()) == []
    assert "work" not in sample.at.query_params


def test_autosave_off_for_the_whole_program(monkeypatch):
    monkeypatch.setenv("SMDP_AUTOSAVE", "off")
    app = Driver().press("Smoking in students")
    assert not app.at.toggle
    assert "Kept in memory" in app.text
    assert "work" not in app.at.query_params


def test_without_its_data_it_asks_for_the_table(sample, autosaves):
    sample.press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables")
    before = results(sample)
    app = open_file(analysis_to_bytes(saved(sample, autosaves), with_data=False))
    assert "was saved without its data" in app.text
    app.at.file_uploader[1].upload(SAMPLE, sample_file(SAMPLE).read_bytes())
    app.run()
    assert app.title == "Rescaling"
    assert results(app) == before


@pytest.mark.parametrize("damage", ["cut", "changed", "nonsense"])
def test_a_damaged_file_is_refused_and_nothing_is_lost(sample, autosaves, damage):
    sample.press("Use these roles")
    content = analysis_to_bytes(saved(sample, autosaves))
    bad = {
        "cut": content[: len(content) // 2],
        "changed": content[:200] + bytes([content[200] ^ 1]) + content[201:],
        "nonsense": b"subject,time\n1,2\n",
    }[damage]
    sample.go("start").at.file_uploader[1].upload("mine.smdp", bad)
    sample.run()
    assert len(sample.at.error) == 1
    assert "mine.smdp" in sample.at.error[0].value.replace("\\", "")
    assert sample.sidebar[0] == "30 subjects, 15 state variables"
