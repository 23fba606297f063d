"""Columns of few values: a number for every row, and each value once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from decaf.data.texts import Piece, Texts, concat_texts

Values = TypeVar("Values", bound=Sequence[Any])


@dataclass(frozen=True)
class Coded(Generic[Values]):
    """A column of values that occur again and again.

    Each value is held once, in the order in which rows first have it; at least one row has it.
    """

    codes: NDArray[np.int32]
    """(n,) position of each row's value among the values."""
    values: Values

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, row: int) -> Any:
        return self.values[self.codes[row]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coded):
            return NotImplemented
        return np.array_equal(self.codes, other.codes) and bool(self.values == other.values)

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: NDArray[np.integer]) -> "Coded[Values]":
        """Values of some rows, in their order."""
        return recode(self.codes[rows], self.values)

    def to_list(self) -> list[Any]:
        """Value of every row."""
        values = [*self.values]
        return [values[code] for code in self.codes.tolist()]

    def earlier_rows(self) -> NDArray[np.int64]:
        """(n,) number of earlier rows of the same value."""
        order = np.argsort(self.codes, kind="stable")
        sizes = np.bincount(self.codes, minlength=len(self.values))
        earlier = np.empty(self.codes.size, np.int64)
        earlier[order] = np.arange(order.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return earlier

    def counts(self) -> dict[Any, int]:
        """Number of rows of each value."""
        rows = np.bincount(self.codes, minlength=len(self.values))
        return dict(zip(self.values, rows.tolist(), strict=True))


def code_values(column: Iterable[Any]) -> Coded[tuple[Any, ...]]:
    """Code a column of values that can be keys, one by one."""
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in column]
    return Coded(np.array(codes, np.int32), tuple(places))


def code_texts(column: Texts | Iterable[str]) -> Coded[Texts]:
    """Code a column of texts."""
    texts = column if isinstance(column, Texts) else Texts(column)
    coded = texts.arrow.dictionary_encode()
    return Coded(coded.indices.to_numpy(), Texts(coded.dictionary))


def code_distinct(texts: Texts) -> Coded[Texts]:
    """Code a column of texts that all differ."""
    return Coded(np.arange(len(texts), dtype=np.int32), texts)


def texts_of(column: Coded[Texts]) -> Texts:
    """Text of every row."""
    return column.values.take(column.codes)


def concat_coded(columns: Sequence[Coded[Texts]]) -> Coded[Texts]:
    """Columns of texts one after the other; one column at least."""
    values = code_texts(concat_texts(*(column.values for column in columns)))
    sizes = [len(column.values) for column in columns]
    codes_of_values = np.split(values.codes, np.cumsum(sizes)[:-1])
    codes = [of[column.codes] for of, column in zip(codes_of_values, columns, strict=True)]
    return recode(np.concatenate(codes), values.values)


def repeat_text(text: str, count: int) -> Coded[Texts]:
    """Column of one text; ``count`` is above 0."""
    return Coded(np.zeros(count, np.int32), Texts([text]))


def combine(columns: Sequence[tuple[str, Coded[Texts]]], count: int) -> Coded[tuple[Any, ...]]:
    """Names of columns with their values, as one value for each of ``count`` rows."""
    combined: Coded[tuple[Any, ...]] = Coded(np.zeros(count, np.int32), ((),))
    for name, column in columns:
        size = len(column.values)
        pairs, codes = np.unique(
            combined.codes.astype(np.int64) * size + column.codes, return_inverse=True
        )
        values = [
            (*combined.values[pair // size], (name, column.values[pair % size]))
            for pair in pairs.tolist()
        ]
        combined = recode(codes, tuple(values))
    return combined


def recode(codes: NDArray[np.integer], values: Values) -> Coded[Values]:
    """Column of ``values[codes]``: drops unused values and sorts the others by first use."""
    first = first_rows(codes, len(values))
    used = np.flatnonzero(first < codes.size)
    used = used[np.argsort(first[used])]
    places = np.zeros(len(values), np.int32)
    places[used] = np.arange(used.size)
    used_values: Any
    if isinstance(values, Texts):
        used_values = values.take(used)
    else:
        used_values = tuple(values[place] for place in used.tolist())
    return Coded(places[codes], used_values)


def first_rows(codes: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """(count,) first row of every code; the number of rows for a code without any."""
    first = np.full(count, codes.size)
    first[codes[::-1]] = np.arange(codes.size)[::-1]
    return first


def json_piece(column: Coded[Texts], rows: NDArray[np.integer]) -> Piece:
    """Texts of some rows as a part of their JSON."""
    codes = column.codes[rows]
    if column.values.is_plain:
        return column.values.take(codes)
    return column.values.json.take(codes)
