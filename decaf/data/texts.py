"""Columns of texts, held by Arrow: names and digests of millions of pairs and inputs."""

import binascii
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from decaf.errors import DataError
from decaf.foundation.digests import json_text
from decaf.foundation.distinct import find_distinct
from decaf.foundation.names import LONGEST, fault_of, quote

AT_ONCE = 65_536
"""Most texts as Python objects, or rows as JSON, at a time."""
SHA256_BYTES = 32


class Texts(Sequence[str]):
    """(n,) texts, each of which takes 8 bytes and its letters.

    Raises DataError for a text with half a letter (a lone surrogate), which names of files may
    have.
    """

    def __init__(self, values: Iterable[str] | pa.Array) -> None:
        if isinstance(values, pa.Array | pa.ChunkedArray):
            self._arrow = _whole(values.cast(pa.large_string()))
            return
        texts = [*values]
        try:
            self._arrow = _whole(pa.array(texts, pa.large_string()))
        except UnicodeEncodeError:
            check_names([text for text in texts if not text.isprintable()])
            raise

    @classmethod
    def repeat(cls, text: str, count: int) -> "Texts":
        """The same text ``count`` times."""
        return cls(pa.repeat(pa.scalar(text, pa.large_string()), count))

    @classmethod
    def numbers(cls, numbers: NDArray[np.integer]) -> "Texts":
        """Whole numbers as they are written."""
        return cls(write_numbers(numbers))

    @property
    def arrow(self) -> pa.LargeStringArray:
        """The texts as an array of Arrow."""
        return self._arrow

    def __len__(self) -> int:
        return len(self.arrow)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        return self._text(int(place))

    def _text(self, place: int) -> str:
        return self.arrow[place].as_py()

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), AT_ONCE):
            yield from self.arrow.slice(first, AT_ONCE).to_pylist()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texts) and self.arrow.equals(other.arrow)

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: NDArray[np.integer]) -> "Texts":
        """Texts of some rows, in their order."""
        texts = Texts(self.arrow.take(pa.array(rows)))
        if self.__dict__.get("is_plain"):
            texts.__dict__["is_plain"] = True
        return texts

    def places_of(self, texts: Iterable[str]) -> dict[str, int]:
        """First row of each text; texts that no row has are left out."""
        wanted_texts = Texts(texts)
        named = zip(wanted_texts, self.find(wanted_texts).tolist(), strict=True)
        return {text: place for text, place in named if place >= 0}

    def find(self, texts: "Texts") -> NDArray[np.int64]:
        """(k,) first row of each text; -1 for a text that no row has."""
        places = pc.index_in(texts.arrow, self.arrow)
        return pc.fill_null(places, -1).to_numpy().astype(np.int64)

    def order(self) -> NDArray[np.int64]:
        """(n,) rows in the order of their texts."""
        return pc.sort_indices(self.arrow).to_numpy().astype(np.int64)

    def count_distinct(self) -> int:
        """Number of different texts."""
        return pc.count_distinct(self.arrow).as_py()

    def to_list(self) -> list[str]:
        """All texts as Python objects."""
        return self.arrow.to_pylist()

    def to_numbers(self) -> NDArray[np.int64]:
        """All texts as the whole numbers that they are written as."""
        return pc.cast(self.arrow, pa.int64()).to_numpy()

    def to_numpy(self) -> NDArray[np.str_]:
        """All texts as an array of NumPy, each as wide as the longest."""
        return np.array(self.to_list(), np.str_)

    @cached_property
    def is_plain(self) -> bool:
        """True if all letters are ASCII and stand for themselves in JSON."""
        letters = np.frombuffer(self.letters, np.uint8)
        parts = np.array_split(letters, letters.size // 2**20 + 1)
        return not any(
            ((part < 0x20) | (part > 0x7E) | (part == 0x22) | (part == 0x5C)).any()
            for part in parts
        )

    @cached_property
    def json(self) -> pa.LargeStringArray:
        """JSON of every text."""
        if self.is_plain:
            return _join(['"', self.arrow, '"'])
        return pa.array(map(json_text, self), pa.large_string())

    @property
    def letters(self) -> memoryview:
        """UTF-8 of all texts, one after the other."""
        _, offsets, letters = self.arrow.buffers()
        if letters is None or not len(self):
            return memoryview(b"")
        ends = np.frombuffer(offsets, np.int64)[self.arrow.offset :]
        return memoryview(letters)[ends[0] : ends[len(self)]]

    @cached_property
    def first_duplicate(self) -> str | None:
        """First text that occurs a second time; None if all texts differ."""
        coded = self.arrow.dictionary_encode()
        if len(coded.dictionary) == len(self):
            return None
        codes = coded.indices.to_numpy()
        is_first = np.zeros(codes.size, bool)
        is_first[np.unique(codes, return_index=True)[1]] = True
        return self[int(np.flatnonzero(~is_first)[0])]

    @cached_property
    def faulty(self) -> list[str]:
        """Texts that :func:`decaf.foundation.names.fault_of` may refuse, the first few of them."""
        length = pc.utf8_length(self.arrow)
        is_clear = pc.and_(pc.greater(length, 0), pc.less_equal(length, LONGEST))
        if not self.is_plain:
            is_clear = pc.and_(is_clear, pc.ascii_is_printable(self.arrow))
        unclear = self.arrow.filter(pc.invert(is_clear))
        return [name for name in Texts(unclear) if fault_of(name)][:1]


class WrittenTexts(Texts):
    """(n,) digits of numbers, written each time they are read: numbers take less memory.

    Different numbers have different digits.
    """

    is_plain = True

    def __init__(
        self,
        numbers: NDArray[Any],
        write: Callable[[NDArray[Any]], pa.LargeStringArray],
    ) -> None:
        """``write`` makes (n,) digits in ASCII of ``numbers``, whose rows are words of 8 bytes."""
        self._numbers = numbers
        self._write = write

    @property
    def arrow(self) -> pa.LargeStringArray:
        """The texts as an array of Arrow; each call makes another."""
        return self._write(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        return iter(Texts(self.arrow))

    def _text(self, place: int) -> str:
        return self.take(np.array([place])).arrow[0].as_py()

    def take(self, rows: NDArray[np.integer]) -> "WrittenTexts":
        """Texts of some rows, in their order."""
        return WrittenTexts(self._numbers[rows], self._write)

    def count_distinct(self) -> int:
        """Number of different texts."""
        rows = np.ascontiguousarray(self._numbers).reshape(len(self), -1).view(np.uint64)
        return find_distinct(rows.T).first.size


def check_names(*columns: Iterable[str]) -> None:
    """Refuse names of data that cannot be names.

    Raises DataError, naming the first of them.
    """
    for column in columns:
        for name in column.faulty if isinstance(column, Texts) else column:
            if problem := fault_of(name):
                raise DataError(f"the name {quote(name)} of the data {problem}")


def parts_of(numbers: NDArray[np.int64], size: int = AT_ONCE) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers in parts of ``size``."""
    for first in range(0, numbers.size, size):
        yield numbers[first : first + size]


def sha256_rows(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """(n, 32) sha256 of the bytes of every row of (n, width) values.

    A row takes about a microsecond, nearly all of it to make Python's hash objects.
    """
    rows = np.ascontiguousarray(rows)
    size = rows.dtype.itemsize * rows.shape[1]
    texts = cast("list[bytes]", rows.view(np.dtype((np.void, size))).ravel().tolist())
    digests = b"".join([digest.digest() for digest in map(hashlib.sha256, texts)])
    return np.frombuffer(digests, np.uint8).reshape(-1, SHA256_BYTES)


def write_hex(digests: NDArray[np.uint8]) -> pa.LargeStringArray:
    """(n,) hexadecimal digits of (n, bytes) digests."""
    count, size = digests.shape
    letters = binascii.hexlify(np.ascontiguousarray(digests).data)
    ends = np.arange(count + 1, dtype=np.int64) * (2 * size)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


def write_numbers(numbers: NDArray[np.integer]) -> pa.LargeStringArray:
    """(n,) whole numbers as they are written."""
    return pc.cast(pa.array(numbers), pa.large_string())


def concat_texts(*columns: Texts) -> Texts:
    """Columns one after the other."""
    return Texts(pa.concat_arrays([column.arrow for column in columns]))


Piece: TypeAlias = str | Texts | pa.Array
"""Part of the JSON of many rows: JSON that all rows share, a text for each, or JSON for each."""


def list_sha256(before: str, parts: Iterable[Iterable[Piece]], after: str) -> str:
    """Hex sha256 of ``before``, the JSON of all rows with commas between them, and ``after``.

    ``parts`` are the pieces of some rows at a time, which are written one after the other.
    """
    digest = hashlib.sha256(before.encode())
    comma = b""
    for pieces in parts:
        letters = memoryview(_lines(pieces).letters)
        digest.update(comma)
        digest.update(letters[:-1])
        comma = b"," if len(letters) else comma
    digest.update(after.encode())
    return digest.hexdigest()


def join_texts(*pieces: str | Texts) -> Texts:
    """Join the texts of every row; a ``str`` is a piece for all rows."""
    return Texts(_join(p if isinstance(p, str) else p.arrow for p in pieces))


def _join(pieces: Iterable[str | pa.Array]) -> pa.Array:
    of = pa.large_string()
    arrays = [pa.scalar(piece, of) if isinstance(piece, str) else piece for piece in pieces]
    return pc.binary_join_element_wise(*arrays, pa.scalar("", of))


def keep_where(is_kept: NDArray[np.bool_], texts: Texts) -> Texts:
    """Texts of kept rows, and empty texts for other rows."""
    return Texts(pc.if_else(pa.array(is_kept), texts.arrow, pa.scalar("", texts.arrow.type)))


def _lines(pieces: Iterable[Piece]) -> Texts:
    """JSON of every row, and a comma after each."""
    literal, joined = "", []
    for piece in [*pieces, ","]:
        if isinstance(piece, str):
            literal += piece
            continue
        is_bare = isinstance(piece, Texts) and piece.is_plain
        joined += [literal + '"' * is_bare] if literal or is_bare else []
        literal = '"' * is_bare
        if isinstance(piece, Texts):
            piece = piece.arrow if is_bare else piece.json
        joined.append(piece)
    return Texts(_join([*joined, literal]))


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.LargeStringArray:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
