"""One memory layout for the arrays of results."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def in_c_order(instance: Any) -> None:
    """Give every array of a new frozen dataclass the layout that it would have after a file.

    Sums and products round differently on other layouts: a result must not depend on whether its
    input has been through a file.
    """
    for each in fields(instance):
        value = getattr(instance, each.name)
        if isinstance(value, np.ndarray) and value.ndim and not value.flags.c_contiguous:
            object.__setattr__(instance, each.name, np.ascontiguousarray(value))
