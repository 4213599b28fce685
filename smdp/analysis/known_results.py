"""Results that were made before, found again by what was asked and what they were made from.

Those that are needed now are always there. Of the others as many as fit into a bound of memory:
what was not used for longest goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from smdp.analysis.analysis import Analysis
from smdp.analysis.provenance import StepRecord
from smdp.plain_data import fingerprint

#: Of what is not needed now. What two results share is counted twice.
MOST_BYTES = 400_000_000
#: About what a small thing of Python takes: a number, a short text, a place in a list.
SMALL = 60


@dataclass(frozen=True, eq=False)
class Known:
    """A result that was made before, and how."""

    result: Any
    record: StepRecord
    size: int


class KnownResults:
    """`most_bytes`: of results that the present analysis can do without."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._held: dict[str, Known] = {}  # in the order in which they were made
        self._used: dict[str, int] = {}
        self._clock = 0

    def __len__(self) -> int:
        return len(self._held)

    def remember(self, record: StepRecord, result: Any) -> None:
        key = _key_of(record)
        held = self._held.get(key)
        if held is None or held.result is not result:
            self._held[key] = Known(result, record, size_of(result))
        self._use(key)

    def find(self, step: str, asked: Any, inputs: Mapping[str, str]) -> Known | None:
        """What the step gives when it is asked this, of these inputs.

        What was stopped early is not: the same settings again are to run to the end.
        """
        return self._found(_key(step, asked, inputs))

    def find_record(self, record: StepRecord) -> Known | None:
        """The very result that this record is of."""
        return self._found(_key_of(record))

    def of(self, step: str) -> Iterator[Known]:
        """All of a step that ran to the end, the latest first."""
        every = reversed(list(self._held.values()))
        return (known for known in every if known.record.step == step and known.record.complete)

    def let_go(self, present: Analysis) -> None:
        """Forget as much as the bound asks for, but nothing that this analysis was made from."""
        needed = {record.output for record in present.records.values()}
        needed |= {each for record in present.records.values() for each in record.inputs.values()}
        rest = {k: known for k, known in self._held.items() if known.record.output not in needed}
        size = sum(known.size for known in rest.values())
        for key in sorted(rest, key=lambda key: self._used[key]):
            if size <= self._most:
                break
            size -= rest[key].size
            del self._held[key], self._used[key]

    def _found(self, key: str) -> Known | None:
        if key in self._held:
            self._use(key)
        return self._held.get(key)

    def _use(self, key: str) -> None:
        self._clock += 1
        self._used[key] = self._clock


def _key_of(record: StepRecord) -> str:
    key = _key(record.step, record.asked, record.inputs)
    return key if record.complete else f"{key} stopped {record.output}"


def _key(step: str, asked: Any, inputs: Mapping[str, str]) -> str:
    return fingerprint((step, asked, dict(inputs)))


def size_of(value: Any) -> int:
    """About how many bytes of memory a result takes; what it holds twice is counted once."""
    seen: set[int] = set()

    def size(part: Any) -> int:
        if part is None or isinstance(part, bool | int | float | np.generic):
            return SMALL
        if isinstance(part, str | bytes):
            return SMALL + len(part)
        if id(part) in seen:
            return 0
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            return SMALL + part.nbytes + (SMALL * part.size if part.dtype == object else 0)
        if isinstance(part, pd.DataFrame):
            texts = len(part) * sum(
                not isinstance(kind, np.dtype) or kind.kind == "O" for kind in part.dtypes
            )
            return SMALL * (1 + texts) + int(part.memory_usage(deep=False).sum())
        if isinstance(part, pd.Series | pd.Index):
            return size(part.to_numpy())
        if isinstance(part, Mapping):
            return SMALL + sum(size(key) + size(own) for key, own in part.items())
        if isinstance(part, tuple | list | set | frozenset):
            return SMALL + sum(map(size, part))
        if is_dataclass(part):
            return SMALL + sum(size(getattr(part, each.name)) for each in fields(part))
        return SMALL

    return size(value)
