"""Distances of all variables times permuted weights of all pairs, as matrix products.

For one time point, p variables and B rearrangements s_b of the subjects,

    out[j, b] = sum over pairs i < k of |x_ij - x_kj| * W[s_b(i), s_b(k)]

is one product of a (p, pairs) and a (pairs, B) matrix. The zero diagonal of the distances and the
symmetry of W leave only the pairs i < k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

#: Bytes that the two factors of one product may take together.
BLOCK_BYTES = 64 * 2**20


def pair_products(
    x: NDArray[np.float64],  # (n, p, d): p variables of d dimensions
    weights: NDArray[np.float64],  # (n, n), symmetric
    ends: NDArray[np.intp],  # (n,): subject i is paired with i + 1 .. ends[i] - 1
    permutation: NDArray[np.intp],  # (n, B)
    between: Callable[[], None] = lambda: None,
    block_bytes: int = BLOCK_BYTES,
) -> NDArray[np.float64]:
    """(p, B): the sums above. `between` is called before every product, and may raise."""
    subjects, variables, _ = x.shape
    columns = permutation.shape[1]
    pairs_at_once = max(1, block_bytes // (8 * (variables + 2 * columns)))
    row_start = permutation * subjects
    flat = np.ascontiguousarray(weights).ravel()
    total: NDArray[np.float64] | None = None
    for first, last, size in _rows_at_once(ends, pairs_at_once):
        between()
        distances = np.empty((size, variables))
        index = np.empty((size, columns), dtype=np.intp)
        done = 0
        for i in range(first, last):
            stop = done + ends[i] - i - 1
            _distances_from(x[i], x[i + 1 : ends[i]], distances[done:stop])
            np.add(row_start[i], permutation[i + 1 : ends[i]], out=index[done:stop])
            done = stop
        # The index is in range by construction: "clip" spares the check that "raise" makes.
        part = distances.T @ np.take(flat, index, mode="clip")
        total = part if total is None else np.add(total, part, out=total)
    return np.zeros((variables, columns)) if total is None else total


def _rows_at_once(ends: NDArray[np.intp], limit: int) -> Iterator[tuple[int, int, int]]:
    """Consecutive subjects whose pairs together stay within `limit` (one subject at the least)."""
    pairs = ends - np.arange(len(ends)) - 1
    first = size = 0
    for i, count in enumerate(pairs.tolist()):
        if size and size + count > limit:
            yield first, i, size
            first, size = i, 0
        size += count
    if size:
        yield first, len(pairs), size


def _distances_from(
    one: NDArray[np.float64], others: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Euclidean distances (others, p) from one subject (p, d) to others (others, p, d)."""
    if one.shape[1] == 1:
        np.subtract(others[:, :, 0], one[:, 0], out=out)
        np.abs(out, out=out)
        return
    difference = others - one
    np.sqrt(np.einsum("ijk,ijk->ij", difference, difference), out=out)
