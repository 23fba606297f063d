"""Create tables of a connection from rows."""

from collections.abc import Mapping, Sequence

import duckdb
import numpy as np

TYPES = {
    "VARCHAR": np.object_,
    "TIMESTAMPTZ": np.object_,  # as text
    "BIGINT": np.int64,
    "BOOLEAN": np.bool_,
}


def create_table(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Mapping[str, str],
    rows: Sequence[tuple] = (),
) -> None:
    """Create or replace a table with these rows."""
    types = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({types})")
    if rows:
        # Arrays by column take a fifth of the time of parameters.
        arrays = {
            name: np.array(values, TYPES[type_])
            for (name, type_), values in zip(columns.items(), zip(*rows, strict=True), strict=True)
        }
        connection.register("inserted_rows", arrays)
        connection.execute(f"INSERT INTO {table} FROM inserted_rows")
        connection.unregister("inserted_rows")
