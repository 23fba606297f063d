"""Describe a view, macro or check: its header, its columns, and a first query."""

import re
from typing import NamedTuple

import duckdb

from decaf.errors import UnknownName
from warehouse.query.views import CHECKS, View, views

SIGNATURE = re.compile(r"\bMACRO (\w+\([^)]*\))")
MACRO_NAME = re.compile(r"\bMACRO (\w+)\(")
HEADER_EXAMPLE = re.compile(r"^-- ((?:FROM|SELECT) .+)$", re.MULTILINE)
COLUMNS_OF_EXAMPLE = 6
OWN_RELATION = "'my_"
"""Prefix of relations in examples that readers replace with their own."""


class Description(NamedTuple):
    """Description of one file of ``sql/``; ``columns`` are names with DuckDB's types."""

    view: View
    columns: tuple[tuple[str, str], ...]
    signatures: tuple[str, ...]
    """Signatures of its macros; none for a view."""
    example: str | None
    """A query that runs as it is, or on the reader's relation ``my_…``; None for scalar macros and
    checks."""


def describe_view(connection: duckdb.DuckDBPyConnection, name: str) -> Description:
    """Describe one view, table macro or check; for a macro, all macros of its file.

    Raises UnknownName, with the nearest name, when there is no such view or macro.

    Example
    -------
    >>> with connect_empty() as connection:
    ...     describe_view(connection, "out_path_ratios").columns[0]
    ('study', 'VARCHAR')
    """
    macros = {macro: view for view in views() for macro in MACRO_NAME.findall(view.sql)}
    by_name = macros | {view.name: view for view in views()}
    if name not in by_name:
        raise UnknownName.among("view", name, by_name)
    view = by_name[name]
    signatures = tuple(" ".join(call.split()) for call in SIGNATURE.findall(view.sql))
    in_header = HEADER_EXAMPLE.search(view.sql)
    example = in_header[1] if in_header else None
    if view.folder == CHECKS:
        rows = connection.sql(view.sql)
    elif not signatures:
        rows = connection.view(name)
        example = example or _first_columns(name, rows.columns)
    elif example and OWN_RELATION not in example:
        rows = connection.sql(example)
    else:
        return Description(view, (), signatures, example)
    columns = tuple(zip(rows.columns, map(str, rows.types), strict=True))
    return Description(view, columns, signatures, example)


def _first_columns(name: str, columns: list[str]) -> str:
    return f"SELECT {', '.join(columns[:COLUMNS_OF_EXAMPLE])} FROM {name} LIMIT 10"
