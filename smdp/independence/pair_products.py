"""Distances of all variables times permuted weights of all pairs, as matrix products.

For one time point, p variables and B rearrangements s_b of the subjects,

    out[j, b] = sum over pairs i < k of |x_ij - x_kj| * W[s_b(i), s_b(k)]

is one product of a (p, pairs) and a (pairs, B) matrix. The zero diagonal of the distances and the
symmetry of W leave only the pairs i < k. It is computed in blocks of pairs and of rearrangements
that stay in the processor's cache, and in bounded memory for any number of variables and subjects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.independence.workspace import Workspace


@dataclass(frozen=True)
class BlockSize:
    """How much is multiplied at once. It changes the speed, not the result beyond rounding."""

    pairs: int = 1024
    bytes: int = 64 * 2**20  # fewer pairs where the factors would take more than this


def pair_products(
    x: NDArray[np.float64],  # (n, p, d): p variables of d dimensions
    weights: NDArray[np.float64],  # (n, n), symmetric
    groups: tuple[slice, ...],  # pairs are formed within each of them
    permutation: NDArray[np.intp],  # (n, B)
    workspace: Workspace,
    block: BlockSize = BlockSize(),  # noqa: B008 - frozen
) -> NDArray[np.float64]:
    """(p, B): the sums above, in the workspace's array "products"."""
    _, variables, dimensions = x.shape
    columns = permutation.shape[1]
    at_once = min(block.pairs, block.bytes // (8 * (variables * (dimensions + 1) + columns)))
    row_starts = permutation * len(weights)
    out = workspace.array("products", (variables, columns))
    for number, pairs in enumerate(_pairs_at_once(groups, at_once)):
        workspace.pause()
        distances = _distances(x, pairs, workspace)
        gathered = _gathered(weights.ravel(), row_starts, permutation, pairs, workspace)
        if number == 0:
            np.matmul(distances.T, gathered, out=out)
        else:
            out += np.matmul(
                distances.T, gathered, out=workspace.array("part", (variables, columns))
            )
    return out


#: Subject i with each of the subjects first .. last - 1, all after i.
Pairs = tuple[int, int, int]


def _pairs_at_once(groups: tuple[slice, ...], at_once: int) -> Iterator[list[Pairs]]:
    """All pairs i < k within groups, some `at_once` of them together."""
    found: list[Pairs] = []
    room = at_once
    for group in groups:
        for i in range(group.start, group.stop):
            first = i + 1
            while first < group.stop:
                last = min(group.stop, first + max(1, room))
                found.append((i, first, last))
                room -= last - first
                first = last
                if room <= 0:
                    yield found
                    found, room = [], at_once
    if found:
        yield found


def _distances(
    x: NDArray[np.float64], pairs: list[Pairs], workspace: Workspace
) -> NDArray[np.float64]:
    """(pairs, p): Euclidean distances."""
    size = sum(last - first for _, first, last in pairs)
    difference = workspace.array("difference", (size, *x.shape[1:]))
    done = 0
    for i, first, last in pairs:
        np.subtract(x[first:last], x[i], out=difference[done : done + last - first])
        done += last - first
    if x.shape[2] == 1:
        return np.abs(difference, out=difference)[:, :, 0]
    distances = workspace.array("distances", (size, x.shape[1]))
    np.einsum("ijk,ijk->ij", difference, difference, out=distances)
    return np.sqrt(distances, out=distances)


def _gathered(
    weights: NDArray[np.float64],  # (n * n,)
    row_starts: NDArray[np.intp],  # (n, B): where the rows of those who take the places start
    permutation: NDArray[np.intp],
    pairs: list[Pairs],
    workspace: Workspace,
) -> NDArray[np.float64]:
    """(pairs, B): the weights of those who take the places of the pairs."""
    size = sum(last - first for _, first, last in pairs)
    widest = max(last - first for _, first, last in pairs)
    gathered = workspace.array("gathered", (size, permutation.shape[1]))
    index = workspace.array("index", (widest, permutation.shape[1]), np.intp)
    done = 0
    for i, first, last in pairs:
        width = last - first
        here = np.add(row_starts[i], permutation[first:last], out=index[:width])
        # In range by construction: "clip" spares the check that "raise" makes.
        weights.take(here, out=gathered[done : done + width], mode="clip")
        done += width
    return gathered
