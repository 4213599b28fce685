"""Results to plain files and back: JSON for the structure, npz for the arrays, never a pickle.

Results are frozen dataclasses of numbers, text, arrays, tables, tuples and mappings; just these
can be written, and only dataclasses of this package come back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from smdp.errors import DataError

STRUCTURE, ARRAYS = "structure.json", "arrays.npz"


def write_plain(value: object, folder: Path) -> None:
    """Write a result into a folder of its own."""
    arrays: dict[str, np.ndarray] = {}
    folder.mkdir(parents=True, exist_ok=True)
    structure = json.dumps(_encode(value, arrays), allow_nan=True)
    (folder / STRUCTURE).write_text(structure, encoding="utf-8")
    np.savez(folder / ARRAYS, allow_pickle=False, **arrays)


def read_plain(folder: Path) -> Any:
    """The result that `write_plain` wrote there."""
    structure = json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
        return _decode(structure, arrays)


def _encode(value: object, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, Enum):
        return {"$enum": _name(type(value)), "value": value.value}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return {"$objects": [_encode(v, arrays) for v in value.ravel()], "shape": value.shape}
        arrays[key := f"a{len(arrays)}"] = value
        return {"$array": key}
    if isinstance(value, pd.Series):
        return {"$series": _encode(value.to_frame(), arrays)}
    if isinstance(value, pd.DataFrame):
        columns = [_encode(_column(value.iloc[:, i]), arrays) for i in range(value.shape[1])]
        names = [_encode(name, arrays) for name in value.columns]
        plain = value.index.equals(pd.RangeIndex(len(value))) and value.index.name is None
        index = None if plain else _encode(_column(value.index.to_series()), arrays)
        types = [str(kind) for kind in value.dtypes]
        return {"$frame": columns, "names": names, "types": types, "index": index,
                "called": value.index.name}  # fmt: skip
    if isinstance(value, Mapping):
        return {"$map": [[_encode(k, arrays), _encode(v, arrays)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"$tuple": [_encode(v, arrays) for v in value]}
    if isinstance(value, list):
        return [_encode(v, arrays) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        content = {f.name: _encode(getattr(value, f.name), arrays) for f in fields(value) if f.init}
        return {"$class": _name(type(value)), "fields": content}
    raise TypeError(f"{type(value).__name__} is not plain data")


def _decode(code: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    if isinstance(code, list):
        return [_decode(v, arrays) for v in code]
    if not isinstance(code, dict):
        return code
    if "$array" in code:
        return arrays[code["$array"]]
    if "$objects" in code:
        flat = np.empty(len(code["$objects"]), object)
        flat[:] = [_decode(v, arrays) for v in code["$objects"]]
        return flat.reshape(code["shape"])
    if "$tuple" in code:
        return tuple(_decode(v, arrays) for v in code["$tuple"])
    if "$map" in code:
        return {_decode(k, arrays): _decode(v, arrays) for k, v in code["$map"]}
    if "$series" in code:
        return _decode(code["$series"], arrays).iloc[:, 0]
    if "$frame" in code:
        columns = dict(enumerate(_decode(code["$frame"], arrays)))
        index = _decode(code["index"], arrays)
        frame = pd.DataFrame(columns, index=None if index is None else pd.Index(index))
        frame.index.name = code["called"]
        frame = frame.astype(dict(enumerate(code["types"])))
        frame.columns = pd.Index(_decode(code["names"], arrays))
        return frame
    if "$enum" in code:
        return _known(code["$enum"], Enum)(code["value"])
    kind = _known(code["$class"], None)
    return kind(**{name: _decode(v, arrays) for name, v in code["fields"].items()})


def _column(column: pd.Series) -> np.ndarray:
    """Numbers and dates as they are, everything else (text, None) as objects."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biufM":
        return column.to_numpy()
    return np.array([None if pd.isna(v) else v for v in column], dtype=object)


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _known(name: str, base: type | None) -> Any:
    """The class of that name, if it is a dataclass (or an enum) of this package."""
    module, _, qualified = name.partition(":")
    kind = None
    if module.split(".")[0] == "smdp" and qualified.isidentifier():
        kind = getattr(import_module(module), qualified, None)
    fits = is_dataclass(kind) if base is None else isinstance(kind, type) and issubclass(kind, base)
    if not (isinstance(kind, type) and fits):
        raise DataError(f"The file names '{name}', which is not a kind of result.")
    return kind
