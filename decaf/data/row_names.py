"""Names that a column gives to rows: ids, labels, sources, splits, groups."""

import numpy as np

from decaf.data.frame_libraries import Frame
from decaf.data.table_files import as_text
from decaf.errors import DataError


def names_of_rows(frame: Frame, column: str) -> list[str]:
    """Values of a column as names; raises DataError where a value is missing."""
    if column not in frame:
        raise DataError(f"the counterfactuals lack the column {column!r}; add it")
    gaps = np.flatnonzero(frame[column].isna())
    if gaps.size:
        raise DataError(f"column {column!r} has no value in row {gaps[0]}; expected a name in all")
    return [str(as_text(value)) for value in frame[column].tolist()]


def refuse_doubled(names: list[str], what: str, remedy: str) -> None:
    """Raise DataError if a name occurs twice."""
    earlier_names: set[str] = set()
    for name in names:
        if name in earlier_names:
            raise DataError(f"{what}{name}; {remedy}")
        earlier_names.add(name)
