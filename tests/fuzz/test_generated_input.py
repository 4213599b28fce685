"""Input made up from nothing: tables of any text, columns of any kind, plans of any values."""

from __future__ import annotations

import csv
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from fuzz.settings import EXAMPLES
from fuzz.targets import OPENED, open_file
from hostile_study import quick_plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smdp.analysis.plan import AnalysisPlan
from smdp.errors import SmdpError

ANY = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
#: What stands in a cell: any text, and what looks like a number, a date or a formula.
TEXT = st.one_of(
    st.text(max_size=12),
    st.floats().map(repr),
    st.integers().map(str),
    st.datetimes().map(str),
    st.sampled_from(["", "NA", "1,5", "007", "TRUE", "=1+1", "\u202e", "\x00", '"', "9" * 400]),
)
KINDS: tuple[tuple[Any, Any], ...] = (
    *((kind, st.integers(-(2**63), 2**63 - 1)) for kind in (pa.int64(), pa.date64())),
    *((pa.timestamp(unit), st.integers(-(2**63), 2**63 - 1)) for unit in ("s", "ms", "us", "ns")),
    *((pa.duration(unit), st.integers(-(2**63), 2**63 - 1)) for unit in ("s", "ms", "us", "ns")),
    (pa.timestamp("s", tz="Europe/Berlin"), st.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("ns", tz="Asia/Tokyo"), st.integers(-(2**63), 2**63 - 1)),
    (pa.timestamp("us", tz="+99:00"), st.integers(-(2**63), 2**63 - 1)),
    (pa.date32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.int8(), st.integers(-128, 127)),
    (pa.time64("ns"), st.integers(0, 86_399_999_999_999)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.float16(), st.floats(width=16)),
    (pa.decimal128(38, 2), st.decimals(-(10**30), 10**30, places=2)),
    (pa.decimal256(60, 0), st.integers(-(10**50), 10**50)),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXT),
    (pa.large_string(), TEXT),
    (pa.binary(), st.binary(max_size=8)),
    (pa.list_(pa.string()), st.lists(TEXT, max_size=2)),
    (pa.struct({"x": pa.int64()}), st.fixed_dictionaries({"x": st.integers(0, 9)})),
    (pa.null(), st.none()),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=6,
)


@ANY
@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(TEXT, min_size=width, max_size=width), min_size=1)
    ),
    delimiter=st.sampled_from(",;\t|"),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_text_as_a_table(tmp_path_factory, rows, delimiter, encoding, ending):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=ending).writerows(rows)
    data = stream.getvalue().encode(encoding, errors="replace")
    open_file(data, "any.csv", ".csv", tmp_path_factory.getbasetemp())


@ANY
@given(data=st.binary(max_size=300), start=st.sampled_from([b"", b"a,b\n1,2\n", b"PAR1", b"PK"]))
def test_any_bytes_as_a_table_or_an_analysis(tmp_path_factory, data, start):
    for kind in (".csv", ".smdp"):
        if not start.startswith(b"PAR1"):
            open_file(start + data, "any", kind, tmp_path_factory.getbasetemp())


@st.composite
def arrow_tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 6))
    columns = {}
    for place in range(draw(st.integers(1, 4))):
        kind, values = draw(st.sampled_from(KINDS))
        cells = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        whole = isinstance(kind, pa.DataType) and (pa.types.is_temporal(kind))
        column = pa.array(cells, pa.int64()).cast(pa.int32()) if kind == pa.date32() else None
        if column is None:
            column = pa.array(cells, pa.int64() if whole else kind)
        columns[f"{draw(st.text(max_size=5))} {place}"] = column.cast(kind, safe=False)
    return pa.table(columns)


@ANY
@given(table=arrow_tables())
def test_columns_of_any_kind(tmp_path_factory, table):
    stream = io.BytesIO()
    try:
        pyarrow.parquet.write_table(table, stream)
    except (pa.ArrowException, ValueError):
        return  # what Parquet cannot hold
    open_file(stream.getvalue(), "any.parquet", ".parquet", tmp_path_factory.getbasetemp())


PLAN = quick_plan().to_table(nulls=True)
SECTIONS = [(key, inner) for key in PLAN if isinstance(PLAN[key], dict) for inner in PLAN[key]]


@ANY
@given(place=st.sampled_from([*SECTIONS, *((key, None) for key in PLAN)]), value=JSON)
def test_any_value_in_a_plan(place, value):
    import json

    section, key = place
    table = {**PLAN, section: value if key is None else {**PLAN[section], key: value}}
    try:
        plan = AnalysisPlan.from_json(json.dumps(table))
    except SmdpError:
        return
    assert AnalysisPlan.from_toml(plan.to_toml()) == plan


def test_the_ordinary_file_is_opened(tmp_path):
    assert open_file(b"id,day,x\n1,1,2\n1,2,3\n", "x.csv", ".csv", tmp_path) == OPENED
