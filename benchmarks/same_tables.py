"""Compare the tables of two warehouses."""

from collections.abc import Collection, Sequence
from pathlib import Path

from warehouse.query.catalog import connect
from warehouse.storage import Root
from warehouse.tables.declarations import TABLES

MOMENTS = {"worker", "device", "peak_memory_bytes"}
"""Columns that differ from run to run, besides timestamps and seconds."""


def differences(
    first: Root, second: Root, apart_from: Collection[str] = (), folders: Sequence[Path] = ()
) -> list[str]:
    """Names of tables whose rows differ, apart from timestamps, seconds and given columns.

    Texts are compared without the names of ``folders``, since models are named by their path.
    """
    differing = []
    with connect(first) as first_connection, connect(second) as second_connection:
        for name, table in TABLES.items():
            column_names = [
                f'"{column.name}"'
                for column in table.schema
                if not str(column.type).startswith("timestamp")
                and not column.name.endswith("_seconds")
                and column.name not in {*MOMENTS, *apart_from}
            ]
            query = f"SELECT {', '.join(column_names)} FROM stg_{name} ORDER BY ALL"
            # NaN is itself in a text.
            connections = first_connection, second_connection
            rows = [repr(connection.execute(query).fetchall()) for connection in connections]
            for folder in folders:
                rows = [text.replace(str(folder), "") for text in rows]
            if rows[0] != rows[1]:
                differing.append(name)
    return differing
