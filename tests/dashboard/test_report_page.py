"""The Report page: what it offers, what it says, and what is in the files."""

import io
import subprocess
import sys
import zipfile

import pytest

from dashboard import report_widgets
from dashboard.session import Key
from smdp.errors import SmdpError
from smdp.report.browser import find_browser
from tests.dashboard.conftest import APP


@pytest.fixture
def prepared(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return sample.go("rescaling").press("Rescale all variables").go("report")


def test_it_opens_without_the_networks():
    """They would bring torch along, and with it seconds of a blank page."""
    code = "import sys, dashboard.report_widgets; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=APP.parents[1])


def test_it_teaches_when_there_is_nothing_to_report(app, sample):
    assert "Data" in sample.go("report").text
    assert not sample.at.get("download_button")
    assert not sample.at.exception


def test_it_offers_every_file(prepared):
    labels = [b.proto.label for b in prepared.at.get("download_button")]
    of_the_report = ["HTML", "Analysis (.smdp)", "Plan (TOML)", "Script (Python)"]
    assert [label for label in labels if label in of_the_report] == of_the_report
    assert {"Summary (HTML)", "Checklist (Word)", "Checklist (HTML)"} <= set(labels)
    assert len(labels) == len(set(labels))
    assert "Done so far: Data, Missing values, Rescaling." in prepared.text
    assert [b.label for b in prepared.at.text_area] == ["Data", "Missing values", "Rescaling"]


def test_a_note_written_on_a_page_is_in_the_report_page_and_back(prepared):
    prepared.at.text_area[1].set_value("Two were ill.")
    prepared.run().go("missing_values")
    assert prepared.at.text_area[0].value == "Two were ill."
    prepared.at.text_area[0].set_value("Three were ill.")
    prepared.run().go("report")
    assert prepared.at.text_area[1].value == "Three were ill."
    assert prepared.at.session_state[Key.KEPT]["note.missing"] == "Three were ill."


def test_sections_can_be_left_out(prepared):
    prepared.at.multiselect(key="report.without").set_value(["Methods", "Rescaling"])
    prepared.run()
    assert not prepared.at.exception
    every = prepared.at.multiselect(key="report.without").options
    prepared.at.multiselect(key="report.without").set_value(every)
    assert "needs at least one section" in prepared.run().text


def test_an_out_of_date_step_is_said_and_named(prepared):
    prepared.go("missing_values")
    prepared.at.slider(key="missing.span").set_value(0.5)
    prepared.run().press("impute").go("report")
    assert "Out of date: Rescaling" in prepared.text


def test_without_chrome_it_says_so_and_offers_the_other_way(prepared, monkeypatch):
    monkeypatch.setattr(report_widgets, "find_browser", lambda: None)
    prepared.run()
    assert "none was found" in prepared.text
    assert "the camera" in prepared.text
    assert not any(b.label == "Make figures" for b in prepared.at.button)


def test_one_figure_can_be_chosen_and_what_is_not_done_is_said(prepared):
    assert "Not done, so in none of these: What treatment did" in prepared.text
    assert "In the plan so far: Data, Missing values, Rescaling." in prepared.text
    prepared.at.checkbox(key="report.some-figures").set_value(True)
    prepared.run()
    assert "Choose at least one figure." in prepared.text
    box = prepared.at.multiselect(key="report.which-figures")
    assert box.options[0] == "1. Flow of people and decisions"
    box.set_value(box.options[:1])
    prepared.run()
    assert not prepared.at.exception
    assert any(b.label == "Make figures" for b in prepared.at.button)


@pytest.mark.skipif(find_browser() is None, reason="no Chrome to draw with")
def test_figures_and_word_are_made_and_stay_until_something_changes(prepared):
    prepared.at.multiselect(key="report.without").set_value(["Missing data and imputation"])
    prepared.at.multiselect(key="report.formats").set_value(["SVG"])
    prepared.run().press("Make figures").press("Make Word")
    labels = [b.proto.label for b in prepared.at.get("download_button")]
    assert "Download figures" in labels
    assert "Download Word" in labels
    _, content = prepared.at.session_state[Key.MEMO]["made figures"]
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    assert any(name.startswith("synthetic-") and name.endswith(".svg") for name in names)
    assert any(name.endswith(".csv") for name in names)
    prepared.at.checkbox(key="report.grey").set_value(True)
    prepared.run()
    assert any(b.label == "Make figures" for b in prepared.at.button)


def test_a_download_that_fails_is_explained(prepared, monkeypatch):
    """The button's work is done outside of the page's script, which has to hear of it."""
    taken = {}

    def button(label, make, **more):
        taken[label] = make

    def full(*args, **more):
        raise SmdpError("The disk is full.", "Make room.")

    monkeypatch.setattr("dashboard.downloads.st.download_button", button)
    monkeypatch.setattr(report_widgets, "analysis_to_bytes", full)
    monkeypatch.setattr(report_widgets, "to_html", lambda report, **more: 1 / 0)
    prepared.run()
    assert not prepared.at.error
    for label, error in (("Analysis (.smdp)", SmdpError), ("HTML", SmdpError)):
        with pytest.raises(error):
            taken[label]()
    said = [e.value.replace("\\", "") for e in prepared.run().at.error]
    assert "The disk is full.\n\n**What to do:** Make room." in said
    assert any("report.html' could not be made (ZeroDivisionError)" in text for text in said)
    monkeypatch.setattr(report_widgets, "analysis_to_bytes", lambda *args, **more: b"")
    prepared.run()
    assert taken["Analysis (.smdp)"]() == b""
    assert len(prepared.run().at.error) == 1
    assert not prepared.go("data").at.error


def test_what_cannot_be_made_is_explained(prepared, monkeypatch):
    monkeypatch.setattr(report_widgets, "find_browser", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(report_widgets, "report_figures", lambda *args, **more: 1 / 0)
    prepared.run().press("Make figures")
    assert "could not be made (ZeroDivisionError)" in prepared.text
