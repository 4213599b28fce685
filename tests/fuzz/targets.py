"""What the program does with a file of each kind; anything but an error for people is a fault."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pandas as pd

from smdp.analysis.analysis import load_analysis
from smdp.analysis.plan import read_plan
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.describe import describe_study, variable_table
from smdp.data.files.registry import sheet_names
from smdp.data.guess_roles import guess_columns
from smdp.data.measured import measured, places
from smdp.data.missing_codes import mark_missing, suspected_codes
from smdp.data.participants import as_in_papers, describe_variables, participants_table
from smdp.data.read_table import read_table
from smdp.data.reshape import recognise_layout, to_long
from smdp.data.role_table import role_table, roles_from_table
from smdp.errors import SmdpError
from smdp.export.policy_reader import Policy
from smdp.figures.data import compliance_figure
from smdp.figures.measured import distribution_figure, outcome_by_action_figure
from smdp.simulation.compare import compare_with_paper
from smdp.simulation.study_store import FILE_NAME, StudyRows, read_study
from smdp.simulation.study_tables import rows_of, settings_of
from smdp.words import simulation as words

REFUSED, OPENED = "refused", "opened"


def open_file(data: bytes, name: str, kind: str, folder: Path) -> str:
    """Open the file as its kind; "refused" where an error for people came, else "opened"."""
    try:
        if kind == ".smdp":
            load_analysis(data, name=name)
        elif kind in (".toml", ".json"):
            path = folder / f"plan{kind}"
            path.write_bytes(data)
            read_plan(path)
        elif kind == ".policy":
            return _use_policy(data)
        elif kind == ".sqlite":
            (folder / FILE_NAME).write_bytes(data)
            read_study(folder)
            _look_at_study(read_study(data))
        else:
            return _look_at_table(data, name)
    except SmdpError as error:
        _check_message(error)
        return REFUSED
    return OPENED


def _look_at_table(data: bytes, name: str) -> str:
    """Read the table, and look at it as the Data page does."""
    sheet_names(data, name)
    frame = read_table(data, name=name)
    with contextlib.suppress(SmdpError):
        _understand(frame)
    return OPENED


def _understand(frame: pd.DataFrame) -> None:
    frame = mark_missing(to_long(frame, recognise_layout(frame)), [-9, "refused"])
    suspected_codes(frame)
    guess = guess_columns(frame)
    roles = roles_from_table(role_table(frame, guess), next_value=guess.next_value)
    find_problems(frame, roles)
    study = arrange(frame, roles)
    describe_study(study)
    variable_table(study)
    described = describe_variables(study)
    participants_table(described)
    as_in_papers(described)
    for place in places(study):
        distribution_figure(study, measured(study, place))
    outcome_by_action_figure(study)
    compliance_figure(study)


def _look_at_study(study: StudyRows) -> None:
    """As the Simulation page does."""
    for setting in settings_of(study):
        own = replace(study, rows=rows_of(study.rows, setting))
        comparison = compare_with_paper(own)
        words.describe_study(own, comparison)
        words.beside_the_paper(comparison)


def _use_policy(data: bytes) -> str:
    """The reader stands alone, without the package's errors: it raises those of Python's JSON."""
    try:
        policy = Policy(data.decode())
    except (ValueError, RecursionError):
        return REFUSED
    policy.recommend([{}, {}])
    return OPENED


def _check_message(error: SmdpError) -> None:
    """One message that fits on a page, whatever the file held."""
    assert error.problem, "an error without words"
    assert len(str(error)) < 3_100, f"a message of {len(str(error))} characters"
