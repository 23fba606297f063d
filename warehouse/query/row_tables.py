"""Tables of a connection that are made of rows."""

from collections.abc import Iterable, Mapping, Sequence

import duckdb
import numpy as np
import pyarrow as pa

from warehouse.query.arrow_memory import given, texts

NUMBERS = {"BIGINT": np.int64, "BOOLEAN": np.uint8}


def create_table(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[tuple] = (),
) -> None:
    """Create a table with these rows, whatever it was before."""
    types = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({types})")
    insert(connection, table, columns, rows)


def insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[tuple],
) -> None:
    """Insert rows as columns of Arrow, which takes a fifth of what parameters do."""
    if rows:
        arrays = [
            _array(type_, values)
            for type_, values in zip(columns.values(), zip(*rows, strict=True), strict=True)
        ]
        connection.from_arrow(pa.Table.from_arrays(arrays, names=[*columns])).insert_into(table)


def _array(type_: str, values: Iterable) -> pa.Array:
    if type_ == "VARCHAR":
        return texts(values)
    return given(np.array(values, NUMBERS[type_]))
