"""Many rows of the table of roles changed at once, and the outcome."""

import pandas as pd
import pytest

from smdp.data.column_roles import NextValue
from smdp.data.guess_roles import guess_columns
from smdp.data.role_edits import (
    columns_after,
    columns_like,
    columns_with,
    give_role,
    possible_outcomes,
    what_changed,
    with_outcome,
    without_single,
)
from smdp.data.role_table import role_table, roles_from_table, with_facts
from smdp.errors import SettingError


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        (i, t, (i + t) % 2, t * i, t / 2 + i, "no" if (t + i) % 3 else "yes", f"w{t}", 7, i * t % 5)
        for i in range(4)
        for t in range(6)
    ]
    names = ["id", "time", "action", "Response.a", "response[b]", "rain", "words", "same", "y"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture
def table(frame) -> pd.DataFrame:
    return role_table(frame, guess_columns(frame))


def roles(table):
    return dict(zip(table["column"], table["role"], strict=True))


def test_columns_are_found_by_pattern_by_words_and_by_place(table):
    assert columns_like(table, "response*") == ["Response.a", "response[b]"]
    assert columns_like(table, "response[b]") == ["response[b]"]
    assert columns_like(table, "?") == ["y"]
    assert columns_like(table, "nothing*") == columns_like(table, "(") == []
    assert columns_with(table, "RESP state") == ["Response.a", "response[b]"]
    assert len(columns_with(table, "")) == len(table)
    assert columns_after(table, "same") == ["y"]
    assert columns_after(table, "y") == columns_after(table, "?") == []


def test_several_get_a_role_together_and_a_single_role_is_taken_over(table):
    given = give_role(table, ["Response.a", "rain"], "ignore")
    assert roles(given)["Response.a"] == roles(given)["rain"] == "ignore"
    assert roles(table)["Response.a"] == "state"
    assert roles(given)["response[b]"] == "state"
    moved = roles(give_role(table, ["rain"], "utility"))
    assert (moved["rain"], moved["y"]) == ("utility", "ignore")
    with pytest.raises(SettingError, match="Only one column can have the role 'time'"):
        give_role(table, ["rain", "same"], "time")
    with pytest.raises(SettingError, match="No column is chosen"):
        give_role(table, [], "state")


def test_a_change_of_many_leaves_single_roles_alone(table):
    assert without_single(table, ["id", "rain", "same", "y"]) == ["rain", "same"]
    assert without_single(table, ["y"]) == ["y"]


def test_a_change_is_named(table):
    assert what_changed(table, table.copy()) == ""
    assert what_changed(table, give_role(table, ["rain"], "ignore")) == "rain: role"
    assert what_changed(table, give_role(table, ["rain", "same"], "probability")) == "2 columns"


def test_outcomes_are_columns_first_then_next_values(table):
    found = possible_outcomes(table)
    assert found[:4] == ["Response.a", "response[b]", "rain", "y"]  # no text, no constant
    assert found[4:6] == [NextValue("Response.a"), NextValue("response[b]")]
    chosen = with_outcome(table, NextValue("rain"))
    assert "utility" not in set(chosen["role"])
    assert [c for c, r in roles(with_outcome(chosen, "rain")).items() if r == "utility"] == ["rain"]


def test_a_table_that_was_kept_before_gets_what_is_new(table, frame):
    old = table.drop(columns=["distinct", "numeric"])
    pd.testing.assert_frame_equal(with_facts(old, frame)[list(table)], table, check_dtype=False)


def test_what_columns_hold_is_said_anew_where_rows_are_gone(table, frame):
    first = with_facts(table, frame.head(1).drop(columns="y")).set_index("column")
    assert set(first["distinct"].drop("y")) <= {0, 1}
    assert first.loc["y", "distinct"] == frame["y"].nunique()
    pd.testing.assert_frame_equal(with_facts(first.reset_index(), frame)[list(table)], table)


def test_without_a_treatment_it_is_said_what_can_be_done(table):
    with pytest.raises(SettingError, match=r"No column has the role 'action'.*nothing can be"):
        roles_from_table(give_role(table, ["action"], "ignore"))


@pytest.mark.parametrize("columns", [1, 300])
def test_tables_of_any_width(columns):
    frame = pd.DataFrame({f"c{k}": [f"{k + i % 3}x" for i in range(9)] for k in range(columns)})
    table = role_table(frame, guess_columns(frame))
    assert len(table) == columns
    assert possible_outcomes(table) == []
    with pytest.raises(SettingError):
        roles_from_table(table)
