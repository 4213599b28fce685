"""Choices of any kind in somebody's file lead to pages, never to a fault."""

from __future__ import annotations

import json
import sys

import pytest
from saved_members import members, resealed

from dashboard.faults import say_fault
from dashboard.session import _is_like
from smdp.analysis.autosave import VARIABLE
from smdp.analysis.saved_file import analysis_to_bytes
from tests.dashboard.conftest import Driver, open_file, saved

PAGES = ("data", "missing_values", "rescaling", "screening", "report", "simulation", "glossary")


@pytest.fixture(scope="module")
def chosen(tmp_path_factory) -> tuple[dict[str, bytes], str]:
    """The parts of a file that has choices, and what the sidebar says of its missing values."""
    folder, before = tmp_path_factory.mktemp("chosen"), sys.modules["__main__"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        app = Driver().press("Smoking in students")
        app.press("Use these roles").go("missing_values").press("impute")
        app.go("rescaling").press("Rescale all variables").go("screening").go("report")
        found = members(analysis_to_bytes(saved(app, folder))), app.sidebar[2]
    sys.modules["__main__"] = before
    return found


@pytest.mark.parametrize(
    "wrong", [3, -1e9, "text", [1, None], {"$map": [["a", 1]]}, True, None, {"$tuple": []}]
)
def test_every_page_opens_whatever_was_chosen(chosen, wrong):
    parts, said = chosen
    choices = json.loads(parts["choices.json"])
    (controls,) = (value for name, value in choices["$map"] if name == "controls")
    assert len(controls["$map"]) > 10
    controls["$map"] = [[name, wrong] for name, _ in controls["$map"]]
    controls["$map"] += [["note.data", wrong], ["report.title", wrong], [3, wrong]]
    choices["$map"].append(["learned from", wrong])
    app = open_file(resealed(parts | {"choices.json": json.dumps(choices).encode()}))
    assert app.sidebar[2] == said
    for page in PAGES:
        app.go(page)
    assert app.sidebar[2] == said


def test_a_fault_of_the_program_is_said_in_its_own_words(monkeypatch):
    said = []
    monkeypatch.setattr("dashboard.show.say_error", said.append)
    assert say_fault(KeyError("x")) is True
    assert "could not be shown (KeyError)" in said[0].problem
    assert "Nothing already done is lost" in said[0].remedy


@pytest.mark.parametrize(
    ("value", "default", "like"),
    [
        (3, 0.5, True),
        (0.5, 3, True),
        (True, 3, False),
        ("3", 3, False),
        (3, "", False),
        (None, "", True),
        ([1], (), True),
        ("ab", [], False),
        ({}, {}, True),
        ([], {}, False),
        (1, False, False),
        (object(), None, True),
    ],
)
def test_what_a_control_could_have_given(value, default, like):
    assert _is_like(value, default) is like
