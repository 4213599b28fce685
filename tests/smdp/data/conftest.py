"""Small studies that the tests of the data layer share."""

import numpy as np
import pandas as pd
import pytest

from smdp.data.column_roles import ColumnRoles


@pytest.fixture
def frame():
    """Six subjects of 5 to 10 decisions, one gap, some values missing."""
    random = np.random.default_rng(7)
    rows = []
    for i in range(6):
        for t in range(1, 6 + i):
            rows.append(
                {
                    "id": f"P{i + 1}",
                    "time": t,
                    "stress": float(random.integers(0, 7)),
                    "steps": random.normal(),
                    "age": 20.0 + i,
                    "treat": int(random.integers(0, 2)),
                    "reward": random.normal(),
                }
            )
    table = pd.DataFrame(rows)
    table.loc[random.choice(len(table), 6, replace=False), "stress"] = np.nan
    gap = table.index[(table["id"] == "P4") & (table["time"] == 3)]
    return table.drop(index=gap).reset_index(drop=True)


@pytest.fixture
def roles():
    return ColumnRoles("id", "time", "treat", ["stress", "steps", "age"], "reward")
