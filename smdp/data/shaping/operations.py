"""Every kind of operation. A new kind is a class in a module beside this one, and a name here."""

from __future__ import annotations

from smdp.data.shaping.compute import CombineColumns, ComputeColumn
from smdp.data.shaping.join import JoinTable
from smdp.data.shaping.levels import GroupRare, RecodeColumn
from smdp.data.shaping.moments import DateAndTime, SplitDate
from smdp.data.shaping.operation import Operation
from smdp.data.shaping.pseudonyms import Pseudonymise
from smdp.data.shaping.rows_and_names import DropColumns, KeepRows, RenameColumn

OPERATIONS: tuple[type[Operation], ...] = (
    ComputeColumn,
    CombineColumns,
    RecodeColumn,
    GroupRare,
    DateAndTime,
    SplitDate,
    KeepRows,
    DropColumns,
    RenameColumn,
    Pseudonymise,
    JoinTable,
)
