"""Decode plain values to frames, batch by batch; work that batches share is done once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.frame_columns import Column
from decaf.data.frame_libraries import Frame, Library, Series
from decaf.foundation.distinct import Distinct, find_distinct

HALF = 0.5


class DistinctRows(NamedTuple):
    """Distinct rows of a batch."""

    frame: Frame
    """Distinct rows, in the order of the batch."""
    places: Distinct
    """Positions of the frame's rows in the batch, and of the batch's rows in the frame."""


class _Plain(NamedTuple):
    """Content of a column as numbers."""

    values: NDArray[Any]
    """(n,) numbers, truth values, or places of categories; the place after the last is missing."""
    is_missing: NDArray[np.bool_] | None
    """(n,) None if no value can be missing, and for categories."""

    def rows(self, places: NDArray[np.int64]) -> "_Plain":
        """The content of some rows."""
        is_missing = None if self.is_missing is None else self.is_missing[places]
        return _Plain(self.values[places], is_missing)


class FrameDecoder:
    """Decodes (n, width) values to frames of one library, as in :mod:`decaf.data.frames`."""

    def __init__(self, library: Library, columns: Sequence[Column]) -> None:
        self._library, self._columns = library, columns
        widths = [column.width for column in columns]
        self._starts = np.cumsum([0, *widths])[:-1].tolist()
        self._levels: list[Series | None] = [
            library.levels(column.categories, column.is_ordered, column.missing, column.dtype)
            if column.categories
            else None
            for column in columns
        ]
        blocks = [number for number, column in enumerate(columns) if column.categories]
        self._block_count = len(blocks)
        self._has_category = np.repeat([bool(column.categories) for column in columns], widths)
        self._block = np.repeat(
            [blocks.index(n) if n in blocks else 0 for n in range(len(columns))], widths
        )
        self._place = np.arange(sum(widths)) - np.repeat(self._starts, widths)

    def frame(self, values: NDArray[np.floating]) -> Frame:
        """Decode every row."""
        return self._build_frame(self._plain(values))

    def distinct(
        self, values: NDArray[np.floating], groups: NDArray[np.int64] | None = None
    ) -> DistinctRows:
        """Decode rows; rows of one group that decode to the same row of a frame appear once."""
        plain = self._plain(values)
        arrays = [array for column in plain for array in column if array is not None]
        arrays += [] if groups is None else [groups]
        places = find_distinct([_bits(array) for array in arrays])
        if places.first.size < len(values):
            plain = [column.rows(places.first) for column in plain]
        return DistinctRows(self._build_frame(plain), places)

    def _plain(self, values: NDArray[np.floating]) -> list[_Plain]:
        places = iter(self._category_places(values))
        return [
            _Plain(next(places), None)
            if column.categories
            else _plain_numbers(column, values[:, start : start + column.width])
            for column, start in zip(self._columns, self._starts, strict=True)
        ]

    def _build_frame(self, plain: Sequence[_Plain]) -> Frame:
        library = self._library
        columns = {}
        for column, levels, (values, is_missing) in zip(
            self._columns, self._levels, plain, strict=True
        ):
            columns[column.name] = (
                library.numeric(values, is_missing, column.missing, column.dtype)
                if levels is None
                else library.take(levels, values)
            )
        return library.frame(columns)

    def _category_places(self, values: NDArray[np.floating]) -> list[NDArray[np.int64]]:
        """(n,) place of the category of each row, for each column of categories.

        If a single value of a block is above one half, it is the largest. If no value is below
        zero either, the sum of the block is also above one half.
        """
        if not self._block_count:
            return []
        row_count = len(values)
        is_large = values > HALF
        is_large &= self._has_category
        large = np.flatnonzero(is_large)
        row = large // values.shape[1]  # several times as fast as divmod
        value = large - row * values.shape[1]
        cell = row * self._block_count + self._block[value]
        cells = np.zeros(row_count * self._block_count, np.int64)
        cells[cell] = self._place[value]
        places = cells.reshape(row_count, self._block_count)
        is_open = np.bincount(cell, minlength=cells.size).reshape(places.shape) != 1
        is_negative = values < 0
        is_negative &= self._has_category
        if is_negative.any():
            is_open |= is_negative.any(axis=1, keepdims=True)
        chosen: list[NDArray[np.int64]] = []
        for column, start in zip(self._columns, self._starts, strict=True):
            if not column.categories:
                continue
            of_column, rows = places[:, len(chosen)], np.flatnonzero(is_open[:, len(chosen)])
            if rows.size:
                part = values[rows, start : start + column.width]
                is_there = part.sum(axis=1) >= HALF
                of_column[rows] = np.where(is_there, part.argmax(axis=1), column.width)
            chosen.append(of_column)
        return chosen


def _bits(array: NDArray[Any]) -> NDArray[np.uint64]:
    if array.dtype == np.float64:
        return array.view(np.uint64)
    if array.dtype == np.float32:
        return array.view(np.uint32).astype(np.uint64)
    return array.astype(np.int64).view(np.uint64)


def _plain_numbers(column: Column, part: NDArray[np.floating]) -> _Plain:
    values, is_missing = np.ascontiguousarray(part[:, 0]), None
    if column.has_presence:
        is_missing = part[:, 1] < HALF
        values = np.divide(values, part[:, 1], out=np.zeros_like(values), where=~is_missing)
    if column.kind == "truth":
        return _Plain(values >= HALF, is_missing)
    if column.kind == "whole":
        return _Plain(np.rint(values).clip(*column.limits).astype(np.int64), is_missing)
    return _Plain(values, is_missing)
