"""Study files: from a folder or as bytes, and refused where no study wrote them."""

from __future__ import annotations

import sqlite3

import pandas as pd
import pytest
from small_simulation import small_how

from smdp.errors import DataError
from smdp.simulation import study_store
from smdp.simulation.names import MAPS
from smdp.simulation.study_settings import StudyCell
from smdp.simulation.study_store import COLUMNS, FILE_NAME, open_study, read_study
from smdp.simulation.study_tables import settings_of


def test_a_damaged_study_file_is_an_error_for_people(tmp_path):
    with open_study(tmp_path, small_how(), "0.1.0"):
        pass
    with sqlite3.connect(tmp_path / FILE_NAME) as connection:
        connection.execute("UPDATE about SET value = '[' WHERE name = 'how'")
    with pytest.raises(DataError, match="holds what no study writes"):
        read_study(tmp_path)


def test_the_bytes_of_a_study_file_are_the_study(small_study, tmp_path):
    folder = write_study(small_study, tmp_path)
    for source in (folder, (folder / FILE_NAME).read_bytes()):
        pd.testing.assert_frame_equal(read_study(source).rows, small_study.rows)
    assert [each.model for each in settings_of(small_study)] == ["linear", "quad"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("UPDATE cells SET model = '<b>'", "'model' must be 'linear'"),
        ("UPDATE cells SET feature_map = 'lda'", "the feature map 'lda'"),
        ("UPDATE cells SET status = 'perhaps'", "the status 'perhaps'"),
        ("UPDATE cells SET variables = 'S1 S9999'", "the variable 'S9999'"),
        ("UPDATE cells SET noise = 1000000000", "'noise' must be at most 10,000,000"),
        ("UPDATE cells SET linear = 9e999", "an infinite outcome"),
    ],
)
def test_what_no_study_writes_is_refused(small_study, tmp_path, change, message):
    folder = write_study(small_study, tmp_path)
    # Rows that would become one another's double are not what is tested.
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("DELETE FROM cells WHERE rowid > 1")
        connection.execute(change)
    with pytest.raises(DataError, match="holds what no study writes") as caught:
        read_study(folder)
    assert message in caught.value.problem


def test_a_view_without_end_does_not_hold_up_the_reader(small_study, tmp_path, monkeypatch):
    monkeypatch.setattr(study_store, "_PATIENCE_WITH_STRANGERS", 0.2)
    folder = write_study(small_study, tmp_path)
    nothing = ", ".join(f"'' AS {name}" for name in COLUMNS[1:])
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute("DROP TABLE cells")
        connection.execute(
            "CREATE VIEW cells AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            f"SELECT i AS {COLUMNS[0]}, {nothing} FROM n WHERE i < 0"
        )
    with pytest.raises(DataError, match="interrupted"):
        read_study((folder / FILE_NAME).read_bytes())


def write_study(study, folder):
    with open_study(folder, study.how, "0.1.0") as store:
        store.take_over(study, [StudyCell(s, m, r) for s in settings_of(study) for m in MAPS
                                for r in range(99)])  # fmt: skip
    return folder


@pytest.mark.parametrize("content", [b"", b"no database", b"no database, but longer " * 99])
def test_other_files_are_refused_with_a_remedy_for_files(content):
    with pytest.raises(DataError, match="cannot be used") as caught:
        read_study(content)
    assert caught.value.remedy.startswith("Choose the file study.sqlite")
