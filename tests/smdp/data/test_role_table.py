"""The editable table of roles, there and back; exports that no spreadsheet runs."""

import io

import pandas as pd
import pytest

from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.export import to_csv
from smdp.data.guess_roles import guess_columns, guess_roles
from smdp.data.read_table import read_table
from smdp.data.role_table import (
    codes_before_shaping,
    codes_from_table,
    fitted_to,
    held_by_columns,
    role_table,
    roles_from_table,
    roles_to_table,
)
from smdp.errors import SettingError
from smdp.simulation.samples import sample_file


@pytest.fixture
def sample():
    return read_table(sample_file("basics_mobile_synthetic.csv"))


def test_untouched_table_gives_the_guess(sample):
    table = role_table(sample, guess_columns(sample))
    assert roles_from_table(table, next_value=NextValue("cigs", -1)) == guess_roles(sample)


def test_what_columns_hold_is_told_beside_the_roles(sample):
    sample.attrs["variable_labels"] = {}
    held = held_by_columns(role_table(sample, guess_columns(sample))).set_index("Column")
    assert list(held.loc["cigs"]) == ["0 to 20", "15 %", "18", "a number"]
    sample.attrs["variable_labels"] = {"cigs": "Cigarettes since the last report"}
    labelled = held_by_columns(role_table(sample, guess_columns(sample))).set_index("Column")
    assert labelled.loc["cigs", "Label in the file"] == "Cigarettes since the last report"


def test_edits_are_taken(sample):
    table = role_table(sample, guess_columns(sample)).set_index("column", drop=False)
    table.loc["age", "role"] = "ignore"
    table.loc["cigs", ["lowest", "highest"]] = 0, 20
    table.loc["stress", "missing codes"] = "-9; 99"
    roles = roles_from_table(table, next_value=NextValue("cigs", -1), lags=1)
    cigs = next(v for v in roles.variables if v.name == "cigs")
    assert (cigs.low, cigs.high) == (0, 20)
    assert "age" not in roles.state_names
    assert roles.lags == 1
    codes = codes_from_table(table, "999")
    assert codes["stress"] == ["-9", "99", "999"]
    assert codes["cigs"] == ["999"]
    assert "student" not in codes
    assert "report" not in codes


@pytest.mark.parametrize(
    ("column", "role", "message"),
    [
        ("student", "ignore", "No column has the role 'subject'"),
        ("age", "time", "More than one column has the role 'time'"),
    ],
)
def test_open_and_doubled_roles(sample, column, role, message):
    table = role_table(sample, guess_columns(sample))
    table.loc[table["column"] == column, "role"] = role
    with pytest.raises(SettingError, match=message):
        roles_from_table(table, next_value=NextValue("cigs", -1))


def test_all_open_roles_are_named_at_once(sample):
    table = role_table(sample, guess_columns(sample))
    table.loc[table["column"].isin(["student", "module"]), "role"] = "ignore"
    with pytest.raises(SettingError, match=r"role 'subject' or 'action'.*Choose them in the table"):
        roles_from_table(table, next_value=NextValue("cigs", -1))
    with pytest.raises(SettingError, match="'subject', 'action' or 'utility'"):
        roles_from_table(table)


def test_a_text_that_is_no_table_is_told_from_open_roles():
    frame = pd.DataFrame({"Dear diary": ["nothing tabular here"]})
    with pytest.raises(SettingError, match="has 1 column, and needs at least 4"):
        roles_from_table(role_table(frame, guess_columns(frame)))


def test_utility_must_be_chosen(sample):
    with pytest.raises(SettingError, match="role 'utility'"):
        roles_from_table(role_table(sample, guess_columns(sample)))


def test_roles_become_the_table_that_they_are_read_from(sample):
    roles = ColumnRoles(
        "student",
        "report",
        "module",
        [
            "urge",
            StateVariable("stress", "ordinal", 0, 12, unit="points"),
            StateVariable("cigs", "continuous"),
        ],
        "mood",
        "weekend",
        probability="sleep",
    )
    codes = {"stress": ("-9", "999"), "gone": ("1",)}
    table = roles_to_table(sample, roles, codes)
    assert list(table) == list(role_table(sample, guess_columns(sample)))
    assert sorted(table["column"]) == sorted(sample)
    assert roles_from_table(table) == roles
    assert codes_from_table(table) == {"stress": ["-9", "999"]}


def test_exported_cells_cannot_become_formulas():
    frame = pd.DataFrame({"=cmd()": ["=1+1", "@x", "plain", "-3"], "number": [-1.5, 2, 3, 4]})
    back = pd.read_csv(io.BytesIO(to_csv(frame)), dtype=str)
    assert back.columns.tolist() == ["'=cmd()", "number"]
    assert back["'=cmd()"].tolist() == ["'=1+1", "'@x", "plain", "'-3"]
    assert back["number"].tolist() == ["-1.5", "2.0", "3.0", "4.0"]


def test_roles_of_columns_that_come_and_go(sample):
    table = role_table(sample, guess_columns(sample))
    action = table.loc[table["role"] == "action", "column"].iloc[0]
    wider = sample.assign(treatment=sample[action], twice=sample["stress"] * 2)
    fitted = fitted_to(wider, table, table)
    assert list(fitted["column"][:2]) == ["treatment", "twice"]
    assert list(fitted["role"][:2]) == ["ignore", "state"]  # there is one action already
    assert list(fitted["column"][2:]) == list(table["column"])
    without = fitted_to(sample.drop(columns=action), fitted, fitted)
    assert action not in set(without["column"])
    back = fitted_to(sample, without, fitted).set_index("column")["role"]
    assert back.to_dict() == table.set_index("column")["role"].to_dict()
    taken = without.assign(role=without["role"].mask(without["column"] == "stress", "action"))
    assert fitted_to(sample, taken, fitted).set_index("column")["role"][action] == "ignore"


def test_codes_are_those_of_the_columns_before(sample):
    table = role_table(sample, guess_columns(sample)).query("column != 'stress'")
    columns = list(sample.columns)
    codes = codes_before_shaping(table, "-9", columns, {"stress": (7,)})
    assert codes["stress"] == ["7", "-9"]
    assert list(codes) == [name for name in columns if name in codes]
    made = pd.concat([table, table.tail(1).assign(column="new", **{"missing codes": "5"})])
    with pytest.raises(SettingError, match="missing codes for new"):
        codes_before_shaping(made, "", columns, {})
