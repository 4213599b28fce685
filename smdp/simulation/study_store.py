"""Where a simulation study is kept: one SQLite file that grows by a row for each finished cell.

Every row is a transaction of its own, so whatever stops the program, the file holds the rows that
were finished and nothing half done. The key is unique: a cell that is finished twice counts once.
Only the process that runs the study writes; others may read meanwhile.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from time import monotonic

import numpy as np
import pandas as pd

from smdp.atomic_write import make_folder
from smdp.errors import DataError, SettingError
from smdp.result import Result
from smdp.simulation.replication import CellResult
from smdp.simulation.study_checks import check_rows
from smdp.simulation.study_settings import SimulationSetting, StudyCell, StudySettings
from smdp.text import listing, shorten

FILE_NAME = "study.sqlite"
KEY = ("model", "noise", "subjects", "times", "discount", "feature_map", "replication")
COLUMNS = tuple(each.name for each in fields(CellResult))

#: Columns that are not the same when a study is repeated.
CLOCK = ("seconds", "map_seconds")

_TEXT = {"model", "feature_map", "status", "variables", "screened", "message"}
_WHOLE = {"noise", "subjects", "times", "replication", "data_seed"}
#: Seconds to wait for another process that is reading or writing.
_PATIENCE = 60
#: Seconds that reading a file may take; the largest studies take less than one.
_PATIENCE_WITH_STRANGERS = 10.0
#: Far more than a study writes.
_LONGEST_TEXT, _MOST_ROWS = 1_000_000, 200_000

_IN_MEMORY = ":memory:"
_REMEDY_FOR_BYTES = f"Choose the file {FILE_NAME} from the folder that was given with --out."
_REMEDY_ON_DISK = (
    "Check that the disk has room and that you may write there; the same command then goes on. If "
    "the file is damaged, start a new study in another folder."
)


@dataclass(frozen=True, eq=False, repr=False)
class StudyRows(Result):
    """The finished cells of a study, sorted by their key, and how they were done."""

    rows: pd.DataFrame  # columns of `CellResult`
    how: StudySettings

    @property
    def done(self) -> pd.DataFrame:
        return self.rows[self.rows["status"] == "done"]

    @property
    def failed(self) -> pd.DataFrame:
        return self.rows[self.rows["status"] == "failed"]


class StudyStore:
    """An open study file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def finished(self, *, count_failed: bool = True) -> set[StudyCell]:
        where = "" if count_failed else " WHERE status = 'done'"
        found = self._connection.execute(f"SELECT {', '.join(KEY)} FROM cells{where}")
        return {StudyCell(SimulationSetting(*key[:5]), key[5], key[6]) for key in found}

    def append(self, result: CellResult) -> None:
        """Add a finished cell; it takes the place of a failure of the same cell only."""
        marks = ", ".join("?" * len(COLUMNS))
        key = {name: getattr(result, name) for name in KEY}
        same = " AND ".join(f"{name} = :{name}" for name in KEY)
        with self._connection:
            self._connection.execute(
                f"DELETE FROM cells WHERE {same} AND status = 'failed'",
                key,
            )
            self._connection.execute(
                f"INSERT OR IGNORE INTO cells ({', '.join(COLUMNS)}) VALUES ({marks})",
                astuple(result),
            )

    def take_over(self, known: StudyRows, cells: Iterable[StudyCell]) -> None:
        """Add those of the cells that another study with the same settings has finished."""
        if known.how != self.how():
            raise SettingError(
                "The cells that are known were done with other settings: "
                f"{listing(_differences(known.how, self.how()))}.",
                "Use the same settings, or do them again.",
            )
        wanted = set(cells)
        for row in known.rows.astype(object).where(known.rows.notna(), None).to_dict("records"):
            setting = SimulationSetting(*(row[name] for name in KEY[:5]))
            if StudyCell(setting, row["feature_map"], row["replication"]) in wanted:
                self.append(CellResult(**row))

    def read(self) -> StudyRows:
        order = ", ".join(KEY)
        found = self._connection.execute(
            f"SELECT {', '.join(COLUMNS)} FROM cells ORDER BY {order}"
        ).fetchmany(_MOST_ROWS + 1)
        if len(found) > _MOST_ROWS:
            raise DataError(
                f"The study has more than {_MOST_ROWS:,} finished cells.",
                "Divide it: other settings or feature maps in another folder.",
            )
        frame = pd.DataFrame(found, columns=list(COLUMNS))
        return StudyRows(frame.astype({name: _dtype(name) for name in COLUMNS}), self.how())

    def load(self, content: bytes) -> None:
        """Take the content of a study file, into memory."""
        self._connection.deserialize(content)

    def guard(self) -> None:
        """For a file from anywhere: no text without end, and no query (a view may hide one)."""
        until = monotonic() + _PATIENCE_WITH_STRANGERS
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_TEXT)
        self._connection.set_progress_handler(lambda: monotonic() > until, 100_000)

    def how(self) -> StudySettings:
        return StudySettings.from_json(json.loads(self._stored("how") or "{}"))

    def begin(self, how: StudySettings, version: str) -> None:
        """Set up a new file, or check that an old one was made with the same settings."""
        columns = ", ".join(f"{name} {_affinity(name)}" for name in COLUMNS)
        with self._connection:
            self._connection.execute(
                f"CREATE TABLE IF NOT EXISTS cells ({columns}, PRIMARY KEY ({', '.join(KEY)}))"
            )
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT)"
            )
            self._connection.executemany(
                "INSERT OR IGNORE INTO about VALUES (?, ?)",
                [("how", json.dumps(how.to_json())), ("version", version)],
            )
        stored = self.how()
        if stored != how:
            raise SettingError(
                f"The study in this folder was begun with other settings: "
                f"{listing(_differences(stored, how))}.",
                "Use the same settings, or another folder.",
            )

    def _stored(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return None if row is None else str(row[0])


@contextmanager
def open_study(folder: Path | None, how: StudySettings, version: str) -> Iterator[StudyStore]:
    """Begin a study in the folder, or take up the one that is there; without one, in memory."""
    where = _IN_MEMORY if folder is None else str(make_folder(folder) / FILE_NAME)
    with _connected(where) as store:
        store.begin(how, version)
        yield store


def read_study(source: Path | str | bytes, name: str = FILE_NAME) -> StudyRows:
    """The finished cells of the study in a folder, also while it is running; or of a file's bytes.

    The file may come from anywhere: what no study writes is refused, and so is what takes long.
    `name`: what messages call a file that is given as bytes.
    """
    if isinstance(source, bytes):
        where, content = _IN_MEMORY, source
    else:
        path = Path(source) / FILE_NAME
        where, name, content = str(path), str(path), b""
        if not path.is_file():
            raise DataError(
                f"There is no simulation study in '{source}': it has no file '{FILE_NAME}'.",
                f"Make one with: smdp simulate --model quad --noise 50 --out {source}",
            )
    with _connected(where, name) as store:
        try:
            store.guard()
            if content:
                store.load(content)
            found = store.read()
            check_rows(found.rows)
            return found
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError,
                RecursionError, MemoryError) as error:  # fmt: skip
            raise DataError(
                f"The study file '{name}' holds what no study writes ({shorten(error)}).",
                "It is damaged; get another copy, or start a new study in another folder.",
            ) from error


@contextmanager
def _connected(where: str, name: str | None = None) -> Iterator[StudyStore]:
    try:
        connection = sqlite3.connect(where, timeout=_PATIENCE)
        try:
            yield StudyStore(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(
            f"The study file '{name or where}' cannot be used ({error}).",
            _REMEDY_FOR_BYTES if where == _IN_MEMORY else _REMEDY_ON_DISK,
        ) from error


def _differences(stored: StudySettings, asked: StudySettings) -> list[str]:
    """'feature_map.steps is 1000, not 200', .."""
    first, second = _flat(stored.to_json()), _flat(asked.to_json())
    return [f"{name} is {first[name]}, not {second[name]}" for name in first
            if first[name] != second[name]]  # fmt: skip


def _flat(code: dict, before: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in code.items():
        found |= _flat(value, f"{name}.") if isinstance(value, dict) else {before + name: value}
    return found


def _affinity(name: str) -> str:
    if name in _TEXT:
        return "TEXT"
    return "INTEGER" if name in _WHOLE else "REAL"


def _dtype(name: str) -> object:
    if name in _TEXT:
        return object
    return np.int64 if name in _WHOLE else np.float64
