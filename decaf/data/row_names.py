"""Names that a column gives to rows: ids, labels, sources, splits, groups, pair types."""

from collections.abc import Collection, Iterator

import numpy as np

from decaf.data.frame_libraries import LIBRARIES, Frame
from decaf.data.missing_words import ReadTable
from decaf.data.pairs import PairSet
from decaf.data.table_files import as_text
from decaf.data.texts import Texts
from decaf.errors import MOST_KNOWN, DataError, abridge
from decaf.foundation.names import quote

NO_VALUE = "(no value)"
"""Name of the group of rows without a value."""


def names_of_rows(
    frame: Frame, column: str, expected: str = "a name", missing: str | None = None
) -> Texts:
    """Values of a column as names, with ``missing`` for each missing value.

    Raises DataError, with the row from 1, for a missing value if ``missing`` is None. ``expected``
    says in the message what each row should have.
    """
    if column not in frame:
        raise DataError(f"the counterfactuals lack the column {column!r}; add it")
    series = frame[column]
    gaps = np.flatnonzero(series.isna())
    if gaps.size and missing is None:
        raise DataError(
            f"column {column!r} has no value in row {gaps[0] + 1}; expected {expected} in every row"
        )
    library = LIBRARIES["pandas"]
    if not gaps.size and library.kind(series) == "whole":
        is_signed = "uint" not in library.dtype(series).lower()
        return Texts.numbers(series.to_numpy(np.int64 if is_signed else np.uint64))
    if not gaps.size and library.content(series) == "string":
        return Texts(series.tolist())
    if gaps.size:
        series = series.astype(object).where(series.notna(), missing)
    return Texts(str(as_text(value)) for value in series.tolist())


def remark_numbers(table: ReadTable, used: Collection[str | None]) -> Iterator[str]:
    """Remark on used columns of numbers that lost leading zeros, or whose points may be marks."""
    for name, text in table.zeros.items():
        if name in used:
            yield (
                f"column {quote(name)} is read as numbers without leading zeros, so {text} is "
                f"{int(text)}: set 'dtypes: {{{name}: str}}' to keep the zeros"
            )
    for name, text in table.thousands.items():
        if name in used:
            yield (
                f"column {quote(name)} is read as decimals, but nearly all values have three "
                f"digits after the point, such as {text}: if points separate thousands, save the "
                f"table without them; if not, set 'dtypes: {{{name}: float64}}'"
            )


def refuse_doubled(names: Texts, what: str, remedy: str) -> None:
    """Raise DataError if a name occurs twice."""
    if names.first_duplicate is not None:
        raise DataError(f"{what}{names.first_duplicate}; {remedy}")


def refuse_similar_types(pairs: PairSet) -> None:
    """Raise DataError for pair types that differ only in capitals or spaces.

    Types of removed features do not count: columns of a table may differ so little.
    """
    changes = np.flatnonzero(pairs.pairs.features == 0)
    spellings: dict[str, list[str]] = {}
    for name, count in pairs.pairs.pair_types.take(changes).counts().items():
        spellings.setdefault(" ".join(name.split()).casefold(), []).append(
            f"{quote(name)} ({count:,})"
        )
    similar = [name for names in spellings.values() if len(names) > 1 for name in names]
    if similar:
        raise DataError(
            "pair types that differ only in capitals or spaces (and their pairs): "
            f"{abridge(similar, MOST_KNOWN)}; expected one name for each kind of change, since "
            "results are grouped by type: correct the names in the data"
        )
