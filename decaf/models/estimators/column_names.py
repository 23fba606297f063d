"""Find the columns of a table that an estimator was fitted on, by name or by position.

Columns match by equal names, else by names that differ only in special characters: LightGBM writes
``own_income`` for ``own income``. Names that libraries give to the columns of an array
(``Column_0``, ``f0``, ``x0``) match by position if the table has as many columns. Other names match
by position if the card says so.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from decaf.errors import abridge, number_of, suggestion

GENERIC_NAME = re.compile(r"(column_|feature_?|col_?|[cfvx])?(\d+)", re.IGNORECASE)
"""Name of a column that has only its number."""
SPECIAL = re.compile(r"\W")
BY_POSITION = "columns: by_position"


class Match(NamedTuple):
    """Columns of a table in the order of a model, under the names of the model."""

    columns: list[str]
    """Names in the table."""
    names: list[str]
    """Names in the model."""
    remark: str
    """Remark that columns were matched by position; empty if they were matched by name."""


def match_columns(fitted: Sequence[str], table: Sequence[str], *, by_position: bool) -> Match:
    """Find the columns of a table that a model was fitted on.

    Raises ValueError, with the names that the table lacks, when names do not identify the
    columns.
    """
    if by_position:
        return _by_position(fitted, table)
    named = _by_name(fitted, table)
    if None not in named:
        return Match([str(name) for name in named], list(fitted), "")
    if len(fitted) == len(table) and are_generic(fitted) and not set(fitted) & set(table):
        return Match(list(table), list(fitted), _remark(fitted, table))
    lacking = [name for name, column in zip(fitted, named, strict=True) if column is None]
    raise ValueError(_complaint(fitted, table, lacking))


def fitted_columns(estimator: Any) -> list[str] | None:
    """Names of the columns that an estimator was fitted on; None if it was fitted on an array.

    scikit-learn, CatBoost and LightGBM's boosters store them under different names.
    """
    for name in ("feature_names_in_", "feature_names_", "feature_name"):
        columns = getattr(estimator, name, None)
        if columns is not None:
            return list(map(str, columns() if callable(columns) else columns))
    return None


def fitted_order(estimator: Any, table: Sequence[str]) -> list[str]:
    """Columns of a table that an estimator was fitted on, in the order of the fit.

    All columns of the table, unchanged, if it lacks a name of the fit. LightGBM takes columns by
    position under any names.
    """
    fitted = fitted_columns(estimator)
    named = _by_name(fitted, table) if fitted else []
    return [name for name in named if name] if named and None not in named else list(table)


def are_generic(names: Sequence[str]) -> bool:
    """True if names only count the columns, in order: ``f0``, ``f1``, or ``V1``, ``V2``."""
    parts = [GENERIC_NAME.fullmatch(name) for name in names]
    if not all(parts):
        return False
    prefixes = {part[1] for part in parts if part}
    numbers = [int(part[2]) for part in parts if part]
    return len(prefixes) == 1 and numbers in (
        list(range(len(names))),
        list(range(1, len(names) + 1)),
    )


def _by_name(fitted: Sequence[str], table: Sequence[str]) -> list[str | None]:
    """Column of the table for each name; None if no column, or more than one, matches."""
    free = [column for column in table if column not in fitted]
    plain: dict[str, list[str]] = {}
    for column in free:
        plain.setdefault(SPECIAL.sub("_", column), []).append(column)
    renamed = [SPECIAL.sub("_", name) for name in fitted if name not in table]

    def column_of(name: str) -> str | None:
        if name in table:
            return name
        key = SPECIAL.sub("_", name)
        columns = plain.get(key, [])
        return columns[0] if len(columns) == 1 and renamed.count(key) == 1 else None

    return [column_of(name) for name in fitted]


def _by_position(fitted: Sequence[str], table: Sequence[str]) -> Match:
    if len(fitted) != len(table):
        raise ValueError(
            f"was fitted on {number_of(len(fitted), 'column')}, and the table has "
            f"{len(table)} ({abridge(table)}), so '{BY_POSITION}' is impossible: name the columns "
            "that it was not fitted on under 'drop:', or its columns under 'inputs:', in its order"
        )
    moved = [name for name, column in zip(fitted, table, strict=True) if name != column]
    if strays := [name for name in moved if name in table]:
        raise ValueError(
            f"was fitted on the columns {abridge(fitted)}; the table has {abridge(strays)} at "
            f"another position, which '{BY_POSITION}' contradicts: leave that key out, or put "
            "'inputs:' of the data in the model's order"
        )
    return Match(list(table), list(fitted), _remark(fitted, table) if moved else "")


def _remark(fitted: Sequence[str], table: Sequence[str]) -> str:
    pairs = [f"{name} is {column}" for name, column in zip(fitted, table, strict=True)]
    return f"columns of the table are taken by position: {abridge(pairs, 8)}"


def _complaint(fitted: Sequence[str], table: Sequence[str], lacking: list[str]) -> str:
    text = (
        f"was fitted on the columns {abridge(fitted)}; the table lacks {abridge(lacking)}"
        f"{suggestion(lacking[0], table)}"
    )
    if len(fitted) != len(table):
        return text
    return f"{text}. If the table has them in this order under other names, add '{BY_POSITION}'"
