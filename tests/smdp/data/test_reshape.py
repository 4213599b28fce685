"""Wide tables and REDCap exports become long."""

import numpy as np
import pandas as pd
import pytest

from smdp.data.arrange import arrange
from smdp.data.guess_roles import guess_roles
from smdp.data.read_table import read_table
from smdp.data.reshape import recognise_layout, to_long, wide_to_long
from smdp.errors import DataError
from smdp.simulation.samples import sample_file


def test_wide_sample_gives_the_same_study_as_the_long_one():
    long = read_table(sample_file("basics_mobile_synthetic.csv"))
    wide = read_table(sample_file("basics_mobile_synthetic_wide.csv"))
    assert recognise_layout(long) == "long"
    assert recognise_layout(wide) == "wide"
    one, two = arrange(long, guess_roles(long)), None
    turned = to_long(wide)
    two = arrange(turned, guess_roles(turned))
    assert one.subjects == two.subjects
    order = [[v.name for v in two.variables].index(v.name) for v in one.variables]
    np.testing.assert_array_equal(one.values, two.values[:, :, order])
    np.testing.assert_array_equal(one.actions, two.actions)


@pytest.mark.parametrize(
    "pattern", ["stress_{}", "stress{}", "stress.{}", "stress_t{}", "stress T{}"]
)
def test_ways_to_number_columns(pattern):
    wide = pd.DataFrame({"id": [1, 2]} | {pattern.format(k): [k, -k] for k in (1, 2, 3)})
    long = wide_to_long(wide)
    assert long["stress"].tolist() == [1, 2, 3, -1, -2, -3]
    assert long["decision_number"].tolist() == [1, 2, 3, 1, 2, 3]


def test_rows_without_a_value_are_dropped():
    wide = pd.DataFrame({"id": [1], "x_1": [1.0], "x_2": [np.nan], "x_3": [3.0]})
    assert wide_to_long(wide)["decision_number"].tolist() == [1, 3]


def test_nothing_to_turn():
    with pytest.raises(DataError, match="No columns repeat with numbers"):
        wide_to_long(pd.DataFrame({"id": [1], "x": [2]}))


def test_clash_is_named():
    wide = pd.DataFrame({"x": [0], "x_1": [1], "x_2": [2], "x_3": [3]})
    with pytest.raises(DataError, match="both a column and numbered columns called x"):
        wide_to_long(wide)


def redcap():
    rows = []
    for record in ("1", "2", "3"):
        rows.append((record, "baseline_arm_1", None, None, 30.0, None, None))
        for k in (1, 2, 4):
            rows.append((record, "diary_arm_1", "diary", k, None, k + 0.5, k % 2))
    return pd.DataFrame(
        rows,
        columns=["record_id", "redcap_event_name", "redcap_repeat_instrument",
                 "redcap_repeat_instance", "age", "stress", "treatment"],
    )  # fmt: skip


def test_redcap_repeat_instances_are_decisions_and_baseline_is_carried():
    assert recognise_layout(redcap()) == "redcap"
    long = to_long(redcap())
    assert long["decision_number"].tolist() == [1, 2, 4] * 3
    assert (long["age"] == 30).all()
    assert not any(c.startswith("redcap_") for c in long.columns)
    roles = guess_roles(long.assign(reward=long["stress"] * 2 + np.arange(9)))
    assert (roles.subject, roles.time, roles.action) == (
        "record_id",
        "decision_number",
        "treatment",
    )


def test_redcap_events_without_instances():
    events = ["screening", "week_1", "week_2", "week_3"]
    rows = [
        (record, event, 40.0 if event == "screening" else None,
         None if event == "screening" else float(i))
        for record in ("1", "2")
        for i, event in enumerate(events)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["record_id", "redcap_event_name", "age", "stress"])
    long = to_long(frame)
    assert long["decision_number"].tolist() == [1, 2, 3, 1, 2, 3]
    assert (long["age"] == 40).all()


def test_empty_redcap_export():
    frame = pd.DataFrame({"record_id": ["1"], "redcap_event_name": ["a"], "x": [1.0]})
    with pytest.raises(DataError, match="REDCap"):
        to_long(frame)


def test_what_redcap_asks_later_is_not_carried_back():
    frame = redcap()
    later = pd.DataFrame({"record_id": ["1", "2", "3"], "redcap_event_name": "followup_arm_1"})
    frame = pd.concat([frame, later.assign(phq9=[1.0, 2.0, 3.0])], ignore_index=True)
    long = to_long(frame)
    assert long["phq9"].isna().all()
    assert (long["age"] == 30).all()


def test_items_of_a_questionnaire_are_no_times():
    """Numbered columns, but each person has many rows: the numbers are items."""
    items = {f"q{k}": range(6) for k in range(1, 9)}
    long = pd.DataFrame({"id": [1, 1, 1, 2, 2, 2], "day": [1, 2, 3, 1, 2, 3]} | items)
    assert recognise_layout(long) == "long"
    assert recognise_layout(long.drop_duplicates("id")) == "wide"


def test_a_table_that_would_grow_too_large_is_refused_before_it_does():
    wide = pd.DataFrame({f"x_{k}": np.zeros(400_000, dtype=np.int8) for k in range(3)})
    with pytest.raises(DataError, match=r"400,000 x 3 rows, and the limit is 1,000,000"):
        wide_to_long(wide)
