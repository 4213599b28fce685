"""A REDCap data dictionary by clicks."""

import numpy as np
import pandas as pd
import pytest

from smdp.analysis.saved_file import analysis_to_bytes
from tests.dashboard.conftest import Driver, open_file, saved

DICTIONARY = b"""\
Variable / Field Name,Field Type,Field Label,"Choices, Calculations, OR Slider Labels",\
Text Validation Type OR Show Slider Number,Text Validation Min,Text Validation Max,Identifier?
module,radio,Module shown,"0, Information | 1, Treatment",,,,
mood,radio,How is your *mood*?,"1, Low | 2, Middling | 3, High | 9, Refused",,,,
steps,text,Steps <script>alert(1)</script>,,number,0,50000,
phone,text,Phone,,,,,y
"""


@pytest.fixture
def app() -> Driver:
    rng = np.random.default_rng(5)
    rows = 60
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(6), 10),
            "time": np.tile(np.arange(10), 6),
            "module": rng.integers(0, 2, rows),
            "mood": rng.choice([1, 2, 3, 9], rows),
            "steps": rng.poisson(400, rows),
            "phone": rng.integers(10_000, 99_999, rows),
            "outcome": rng.normal(size=rows),
        }
    )
    return Driver().upload("export.csv", frame.to_csv(index=False).encode())


def give(app: Driver, content: bytes) -> Driver:
    box = next(box for box in app.at.file_uploader if "dictionary" in box.label)
    box.upload("dictionary.csv", content)
    return app.run()


def roles(app: Driver) -> pd.DataFrame:
    return app.at.data_editor[0].value.set_index("column")


def test_labels_types_and_ranges_come_from_it(app, autosaves):
    before = roles(app)
    give(app, DICTIONARY)
    assert not app.at.error
    now = roles(app)
    assert list(now.loc["mood", ["type", "lowest", "highest"]]) == ["ordinal", 1, 3]
    assert now.loc["mood", "missing codes"] == "9"
    assert now.loc["steps", "highest"] == 50_000
    assert (before.loc["phone", "role"], now.loc["phone", "role"]) == ("state", "ignore")
    assert "In use of dictionary.csv: labels of 4 columns" in app.text
    app.press("Use these roles")
    analysis = saved(app, autosaves)
    assert analysis.plan.reading.labels["mood"] == "How is your *mood*?"
    assert analysis.study.action_labels == ("Information", "Treatment")
    assert "<script>" not in analysis.plan.to_toml()
    again = open_file(analysis_to_bytes(analysis)).go("data")
    assert "not those that the result" not in again.text
    assert "labels of 4 columns" in again.text
    again.press("Do without its labels")
    assert "not those that the result" in again.text


def test_it_can_be_undone(app):
    before = roles(app)
    give(app, DICTIONARY).press("Undo")
    pd.testing.assert_frame_equal(roles(app).drop(columns="label"), before.drop(columns="label"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n", "is no REDCap data dictionary"),
        (DICTIONARY.replace(b"1, Low", b"1 Low"), "'1 Low' has no comma"),
        (b"field_name,field_type,field_label\nother,text,Other\n", "None of the 1 field"),
        (b"\x00\x01", "dictionary.csv"),
    ],
)
def test_a_bad_one_is_one_message_and_nothing_is_lost(app, content, words):
    before = roles(app)
    give(app, content)
    assert len(app.at.error) == 1
    assert words in app.text
    pd.testing.assert_frame_equal(roles(app), before)


def test_in_the_place_of_data_it_is_said(app):
    app.go("start").upload("dictionary.csv", DICTIONARY)
    assert len(app.at.error) == 1
    assert "it describes data and holds none" in app.text
    assert "steps" in roles(app.go("data")).index
