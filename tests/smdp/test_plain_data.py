"""Results written as plain files come back the same."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from smdp import ColumnRoles, NextValue, PreparationSettings, StateVariable
from smdp.data.study import Cell
from smdp.errors import DataError
from smdp.plain_data import STRUCTURE, read_plain, write_plain


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        2.5,
        float("inf"),
        "text with \u00fcmlaut",
        (1, ("a", None)),
        [1, [2]],
        {"a": 1, 2: (3,)},
        PreparationSettings(exclude_above=0.3, also_exclude=("S1",)),
        ColumnRoles("s", "t", "a", [StateVariable("x", "ordinal", 0, 7)], NextValue("x", -1)),
        Cell.IMPUTED,
    ],
)
def test_values_come_back(value, tmp_path):
    write_plain(value, tmp_path)
    assert read_plain(tmp_path) == value


def test_arrays_and_tables_come_back(tmp_path):
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", None], "c": [1, 2], "d": [True, False]})
    named = frame.set_index("c")
    arrays = (np.arange(6).reshape(2, 3), np.array(["x", "yz"]), np.array(["x", None], object))
    write_plain({"f": frame, "n": named, "a": arrays}, tmp_path)
    back = read_plain(tmp_path)
    pd.testing.assert_frame_equal(back["f"], frame, check_dtype=False)
    pd.testing.assert_frame_equal(back["n"], named, check_dtype=False)
    for one, two in zip(back["a"], arrays, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype


def test_only_plain_data_can_be_written(tmp_path):
    with pytest.raises(TypeError, match="function is not plain data"):
        write_plain(test_only_plain_data_can_be_written, tmp_path)


@dataclass(frozen=True)
class Stranger:
    x: int


@pytest.mark.parametrize(
    "name",
    ["os:system", "subprocess:Popen", "smdp.cli:main", "smdp.errors:SmdpError", "smdp:nothing"],
)
def test_only_results_of_this_package_come_back(tmp_path, name):
    write_plain(PreparationSettings(), tmp_path)
    structure = json.loads((tmp_path / STRUCTURE).read_text())
    structure["$class"] = name
    (tmp_path / STRUCTURE).write_text(json.dumps(structure))
    with pytest.raises(DataError, match="not a kind of result"):
        read_plain(tmp_path)
