"""Results as tables: one dict of columns behind pandas, polars, Arrow and the HTML of notebooks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from decaf.foundation.extras import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns = dict[str, NDArray[Any]]
"""Columns of one length by their names."""

SHOWN_ROWS = 5
"""Rows of a table in a notebook."""


class Tabular(ABC):
    """Results with a table in long form: one observation a row, one quantity a column."""

    @abstractmethod
    def to_columns(self) -> Columns:
        """The table as arrays by name, all of one length."""

    def to_pandas(self) -> "pd.DataFrame":
        """Return the table of :meth:`to_columns` as a pandas frame.

        Undefined numbers are NaN, in all libraries. Raises MissingPackage without pandas.
        """
        frame: pd.DataFrame = _library("pandas").DataFrame(self._plain())
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return the table as a polars frame; see :meth:`to_pandas`."""
        frame: pl.DataFrame = _library("polars").DataFrame(self._plain())
        return frame

    def to_arrow(self) -> "pa.Table":
        """Return the table as a pyarrow table; see :meth:`to_pandas`."""
        table: pa.Table = _library("pyarrow").table(self._plain())
        return table

    def _plain(self) -> dict[str, Any]:
        """Numbers as arrays; texts and objects as lists, which each library converts."""
        return {
            name: column.tolist() if column.dtype.kind in "OU" else column
            for name, column in self.to_columns().items()
        }

    def _repr_html_(self) -> str:
        columns = self.to_columns()
        count = len(next(iter(columns.values())))
        shown = zip(*(column[:SHOWN_ROWS].tolist() for column in columns.values()), strict=True)
        remark = f", the first {SHOWN_ROWS}" if count > SHOWN_ROWS else ""
        return html_table(f"{count} rows{remark}", list(columns), shown)


def stack_columns(parts: Iterable[Tabular]) -> Columns:
    """Stack tables with the same columns below each other; at least one table."""
    tables = [part.to_columns() for part in parts]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Table of HTML, escaped; the first cell of a row is its heading, floats have four digits."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr><th scope='row'>{_cell(first)}</th>"
        + "".join(f"<td>{_cell(value)}</td>" for value in cells)
        + "</tr>"
        for first, *cells in rows
    )
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def _library(name: str) -> Any:
    with optional():
        return import_module(name)
