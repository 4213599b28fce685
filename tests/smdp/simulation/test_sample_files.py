"""The sample files in the repository are what the code writes, and can be found."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from smdp.analysis.provenance import source_of
from smdp.data.read_table import read_table
from smdp.errors import ReadError
from smdp.simulation import samples
from smdp.simulation.basics_like import BASELINE, SELF_REPORTS, STATES, basics_like
from smdp.simulation.sample_files import write_sample_files
from smdp.simulation.samples import SAMPLE_FILES, SAMPLE_STUDIES, sample_file
from smdp.simulation.three_action import three_action

LONG = "basics_mobile_synthetic"


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples") / "new"
    written = write_sample_files(folder)
    assert sorted(p.name for p in written) == sorted(p.name for p in folder.iterdir())
    return folder


@pytest.fixture(scope="module")
def long() -> pd.DataFrame:
    return pd.read_csv(sample_file(f"{LONG}.csv"))


@pytest.mark.parametrize("name", [name for name in SAMPLE_FILES if name.endswith(".csv")])
def test_a_csv_file_is_byte_for_byte_what_the_code_writes(name: str, rebuilt: Path) -> None:
    assert (rebuilt / name).read_bytes() == sample_file(name).read_bytes()


def test_the_excel_file_is_what_the_code_writes(rebuilt: Path, long: pd.DataFrame) -> None:
    old, new = (
        pd.read_excel(path, sheet_name=None, engine="openpyxl")
        for path in (sample_file(f"{LONG}.xlsx"), rebuilt / f"{LONG}.xlsx")
    )
    assert list(old) == ["Synthetic data", "Dictionary"]
    for sheet in old:
        pd.testing.assert_frame_equal(old[sheet], new[sheet])
    pd.testing.assert_frame_equal(old["Synthetic data"], long)


def test_the_spss_file_is_what_the_code_writes(rebuilt: Path, long: pd.DataFrame) -> None:
    old, about_old = pyreadstat.read_sav(sample_file(f"{LONG}.sav"))
    new, about_new = pyreadstat.read_sav(rebuilt / f"{LONG}.sav")
    pd.testing.assert_frame_equal(old, new)
    pd.testing.assert_frame_equal(old, long, check_dtype=False)
    assert about_old.column_names_to_labels == about_new.column_names_to_labels
    assert about_old.variable_value_labels == about_new.variable_value_labels
    assert about_old.column_names_to_labels["cigs"] == "Cigarettes"
    assert about_old.variable_value_labels["module"] == {0: "informational", 1: "treatment"}


def test_no_file_records_when_it_was_written(rebuilt: Path) -> None:
    with zipfile.ZipFile(rebuilt / f"{LONG}.xlsx") as workbook:
        assert {entry.date_time[0] for entry in workbook.infolist()} == {2014}
        properties = workbook.read("docProps/core.xml").decode()
    assert re.findall(r"\b(\d{4})-\d\d-\d\dT", properties) == ["2014", "2014"]
    _, about = pyreadstat.read_sav(rebuilt / f"{LONG}.sav", metadataonly=True)
    assert about.creation_time.year == 2014


def test_writing_twice_gives_the_same_bytes(rebuilt: Path, tmp_path: Path) -> None:
    for path in write_sample_files(tmp_path):
        assert path.read_bytes() == (rebuilt / path.name).read_bytes(), path.name


def test_the_long_file_is_the_simulated_study(long: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(long, basics_like())


def test_the_wide_file_holds_the_same_values(long: pd.DataFrame) -> None:
    wide = pd.read_csv(sample_file(f"{LONG}_wide.csv")).set_index("student")
    assert wide.shape == (30, len(BASELINE) + 28 * (len(SELF_REPORTS) + 2))
    for name in ("weekend", *SELF_REPORTS, "module"):
        for report, rows in long.groupby("report"):
            expected = rows.set_index("student")[name]
            pd.testing.assert_series_equal(
                wide[f"{name}_{report}"], expected, check_names=False, check_dtype=False
            )
    for name in BASELINE:
        expected = long.groupby("student")[name].first()
        pd.testing.assert_series_equal(wide[name], expected)


def test_the_dictionary_tells_every_column_and_its_true_range(long: pd.DataFrame) -> None:
    dictionary = pd.read_csv(sample_file("data_dictionary.csv"))
    walking = pd.read_csv(sample_file("three_action_synthetic.csv"))
    for study, frame in ((LONG, long), ("three_action_synthetic", walking)):
        rows = dictionary[dictionary["study"] == study].set_index("column")
        assert rows.index.tolist() == frame.columns.tolist()
        numbers = rows[rows["type"].isin(["whole number", "yes/no", "number"])]
        for name, stated in numbers["range"].items():
            low, high = map(float, stated.split(" to "))
            assert frame[name].min() >= low
            assert frame[name].max() <= high
    basics = dictionary[dictionary["study"] == LONG]
    assert tuple(basics.loc[basics["role"] == "state", "column"]) == STATES


def test_every_file_says_that_it_is_synthetic() -> None:
    for name in SAMPLE_FILES:
        content = sample_file(name).read_bytes().lower()
        assert "synthetic" in name or b"synthetic" in content
    assert (sample_file("data_dictionary.csv").parent / "README.md").read_text().count("SYNTHETIC")
    _, about = pyreadstat.read_sav(sample_file(f"{LONG}.sav"), metadataonly=True)
    assert "SYNTHETIC" in about.file_label
    sheet = pd.read_excel(sample_file(f"{LONG}.xlsx"), sheet_name="Dictionary", engine="openpyxl")
    assert sheet["origin"].str.startswith("synthetic").all()
    assert all("synthetic" in study.title for study in SAMPLE_STUDIES)


def test_each_listed_study_has_its_file() -> None:
    for study in SAMPLE_STUDIES:
        assert sample_file(study.file).is_file()
        assert study.description


@pytest.mark.parametrize("name", ["nothing.csv", "../pyproject.toml", "README.md"])
def test_an_unknown_sample_is_refused_with_the_names_that_there_are(name: str) -> None:
    with pytest.raises(ReadError, match=r"no sample file called .* data_dictionary\.csv"):
        sample_file(name)


def test_an_installed_package_has_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "site-packages" / "smdp" / "simulation" / "samples.py"
    monkeypatch.setattr(samples, "__file__", str(module))
    with pytest.raises(ReadError, match="missing from this installation"):
        sample_file(f"{LONG}.csv")
    folder = tmp_path / "site-packages" / "smdp" / "sample_data"
    folder.mkdir(parents=True)
    (folder / f"{LONG}.csv").write_text("student\n")
    assert sample_file(f"{LONG}.csv") == (folder / f"{LONG}.csv").resolve()


def test_importing_the_samples_loads_no_reader() -> None:
    code = (
        "import sys, smdp.simulation.samples as _; "
        "sys.exit(any(m in sys.modules for m in ('pyreadstat', 'openpyxl', 'torch', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", SAMPLE_FILES)
def test_every_file_is_known_as_synthetic_by_its_bytes(name: str) -> None:
    content = sample_file(name).read_bytes()
    assert read_table(content, name="trial").attrs["synthetic"] is True
    assert read_table(b"id,synthetic\n1,2\n", name="synthetic.csv").attrs["synthetic"] is False


def test_synthetic_frames_say_so_without_a_file() -> None:
    assert source_of(basics_like()).synthetic
    assert source_of(three_action()).synthetic
