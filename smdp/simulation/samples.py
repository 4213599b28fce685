"""The sample studies that are shipped, and where they lie; quick to import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smdp.errors import ReadError
from smdp.text import listing, shorten

BASICS = "basics_mobile_synthetic"
WALKING = "three_action_synthetic"


@dataclass(frozen=True)
class SampleStudy:
    """One sample that can be opened: its title, its file in `sample_data`, and what it is."""

    title: str
    file: str
    description: str


SAMPLE_STUDIES = (
    SampleStudy(
        "Smoking in students (synthetic)",
        f"{BASICS}.csv",
        "30 students, two reports a day for 14 days, 15 state variables, as in the trial "
        "BASICS-Mobile; an informational or a treatment module by a coin. The outcome: fewer "
        "cigarettes at the next report.",
    ),
    SampleStudy(
        "Walking after a knee operation (synthetic, three actions)",
        f"{WALKING}.csv",
        "24 people, 20 to 30 slots each with dates and gaps; nothing, a "
        "message or a call with known probabilities; some slots without an available person.",
    ),
)

SAMPLE_FILES = (
    f"{BASICS}.csv",
    f"{BASICS}.xlsx",
    f"{BASICS}.sav",
    f"{BASICS}_wide.csv",
    f"{WALKING}.csv",
    "data_dictionary.csv",
)


def sample_file(name: str) -> Path:
    """Where the sample file `name` lies, in an installed package or in a checkout."""
    if name not in SAMPLE_FILES:
        raise ReadError(
            f"There is no sample file called '{shorten(name)}'.",
            f"Choose one of these: {listing(SAMPLE_FILES, limit=len(SAMPLE_FILES))}.",
        )
    here = Path(__file__).resolve()
    package, checkout = here.parents[1] / "sample_data", here.parents[2] / "sample_data"
    for folder in (package, checkout):
        if (folder / name).is_file():
            return folder / name
    raise ReadError(
        f"The sample file '{name}' is missing from this installation.",
        "Install the package again, or write the files with write_sample_files(folder).",
    )
