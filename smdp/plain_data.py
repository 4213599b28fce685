"""Results to plain files and back: JSON for the structure, npz for the arrays, never a pickle.

Results are frozen dataclasses of numbers, text, arrays, tables, tuples and mappings; just these
can be written, and only those listed in `smdp.saved_types` come back. Arrays are named by their
content, so that equal ones are kept once, and come back in C order whatever order they had.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smdp.saved_types import tag_of, type_of

FIXED_LENGTH = re.compile(r"^[<>=|]?[USVac]\d|\d\d\d\d|[(,]")
STRUCTURE, ARRAYS = "structure.json", "arrays.npz"

#: Metadata of a field that decides how a result is spoken of, but none of its numbers: it is kept
#: in files and left out of fingerprints, so that another unit makes no later step out of date.
WORDS = {"only in words": True}


def write_plain(value: object, folder: Path) -> None:
    """Write a result into a folder of its own."""
    arrays: dict[str, np.ndarray] = {}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STRUCTURE).write_text(plain_json(to_plain(value, arrays)), encoding="utf-8")
    np.savez(folder / ARRAYS, allow_pickle=False, **arrays)


def read_plain(folder: Path) -> Any:
    """The result that `write_plain` wrote there."""
    structure = json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS, allow_pickle=False) as file:
        return from_plain(structure, {name: file[name] for name in file.files})


def plain_json(structure: Any) -> str:
    """The one text of a structure: the same structure always gives the same text."""
    return json.dumps(structure, allow_nan=True, separators=(",", ":"))


def fingerprint(value: object) -> str:
    """The SHA-256 of a result's content: equal for equal results, whatever their memory layout."""
    plain = to_plain(value, {}, with_words=False)
    return hashlib.sha256(plain_json(plain).encode()).hexdigest()


def to_plain(value: object, arrays: dict[str, np.ndarray], *, with_words: bool = True) -> Any:
    """The value as JSON knows it; its arrays are put into `arrays`, and named there."""

    if value is None or type(value) in (str, float, int, bool):  # most of what there is
        return value

    def inner(part: object) -> Any:
        return to_plain(part, arrays, with_words=with_words)

    if isinstance(value, Enum):
        return {"$enum": tag_of(type(value)), "value": value.value}
    if isinstance(value, int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"$objects": [to_plain(v, arrays) for v in value.ravel()],
                    "shape": list(value.shape)}  # fmt: skip
        return {"$array": _store(value, arrays)}
    if isinstance(value, pd.Series):
        return {"$series": _frame_to_plain({"values": value}.items(), None, value.index, arrays),
                "name": to_plain(value.name, arrays)}  # fmt: skip
    if isinstance(value, pd.DataFrame):
        return _frame_to_plain(value.items(), value.columns.name, value.index, arrays)
    if isinstance(value, Mapping):
        return {"$map": [[inner(k), inner(v)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"$tuple": [inner(v) for v in value]}
    if isinstance(value, list):
        return [inner(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        own = [f for f in fields(value) if f.init and (with_words or f.metadata != WORDS)]
        content = {f.name: inner(getattr(value, f.name)) for f in own}
        return {"$class": tag_of(type(value)), "fields": content}
    raise TypeError(f"{type(value).__name__} is not plain data")


def from_plain(code: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that `to_plain` took apart."""
    if isinstance(code, list):
        return [from_plain(v, arrays) for v in code]
    if not isinstance(code, dict):
        return code
    if "$array" in code:
        return arrays[code["$array"]]
    if "$objects" in code:
        return _objects(from_plain(v, arrays) for v in code["$objects"]).reshape(code["shape"])
    if "$tuple" in code:
        return tuple(from_plain(v, arrays) for v in code["$tuple"])
    if "$map" in code:
        return {from_plain(k, arrays): from_plain(v, arrays) for k, v in code["$map"]}
    if "$series" in code:
        name = from_plain(code["name"], arrays)
        return from_plain(code["$series"], arrays)["values"].rename(name)
    if "$frame" in code:
        return _frame_from_plain(code, arrays)
    if "$enum" in code:
        return type_of(code["$enum"])(code["value"])
    kind = type_of(code["$class"])
    return kind(**{name: from_plain(v, arrays) for name, v in code["fields"].items()})


def _store(array: np.ndarray, arrays: dict[str, np.ndarray]) -> str:
    """Keep the array under a name made of its type, its shape and its content."""
    own = np.ascontiguousarray(array) if array.ndim else array
    content = hashlib.sha256(f"{own.dtype.str}{own.shape}".encode())
    content.update(own.reshape(-1).view(np.uint8).data if own.nbytes else b"")
    arrays[key := f"a{content.hexdigest()[:40]}"] = own
    return key


def _frame_to_plain(
    named: Iterable[tuple[object, pd.Series]],
    called: object,
    index: pd.Index,
    arrays: dict[str, np.ndarray],
) -> dict[str, Any]:
    """Of the columns with their names, what the names are called, and the rows' index."""
    names, columns = zip(*named, strict=True) if (named := list(named)) else ((), ())
    # No text equals a number: such an index, which many tables have, need not be compared.
    numbered = isinstance(index.dtype, np.dtype) and index.equals(pd.RangeIndex(len(index)))
    plain = numbered and index.name is None
    return {
        "$frame": [to_plain(_column(column), arrays) for column in columns],
        "names": [to_plain(name, arrays) for name in names],
        "names called": to_plain(called, arrays),
        "types": [str(column.dtype) for column in columns],
        "rows": len(index),
        "index": None if plain else to_plain(_column(index), arrays),
        "index type": None if plain else str(index.dtype),
        "called": to_plain(index.name, arrays),
    }


def _frame_from_plain(code: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> pd.DataFrame:
    rows = code["rows"]
    if not isinstance(rows, int) or rows < 0:
        raise ValueError(f"{rows!r} rows")
    index = pd.RangeIndex(rows)
    if code["index"] is not None:
        index = pd.Index(_cells(code["index"], rows, arrays), dtype=_cell_type(code["index type"]))
    columns = {
        i: pd.Series(_cells(column, rows, arrays), index=index, dtype=_cell_type(kind))
        for i, (column, kind) in enumerate(zip(code["$frame"], code["types"], strict=True))
    }
    frame = pd.DataFrame(columns, index=index)
    frame.index.name = from_plain(code["called"], arrays)
    frame.columns = pd.Index(from_plain(code["names"], arrays))
    frame.columns.name = from_plain(code["names called"], arrays)
    return frame


def _cells(code: Any, rows: int, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """As many as there are rows, held against what is there: pandas would repeat a single one."""
    cells = from_plain(code, arrays)
    if not isinstance(cells, np.ndarray) or cells.shape != (rows,):
        raise ValueError(f"not {rows} cells")
    return cells


def _cell_type(name: Any) -> str:
    """Refuse texts of a fixed length, each of which could take any room."""
    if not isinstance(name, str) or FIXED_LENGTH.search(name):
        raise ValueError("a type of cells that is not used")
    return name


def _column(column: pd.Series | pd.Index) -> np.ndarray:
    """Numbers and dates as they are, everything else (text, None) as objects."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return column.to_numpy()
    if isinstance(column.dtype, pd.StringDtype):
        return column.to_numpy(dtype=object, na_value=None)
    return _objects(None if pd.api.types.is_scalar(v) and pd.isna(v) else v for v in column)


def _objects(values: Iterable[object]) -> np.ndarray:
    """One cell for each value, even if the values are tuples of one length."""
    listed = list(values)
    found = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):
        found[place] = value
    return found
