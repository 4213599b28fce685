"""Results written as plain files come back the same."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.study import Cell
from smdp.errors import DataError
from smdp.plain_data import ARRAYS, STRUCTURE, fingerprint, read_plain, write_plain


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
    [
        "os:system",
        "subprocess:Popen",
        "smdp.cli:main",
        "smdp.errors:SmdpError",
        "smdp:nothing",
        "smdp.nowhere:X",
        "",
    ],
)
def test_only_results_of_this_package_come_back(tmp_path, name):
    write_plain(PreparationSettings(), tmp_path)
    structure = json.loads((tmp_path / STRUCTURE).read_text())
    structure["$class"] = name
    (tmp_path / STRUCTURE).write_text(json.dumps(structure))
    with pytest.raises(DataError, match="this version of smdp does not know"):
        read_plain(tmp_path)


def test_equal_arrays_are_written_once_and_shared(tmp_path):
    values = np.random.default_rng(0).normal(size=(50, 40))
    write_plain((values, values.copy(), {"again": values}), tmp_path)
    assert (tmp_path / ARRAYS).stat().st_size < 1.2 * values.nbytes
    one, two, mapped = read_plain(tmp_path)
    assert one is two is mapped["again"]


def test_the_fingerprint_is_of_the_content_not_of_the_layout():
    values = np.arange(24.0).reshape(4, 6)
    same = [np.asfortranarray(values), np.repeat(values, 2, axis=1)[:, ::2], values.copy()]
    assert {fingerprint(each) for each in same} == {fingerprint(values)}
    other = [values.astype(np.float32), values.reshape(6, 4), -values, values.tolist()]
    assert len({fingerprint(each) for each in [values, *other]}) == 5


@pytest.mark.parametrize(
    "table",
    [
        pd.Series([1.5, 2.5]),
        pd.Series([1, 2], index=["x", "y"], name="n"),
        pd.Series([0.5, 0.5], index=pd.Index([2, 3], name="dimension"), name="share"),
        pd.DataFrame({1: [0.1], 2: [np.nan]}, index=["x"]),
        pd.DataFrame({"n": pd.array([1, None], dtype="Int64"), "t": [(1, 2), (3, 4)]}),
        pd.DataFrame({"a": [1]}, index=pd.RangeIndex(1, 2, name="time")).rename_axis(columns="c"),
        pd.DataFrame(),
        pd.DataFrame(index=["x", "y"]),
        pd.DataFrame({"a": pd.Series([], dtype=float)}),
        pd.DataFrame({"d": pd.to_datetime(["2024-03-31 14:30", None])}),
    ],
)
def test_tables_come_back_with_their_labels_and_types(table, tmp_path):
    write_plain(table, tmp_path)
    back = read_plain(tmp_path)
    if table.ndim == 1:
        pd.testing.assert_series_equal(back, table)
    else:
        pd.testing.assert_frame_equal(back, table, check_column_type=False)
    assert fingerprint(back) == fingerprint(table)


@pytest.mark.parametrize(
    "array", [np.zeros(()), np.zeros((0, 3)), np.array(["", ""]), np.eye(2) > 0]
)
def test_odd_arrays_come_back(array, tmp_path):
    write_plain(array, tmp_path)
    back = read_plain(tmp_path)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(back, array)
