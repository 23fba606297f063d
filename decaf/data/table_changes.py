"""Changes of columns that make the counterfactual of a row."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.frame_columns import Column
from decaf.data.frame_libraries import Category
from decaf.data.frames import MISSING, FrameSchema
from decaf.errors import DataError, suggestion
from decaf.foundation.settings import LARGEST_SEED, Settings, fault, setting

HELD = {"truth": "true and false", "category": "categories"}
"""Values of columns that cannot be multiplied or added to, by their kind."""
Groups = Callable[[str], NDArray[np.int64]]
"""Name of any column of the table → (n,) number of the group that each row belongs to."""


class Permuted(Settings):
    """A column whose values change places among the rows of a group."""

    column: str = Field(description="column whose values are shuffled")
    within: str | None = Field(
        None,
        description="shuffle only among rows with equal values in this column; when absent, "
        "among all rows",
    )
    seed: int = Field(0, ge=0, le=LARGEST_SEED, description="seed of the permutation")


class Change(Settings):
    """Changes of a row, in this order: `set`, `multiply`, `add`, `swap`, `permute`."""

    set: dict[str, bool | int | float | str | None] = Field(
        {}, description="value by column; `null` makes it missing"
    )
    multiply: dict[str, float] = Field(
        {},
        description="factor by column; products of whole numbers are rounded, halves to the even "
        "number",
    )
    add: dict[str, float] = Field({}, description="number that is added, by column")
    swap: tuple[str, str] | None = Field(
        None, description="two columns of one type that exchange their values"
    )
    permute: Permuted | None = Field(
        None,
        description="mapping of `column`, `within` and `seed`: shuffles the values of the column",
    )

    @model_validator(mode="after")
    def _changes_something(self) -> "Change":
        if not (self.set or self.multiply or self.add or self.swap or self.permute):
            raise fault("it changes nothing; give 'set', 'multiply', 'add', 'swap' or 'permute'")
        return self

    @np.errstate(over="ignore")  # refused below
    def apply(
        self, columns: FrameSchema, parts: Sequence[NDArray[Any]], groups: Groups
    ) -> list[NDArray[Any]]:
        """Apply the change to packed rows; missing numbers stay missing.

        Unchanged columns are those of ``parts``. Raises SettingError when a column is missing or
        its type does not allow the change, and DataError for numbers that rows cannot hold.
        """
        changed = [*parts]
        for name, value in self.set.items():
            with setting("set", name):
                place = _place(columns, name)
                packed = _pack_value(columns.columns[place], value)
                changed[place] = np.full_like(changed[place], packed)
        for key, numbers in (("multiply", self.multiply), ("add", self.add)):
            for name, number in numbers.items():
                with setting(key, name):
                    place = _place(columns, name)
                    changed[place] = _move_numbers(
                        key, columns.columns[place], changed[place], number
                    )
        if self.swap:
            with setting("swap"):
                first, second = _columns_to_swap(columns, self.swap)
            changed[first], changed[second] = changed[second], changed[first]
        if self.permute:
            with setting("permute", "column"):
                place = _place(columns, self.permute.column)
            with setting("permute", "within"):
                donors = _permutation(self.permute, len(parts[0]), groups)
            changed[place] = changed[place][donors]
        for part in changed:
            if not np.isfinite(part).all():
                raise DataError(
                    f"a change makes values that {part.dtype} cannot hold; expected smaller numbers"
                )
        return changed


def share_missing(columns: FrameSchema, changes: Iterable[Change]) -> FrameSchema:
    """Let both columns of each swap have missing values if one of them has."""
    by_name = {column.name: column for column in columns.columns}
    for change in changes:
        swapped = [by_name[name] for name in change.swap or () if name in by_name]
        markers = {column.missing for column in swapped} - {None}
        if len(markers) == 1:
            (marker,) = markers
            by_name |= {column.name: replace(column, missing=marker) for column in swapped}
    return replace(columns, columns=tuple(by_name.values()))


def _place(columns: FrameSchema, name: str) -> int:
    names = [column.name for column in columns.columns]
    if name not in names:
        raise DataError(f"the table has no input {name!r}{suggestion(name, names)}")
    return names.index(name)


def _pack_value(column: Column, value: Category | None) -> int | list[float]:
    """Part of a packed row that stands for one value of a column."""
    if column.categories:
        if value is not None and value not in column.categories:
            raise DataError(
                f"'set' gives column {column.name!r} the value {value!r}, which no row has"
                f"{suggestion(str(value), map(str, column.categories))}; if the model knows it, "
                "name all values under 'categories:'"
            )
        return MISSING if value is None else column.categories.index(value)
    if value is None:
        if column.missing is None:
            raise DataError(
                f"'set' makes column {column.name!r} missing, but no row lacks it; expected a value"
            )
        return [0.0, 0.0]
    if isinstance(value, str) or isinstance(value, bool) != (column.kind == "truth"):
        raise DataError(f"'set' gives column {column.name!r} {value!r}; expected {column.dtype}")
    number = _fitting(column, np.array([float(value)]))[0]
    return [number] if column.missing is None else [number, 1.0]


def _move_numbers(
    key: str, column: Column, part: NDArray[np.floating], number: float
) -> NDArray[np.floating]:
    """(n, 1 or 2) numbers of a column, multiplied or added to; 0 where they are missing."""
    if column.kind not in ("number", "whole"):
        raise DataError(
            f"'{key}' names column {column.name!r}, which holds {HELD[column.kind]}; expected "
            "numbers"
        )
    values = part[:, 0].astype(np.float64)
    if key == "multiply":
        values = values * number
        values = np.rint(values) if column.kind == "whole" else values
        values += 0.0  # no negative zero
    else:
        values += number if column.missing is None else part[:, 1] * number
    moved = part.copy()
    moved[:, 0] = _fitting(column, values)
    return moved


def _columns_to_swap(columns: FrameSchema, names: tuple[str, str]) -> tuple[int, int]:
    """Places of two columns of one type; raises DataError for others."""
    first, second = (_place(columns, name) for name in names)
    first_column, second_column = columns.columns[first], columns.columns[second]
    if replace(first_column, name="") != replace(second_column, name=""):
        raise DataError(
            f"'swap' names {first_column.name!r} ({first_column.dtype}) and "
            f"{second_column.name!r} ({second_column.dtype}); expected two columns of one type, "
            "with the same categories: give them the same 'dtypes:' or 'categories:'"
        )
    return first, second


def _fitting(column: Column, values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Values that the column's type holds; raises DataError for others."""
    if column.kind == "whole":
        low, high = column.limits
        wrong = values[(values % 1 != 0) | (values < low) | (values > high)]
        if wrong.size:
            raise DataError(
                f"a change gives column {column.name!r} the value {wrong[0]:g}; expected whole "
                f"numbers of {column.dtype}: correct the change, or declare "
                f"'dtypes: {{{column.name}: float64}}'"
            )
    return values


def _permutation(permuted: Permuted, count: int, groups: Groups) -> NDArray[np.int64]:
    """(n,) row that each row takes the value of."""
    group = np.zeros(count, int) if permuted.within is None else groups(permuted.within)
    order = np.argsort(group, kind="stable")
    rng, permutation = np.random.default_rng(permuted.seed), np.empty(count, np.int64)
    for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        permutation[members] = rng.permutation(members)
    return permutation
