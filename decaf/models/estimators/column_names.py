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
"""Name that only numbers a column: ``12``, ``f0``, ``Column_0``."""
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

    Raises ValueError if the columns cannot be matched; its message completes "the model …".
    """
    if by_position:
        return _by_position(fitted, table)
    matches = _by_name(fitted, table)
    if None not in matches:
        return Match([str(column) for column in matches], list(fitted), "")
    if len(fitted) == len(table) and are_generic(fitted) and not set(fitted) & set(table):
        return Match(list(table), list(fitted), _remark(fitted, table))
    lacking = [name for name, column in zip(fitted, matches, strict=True) if column is None]
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

    All columns, unchanged, if one is missing. Used for LightGBM, which ignores column names and so
    needs this order.
    """
    fitted = fitted_columns(estimator)
    matches = _by_name(fitted, table) if fitted else []
    return [name for name in matches if name] if matches and None not in matches else list(table)


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
    """Column of the table for each name of the fit; None if no single column matches."""
    unmatched = [column for column in table if column not in fitted]
    columns_by_plain_name: dict[str, list[str]] = {}
    for column in unmatched:
        columns_by_plain_name.setdefault(SPECIAL.sub("_", column), []).append(column)
    renamed = [SPECIAL.sub("_", name) for name in fitted if name not in table]

    def column_of(name: str) -> str | None:
        if name in table:
            return name
        key = SPECIAL.sub("_", name)
        columns = columns_by_plain_name.get(key, [])
        return columns[0] if len(columns) == 1 and renamed.count(key) == 1 else None

    return [column_of(name) for name in fitted]


def _by_position(fitted: Sequence[str], table: Sequence[str]) -> Match:
    if len(fitted) != len(table):
        raise ValueError(
            f"was fitted on {number_of(len(fitted), 'column')}, and the table has "
            f"{len(table)} ({abridge(table)}), so '{BY_POSITION}' is impossible: drop the columns "
            "that the model does not use with 'drop:', or list the model's columns under 'inputs:' "
            "in the model's order"
        )
    moved = [name for name, column in zip(fitted, table, strict=True) if name != column]
    if strays := [name for name in moved if name in table]:
        raise ValueError(
            f"was fitted on the columns {abridge(fitted)}; the table has {abridge(strays)}, too, "
            f"but at another position, so '{BY_POSITION}' would mix them up: remove that key, or "
            "put 'inputs:' of the data in the model's order"
        )
    return Match(list(table), list(fitted), _remark(fitted, table) if moved else "")


def _remark(fitted: Sequence[str], table: Sequence[str]) -> str:
    pairs = [f"{name} is {column}" for name, column in zip(fitted, table, strict=True)]
    return (
        f"columns of the model are matched with those of the table by position: {abridge(pairs, 8)}"
    )


def _complaint(fitted: Sequence[str], table: Sequence[str], lacking: list[str]) -> str:
    text = (
        f"was fitted on the columns {abridge(fitted)}; the table lacks {abridge(lacking)}"
        f"{suggestion(lacking[0], table)}"
    )
    if len(fitted) != len(table):
        return text
    return (
        f"{text}. If the table has the same columns in this order under other names, add "
        f"'{BY_POSITION}' to the model's card"
    )
