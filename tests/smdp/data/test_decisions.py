"""Times become decision numbers; gaps stay gaps."""

import numpy as np
import pandas as pd
import pytest

from smdp.data.decisions import decision_index, parse_dates
from smdp.errors import DataError


def index_of(subject, time):
    return decision_index(np.asarray(subject), pd.Series(time, name="when")).index.tolist()


def test_whole_numbers_keep_gaps():
    assert index_of([0, 0, 0, 1, 1], [1, 2, 4, 1, 2]) == [0, 1, 3, 0, 1]


def test_common_step_is_one_decision():
    assert index_of([0, 0, 0, 1, 1], [10, 20, 40, 10, 30]) == [0, 1, 3, 0, 2]


def test_late_starter_keeps_place_when_most_start_together():
    assert index_of([0, 0, 1, 1, 2, 2], [1, 2, 1, 2, 2, 3]) == [0, 1, 0, 1, 1, 2]


def test_calendar_days_count_from_each_subjects_first():
    time = ["2024-01-01", "2024-01-02", "2024-02-10", "2024-02-13", "2024-03-01", "2024-03-02"]
    assert index_of([0, 0, 1, 1, 2, 2], time) == [0, 1, 0, 3, 0, 1]


def test_two_slots_a_day():
    time = pd.to_datetime(
        ["2024-01-01 09:00", "2024-01-01 18:00", "2024-01-02 18:00", "2024-01-03 09:00"]
    )
    assert index_of([0, 0, 0, 0], time) == [0, 1, 3, 4]


def test_irregular_times_are_numbered_in_order_and_said():
    random = np.random.default_rng(1)
    time = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(random.uniform(0, 9e5, 60)), "s")
    found = decision_index(np.zeros(60, int), pd.Series(time, name="when"))
    assert found.index.tolist() == list(range(60))
    assert "cannot be seen" in found.note


def test_sparse_numbers_are_numbered_in_order():
    assert index_of([0, 0, 0], [1, 1_000, 5_003]) == [0, 1, 2]


def test_fractions_are_numbered_in_order():
    assert index_of([0, 0, 0], [0.5, 1.25, 1.75]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        (["31/01/2024", "01/02/2024"], [31, 1]),  # only day first fits
        (["01/31/2024", "02/01/2024"], [31, 1]),  # only month first fits
        (["03/04/2024", "04/04/2024", "05/04/2024"], [3, 4, 5]),  # both fit
        (["05.03.2024 14:30", "06.03.2024 14:30"], [5, 6]),
        (["2024-03-05T14:30:00Z", "2024-03-06T14:30:00Z"], [5, 6]),
    ],
)
def test_dates_as_people_write_them(text, day):
    parsed = parse_dates(pd.Series(text, name="when"))
    if text[0] != "03/04/2024":
        assert parsed.dt.day.tolist() == day
    assert parsed.is_monotonic_increasing


def test_unparsable_time_names_rows():
    with pytest.raises(DataError, match=r"'when'.*'soon' \(data row 2\)"):
        index_of([0, 0], ["2024-01-01", "soon"])


def test_missing_time_names_rows():
    with pytest.raises(DataError, match=r"'when' is empty in data rows 2"):
        index_of([0, 0], [1.0, np.nan])


def test_infinite_time():
    with pytest.raises(DataError, match="infinite"):
        index_of([0, 0], [1.0, np.inf])


def test_ambiguous_dates_are_read_so_that_they_lie_close_together():
    time = [f"{day:02d}/03/2024" for day in range(1, 11)]
    found = decision_index(np.zeros(10, int), pd.Series(time, name="when"))
    assert found.index.tolist() == list(range(10))
    assert "'01/03/2024' is read as 01 March 2024" in found.note


def test_a_word_among_numbers_is_what_is_complained_of():
    with pytest.raises(DataError, match=r"neither numbers nor dates: 'soon' \(data row 3\)\."):
        index_of([0, 0, 0], ["1", "2", "soon"])
