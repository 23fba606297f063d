"""Find equal rows."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MIXING = 0x9E3779B97F4A7C15
"""Odd number with which the words of a row are mixed."""
SHIFT = np.uint64(32)


class Distinct(NamedTuple):
    """Distinct rows in the order of their first places."""

    first: NDArray[np.int64]
    """(n_distinct,) first place of each, ascending."""
    inverse: NDArray[np.int64]
    """(n,) number of the distinct row that equals each row."""


def find_distinct(columns: Iterable[NDArray[np.uint64]]) -> Distinct:
    """Find the distinct rows of (n,) columns, of which there is one at least.

    Rows are sorted by 64 bits into which their words are mixed, and compared word by word.

    >>> find_distinct([np.array([7, 5, 7], np.uint64)]).inverse.tolist()
    [0, 1, 0]
    """
    columns = list(columns)
    mixed = np.zeros(len(columns[0]), np.uint64)
    for words in columns:
        mixed ^= words
        mixed *= np.uint64(MIXING)
        mixed ^= mixed >> SHIFT
    distinct = _of_words(mixed)
    twin = distinct.first[distinct.inverse]
    repeated = np.flatnonzero(twin != np.arange(twin.size))
    twin = twin[repeated]
    if all(np.array_equal(words[twin], words[repeated]) for words in columns):
        return distinct
    # Different rows were mixed into the same bits.
    numbers = [_of_words(words).inverse.view(np.uint64) for words in columns]
    rows = numbers[0]
    for column_numbers in numbers[1:]:
        rows = _of_words(rows * np.uint64(mixed.size) + column_numbers).inverse.view(np.uint64)
    return _of_words(rows)


def _of_words(words: NDArray[np.uint64]) -> Distinct:
    """Distinct values of one column; numpy's unique, of first places, takes three times as long."""
    order = np.argsort(words)
    ascending = words[order]
    is_new = np.ones(words.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    if is_new.all():
        return Distinct(np.arange(words.size), np.arange(words.size))
    first = np.minimum.reduceat(order, np.flatnonzero(is_new))
    is_first = np.zeros(words.size, bool)
    is_first[first] = True
    rank = np.cumsum(is_first) - 1
    inverse = np.empty(words.size, np.int64)
    inverse[order] = rank[first][np.cumsum(is_new) - 1]
    return Distinct(np.flatnonzero(is_first), inverse)
