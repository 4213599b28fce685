"""Prepared data as a table again."""

import numpy as np

from smdp.data.long_table import prepared_table
from smdp.data.prepare import prepare


def test_it_says_what_the_table_said(frame, roles):
    table = prepared_table(prepare(frame, roles))
    assert len(table) == 45  # 5 + 6 + .. + 10 decisions, the gap among them
    row = table[(table["subject"] == "P2") & (table["decision"] == 3)].iloc[0]
    given = frame[(frame["id"] == "P2") & (frame["time"] == 3)].iloc[0]
    assert row["steps"] == given["steps"]
    assert row["action"] == str(given["treat"])
    assert row["utility"] == given["reward"]
    last = table.groupby("subject").tail(1)
    assert (last["used"] == 0).all()
    assert np.isnan(last["utility"]).all()
    gap = table[(table["subject"] == "P4") & (table["decision"] == 3)].iloc[0]
    assert gap["imputed values"] == 3
