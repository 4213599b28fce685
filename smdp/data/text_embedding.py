"""Free text as a few numbers: hashed word counts, reduced to the directions in which texts differ.

A text becomes x, with log(1 + count) of each word, weighted by how few texts have it (log of the
inverse share), in one of 1024 buckets by the word's CRC-32, and of length 1. The numbers are the
projections of x on the first axes of the principal components of all texts that hold a word. All
this is fitted once, on the texts of everybody and without a look at any outcome, and computed on
this machine. A text without words is 0 on every axis.

Reference: Weinberger et al. (2009), "Feature hashing for large scale multitask learning";
Deerwester et al. (1990), "Indexing by latent semantic analysis".
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from smdp.data.problem import Problem
from smdp.data.variables import Variable
from smdp.result import Content
from smdp.text import plural

BUCKETS = 1024
#: Numbers that stand for a text.
AXES = 5
#: Axes of less than this share of the first one's variance say nothing.
LEAST_VARIANCE = 1e-6
#: A word that fewer people used is named nowhere: it may tell who wrote it.
FEWEST_PEOPLE = 3
NAMED = 6
WORD = r"[^\W\d_]{2,}"


@dataclass(frozen=True, eq=False, repr=False)
class TextEmbedding(Content):
    """How the texts of one column become numbers."""

    name: str  # the column
    rarity: NDArray[np.float64]  # (buckets,): the weight of each bucket's words
    axes: NDArray[np.float64]  # (buckets, k)
    words: tuple[tuple[str, ...], ...]  # k: those that speak most for each axis, or against it

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"{self.name}: words {k + 1}" for k in range(self.axes.shape[1]))

    def __call__(self, texts: Sequence[object]) -> NDArray[np.float64]:
        """(texts, k)"""
        distinct, place = _distinct(texts)
        return np.asarray(_weighted(_counts(distinct), self.rarity) @ self.axes)[place]

    def variables(self, label: str) -> tuple[Variable, ...]:
        """The study's columns of these numbers."""
        return tuple(
            Variable(
                name,
                label=label,
                whole=self.name,
                whole_kind="text",
                part=f"words {k + 1}",
                words=self.words[k],
            )
            for k, name in enumerate(self.columns)
        )


def words_of(text: object) -> list[str]:
    """The words of a text: two letters or more, in lower case."""
    if text is None or text != text or text is pd.NA:
        return []
    return re.findall(WORD, str(text).lower())


def bucket(word: str) -> int:
    return crc32(word.encode()) % BUCKETS


def fit_text(column: pd.Series, people: pd.Series) -> TextEmbedding:
    """The numbers that tell the texts of a column apart best; see above."""
    distinct, place = _distinct(column)
    counts = _counts(distinct)
    weight = np.bincount(place, minlength=len(distinct)).astype(np.float64)
    weight[np.diff(counts.indptr) == 0] = 0.0
    texts = weight.sum()
    having = (counts > 0).astype(np.float64).T @ weight
    rarity = np.where(having > 0, np.log(texts / np.maximum(having, 1.0)) + 1.0, 0.0)
    rows = _weighted(counts, rarity)
    mean = rows.T @ weight / texts
    spread = (rows.multiply(weight[:, None]).tocsr().T @ rows).toarray() / texts
    variance, axes = np.linalg.eigh(spread - np.outer(mean, mean))
    order = np.argsort(-variance, kind="stable")[:AXES]
    order = order[variance[order] > LEAST_VARIANCE * variance.max()]
    found = axes[:, order]
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    found = found * np.where(largest < 0, -1.0, 1.0)
    named = _named(distinct, place, people)
    words = tuple(_telling(found[:, k], named) for k in range(found.shape[1]))
    return TextEmbedding(str(column.name), rarity, np.ascontiguousarray(found), words)


def text_findings(name: str, column: pd.Series) -> Iterator[Problem]:
    """What is wrong or remarkable in a text variable."""
    distinct, place = _distinct(column)
    filled = np.array([bool(words_of(text)) for text in distinct])
    empty = int((~filled[place]).sum())
    if len({tuple(sorted(words_of(text))) for text in distinct if words_of(text)}) < 2:
        yield Problem(
            "error",
            name,
            f"The text variable '{name}' does not have two texts with different words.",
            "Choose another type, or leave it out.",
        )
        return
    yield Problem(
        "note",
        name,
        f"'{name}' becomes up to {AXES} numbers that tell its texts apart by their words, found "
        "without a look at the outcome"
        + (f"; {plural(empty, 'row')} without a word count as nothing written." if empty else "."),
    )


def _distinct(texts: Sequence[object] | pd.Series) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts, and which of them each is."""
    cells = pd.Series(texts, dtype=object)
    place, distinct = pd.factorize(cells.where(cells.notna(), "").map(str), sort=True)
    return list(distinct), place.astype(np.int64)


def _counts(texts: Sequence[str]) -> csr_array:
    """(texts, buckets): how often words of each bucket occur."""
    start, buckets, numbers = [0], [], []
    for text in texts:
        own = sorted(Counter(map(bucket, words_of(text))).items())
        buckets += [place for place, _ in own]
        numbers += [float(count) for _, count in own]
        start.append(len(buckets))
    data = np.array(numbers), np.array(buckets, np.int64), np.array(start, np.int64)
    return csr_array(data, shape=(len(texts), BUCKETS))


def _weighted(counts: csr_array, rarity: NDArray[np.float64]) -> csr_array:
    """Rows of length 1, or 0 without words."""
    rows = counts.astype(np.float64).copy()
    rows.data = np.log1p(rows.data) * rarity[rows.indices]
    squares = np.asarray((rows.multiply(rows)).sum(axis=1)).ravel()
    length = np.sqrt(np.where(squares > 0, squares, 1.0))
    rows.data = rows.data / np.repeat(length, np.diff(rows.indptr))
    return rows


def _named(distinct: Sequence[str], place: NDArray[np.int64], people: pd.Series) -> dict[int, str]:
    """The word that most people used in each bucket, of those that enough people used."""
    users: dict[str, set[object]] = defaultdict(set)
    who = pd.Series(people.to_numpy()).groupby(place).unique()
    for k, text in enumerate(distinct):
        for word in set(words_of(text)):
            users[word] |= set(who[k])
    enough = sorted((-len(own), word) for word, own in users.items() if len(own) >= FEWEST_PEOPLE)
    found: dict[int, str] = {}
    for _, word in enough:
        found.setdefault(bucket(word), word)
    return found


def _telling(loadings: NDArray[np.float64], named: dict[int, str]) -> tuple[str, ...]:
    """The words with the largest loadings, those that lower the number with a minus."""
    known = np.array(sorted(named), dtype=np.int64)
    if not len(known):
        return ()
    order = known[np.argsort(-np.abs(loadings[known]), kind="stable")][:NAMED]
    return tuple(f"{'−' if loadings[b] < 0 else ''}{named[b]}" for b in order if loadings[b])
