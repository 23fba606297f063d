"""Convert data frames to plain arrays, which paths reveal, and back, for fitted models.

Paths and planner work on real numbers (n, width). A model that was fitted on a frame is called with
frames. :class:`FrameSchema` converts between the two, column by column; "back" means from numbers
to a frame:

* a **number** is one value, unchanged;
* a **whole** number is one value; back, it is rounded, halves to the even number, and kept within
  its dtype and ±2^53;
* a **truth** value is 0 or 1; back, it is true from 0.5 on;
* a **category** (text, pandas' and polars' categorical types) is a block with one value for each
  category: 1 for its own category, 0 for the others; a missing category has only zeros. Back, it is
  missing if the sum of the block is below 0.5, else it is the category with the largest value, or
  the first of several such categories;
* a number, whole number or truth value of a column with missing values has a second value: 1 if it
  is present, 0 if it is missing; the first value of a missing one is 0. Back, it is missing if the
  second value is below 0.5, else it is the first value divided by the second.

Each rule uses only the values of one row. The two branches of a pair share their start, so there
both are decoded to the same row. From the first stage on, each branch shows its own category and
its own missing values, while numbers change gradually. Because of the division, a number whose
counterfactual is missing stays the same: half of 40,000, half present, is 40,000.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.data.frame_columns import WHOLE, Column, plain_name
from decaf.data.frame_decoding import DistinctRows, FrameDecoder
from decaf.data.frame_libraries import LIBRARIES, Category, Frame, Library
from decaf.errors import DataError, abridge
from decaf.foundation.arrays import EXACT

MOST_CATEGORIES = 1000
"""Most categories of one column: each is a value of every row."""
MISSING = -1
"""Category number of a missing category in a packed row."""


@dataclass(frozen=True)
class FrameSchema:
    """The columns of a frame, in their order, and its library.

    Examples
    --------
    >>> age = Column("age", "int64", "whole")
    >>> job = Column("job", "str", "category", ("cook", "smith"), missing="nan")
    >>> FrameSchema("pandas", (age, job)).regions.tolist()
    [1, 2, 2]
    """

    library: Literal["pandas", "polars"]
    columns: tuple[Column, ...]

    @classmethod
    def of(cls, *frames: Frame) -> "FrameSchema":
        """Describe frames with the same columns: the factual frame and its counterfactuals.

        Columns come in the order of the first frame; text has the categories of all frames,
        sorted. Raises DataError, naming the column, when frames differ in library, columns, types
        or declared categories, or a column is neither of numbers, truth values, text nor
        categories, has no value at all, has more than 1,000 categories, or marks missing values in
        two ways.
        """
        names = {library_of(frame) for frame in frames}
        name = names.pop()
        if names or name is None:
            libraries = abridge(sorted({f"{type(frame).__module__}" for frame in frames}))
            raise DataError(f"frames are of {libraries}; expected all of pandas, or all of polars")
        library = LIBRARIES[name]
        titles = _titles(frames[0])
        for frame in frames[1:]:
            _check_titles(titles, _titles(frame))
        return cls(
            name,
            tuple(
                _describe_column(library, title, [frame[title] for frame in frames])
                for title in titles
            ),
        )

    @property
    def width(self) -> int:
        """Number of values of a row."""
        return sum(column.width for column in self.columns)

    @property
    def value_type(self) -> type[np.floating]:
        """float32 if all columns are float32, else float64."""
        is_single = all(column.dtype.lower() == "float32" for column in self.columns)
        return np.float32 if is_single and not self.non_number_names else np.float64

    @property
    def non_number_names(self) -> list[str]:
        """Columns that are not one number each; without any, a model can take the array itself."""
        return [
            column.name
            for column in self.columns
            if column.categories or column.missing is not None
        ]

    @cached_property
    def regions(self) -> NDArray[np.int64]:
        """(width,) number of the column that each value belongs to, from 1: features to remove."""
        return np.repeat(np.arange(1, len(self.columns) + 1), [c.width for c in self.columns])

    @property
    def identity(self) -> dict[str, Any]:
        """The whole schema as JSON."""
        return asdict(self)

    def encode(self, frame: Frame) -> NDArray[np.floating]:
        """(n, width) values of a frame's rows, of :attr:`value_type`.

        Raises DataError as :meth:`pack`.
        """
        return self.spread(self.pack(frame))

    def pack(self, frame: Frame) -> list[NDArray[Any]]:
        """Rows of a frame in little memory, a part for each column, as :meth:`spread` takes them.

        A part is (n,) int16 category numbers, -1 where missing, or (n, 1 or 2) values of numbers.
        Columns are found by name. Raises DataError, naming the column, when the frame is of another
        library, has other columns or types, categories that the schema does not list, missing
        values in a column without any, infinite numbers, or whole numbers from 2^53 on.
        """
        if library_of(frame) != self.library:
            raise DataError(f"the rows are {type(frame)}; expected a frame of {self.library}")
        library = LIBRARIES[self.library]
        _check_titles([column.name for column in self.columns], _titles(frame))
        parts = [_pack_column(library, column, frame[column.name]) for column in self.columns]
        both = zip(self.columns, parts, strict=True)
        return [part if c.categories else part.astype(self.value_type) for c, part in both]

    def spread(self, parts: Sequence[NDArray[Any]]) -> NDArray[np.floating]:
        """(n, width) values of packed rows."""
        values = np.zeros((len(parts[0]), self.width), self.value_type)
        rows, first = np.arange(len(values)), 0
        for column, part in zip(self.columns, parts, strict=True):
            if column.categories:
                is_present = part != MISSING
                values[rows[is_present], first + part[is_present]] = 1
            else:
                values[:, first : first + column.width] = part
            first += column.width
        return values

    def decode(self, values: ArrayLike) -> Frame:
        """Decode (n, width) values to a frame with the column types of the described table.

        Raises DataError when the values have another shape.
        """
        return self._decoder.frame(self._check_values(values))

    def decode_distinct(
        self, values: ArrayLike, groups: NDArray[np.int64] | None = None
    ) -> DistinctRows:
        """Decode as :meth:`decode` does, each distinct row once.

        Different values give the same row if rounding makes numbers equal and categories stay the
        same. Rows of different ``groups`` (n,) stay apart. Raises DataError when the
        values have another shape.
        """
        return self._decoder.distinct(self._check_values(values), groups)

    @cached_property
    def _decoder(self) -> FrameDecoder:
        return FrameDecoder(LIBRARIES[self.library], self.columns)

    def _check_values(self, values: ArrayLike) -> NDArray[Any]:
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != self.width:
            raise DataError(
                f"values have shape {values.shape}; expected (rows, {self.width}) for the columns "
                f"{abridge([column.name for column in self.columns])}"
            )
        return values


def library_of(values: Any) -> Literal["pandas", "polars"] | None:
    """Name of the library whose frame it is; None for anything else. No library is imported."""
    name = type(values).__module__.partition(".")[0]
    is_frame = name in LIBRARIES and type(values).__name__ == "DataFrame"
    return cast('Literal["pandas", "polars"]', name) if is_frame else None


def _titles(frame: Frame) -> list[str]:
    titles = list(frame.columns)
    for title in titles:
        if not isinstance(title, str) or titles.count(title) > 1:
            raise DataError(
                f"the frame has a column {title!r}; expected names that are text, each once: "
                "rename it"
            )
    return titles


def _check_titles(expected: Iterable[str], found: Iterable[str]) -> None:
    lacks, strange = set(expected) - set(found), set(found) - set(expected)
    if lacks or strange:
        raise DataError(
            "the columns of the frame differ from the expected ones: missing "
            f"{abridge(sorted(lacks)) or 'none'}, unexpected {abridge(sorted(strange)) or 'none'}"
            "; give every frame the same columns"
        )


def _describe_column(library: Library, name: str, parts: list[Any]) -> Column:
    dtypes = list(dict.fromkeys(library.dtype(part) for part in parts))
    if len(dtypes) > 1:
        raise _fault(name, f"is {dtypes[0]} in one frame and {dtypes[1]} in another", "one type")
    kind = library.kind(parts[0])
    if kind is None or (kind == "whole" and plain_name(dtypes[0]) not in WHOLE):
        raise _fault(
            name,
            f"holds {library.content(parts[0])}",
            "numbers, truth values, text or categories: convert or drop it",
        )
    markers = sorted({marker for part in parts for marker in library.markers(part)})
    if len(markers) > 1:
        raise _fault(name, "has both None and NaN for missing values", "one of them")
    missing = markers[0] if markers else None
    if kind != "category":
        return Column(name, dtypes[0], kind, missing=missing)
    declared = [library.declared_categories(part) for part in parts]
    if len(set(declared)) > 1 and None not in declared:
        remedy = f"the same, as {library.recategorize(name)} has"
        raise _fault(name, "has other categories in one frame than in another", remedy)
    if declared[0] is None:
        values = {value for part in parts for value in library.encode(part)[1]}
        categories, is_ordered = tuple(sorted(values)), False
    else:
        categories, is_ordered = declared[0]
    if not 1 <= len(categories) <= MOST_CATEGORIES:
        raise _fault(
            name,
            f"has {len(categories):,} categories",
            f"1 to {MOST_CATEGORIES:,}: drop it, or put its values into fewer groups",
        )
    for value in categories:
        if not isinstance(value, str | int | float):
            raise _fault(name, f"has the category {value!r}", "text, numbers or truth values")
    return Column(name, dtypes[0], kind, categories, is_ordered, missing)


def _pack_column(library: Library, column: Column, series: Any) -> NDArray[Any]:
    if library.dtype(series) != column.dtype:
        raise _fault(column.name, f"is {library.dtype(series)}", column.dtype)
    if column.categories:
        codes, values = library.encode(series)
        places: Mapping[Category, int] = {v: n for n, v in enumerate(column.categories)}
        if strange := set(values) - places.keys():
            raise _fault(
                column.name,
                f"has the value {min(strange, key=str)!r}",
                f"one of {abridge(list(map(str, column.categories)))}",
            )
        return np.array([*(places[value] for value in values), MISSING], np.int16)[codes]
    is_missing = library.missing(series)
    if is_missing.any() and column.missing is None:
        row = int(np.flatnonzero(is_missing)[0])
        raise _fault(column.name, f"has no value in row {row + 1}", "a value in every row")
    numbers = np.where(is_missing, 0.0, library.numbers(series))
    wrong = ~np.isfinite(numbers)
    if column.kind == "whole":
        wrong |= np.abs(numbers) >= EXACT
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise _fault(
            column.name,
            f"is {numbers[row]:g} in row {row + 1}",
            "finite numbers, and whole ones below 2^53",
        )
    return numbers[:, None] if column.missing is None else np.stack([numbers, ~is_missing], axis=1)


def _fault(name: str, found: str, expected: str) -> DataError:
    return DataError(f"column {name!r} {found}; expected {expected}")
