"""What one worker keeps from one piece of work to the next."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Workspace:
    """Arrays to be used again (fresh memory costs more than filling it), and a place to stop."""

    def __init__(self, pause: Callable[[], None] = lambda: None) -> None:
        self.pause = pause  # to be called between pieces of work; may raise to stop
        self._kept: dict[str, NDArray[Any]] = {}

    def array(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """An array with any content, overwritten by the next request for the same name."""
        size = math.prod(shape)
        kept = self._kept.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            kept = self._kept[name] = np.empty(size, dtype=dtype)
        return kept[:size].reshape(shape)
