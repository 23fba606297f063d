"""Compare the tables of two warehouses."""

from collections.abc import Collection, Sequence
from pathlib import Path

from warehouse.query.catalog import connect
from warehouse.storage import Root
from warehouse.tables.declarations import TABLES

MOMENTS = {"worker", "device", "peak_memory_bytes"}
"""Columns that differ from run to run, besides timestamps and seconds."""


def differences(
    one: Root, other: Root, apart_from: Collection[str] = (), folders: Sequence[Path] = ()
) -> list[str]:
    """Tables that are not the same, row for row, without moments, seconds and some columns.

    Of texts, the name of the folder of either warehouse is left out: models are named by their
    place.
    """
    found = []
    with connect(one) as here, connect(other) as there:
        for name, table in TABLES.items():
            kept = [
                f'"{column.name}"'
                for column in table.schema
                if not str(column.type).startswith("timestamp")
                and not column.name.endswith("_seconds")
                and column.name not in {*MOMENTS, *apart_from}
            ]
            query = f"SELECT {', '.join(kept)} FROM stg_{name} ORDER BY ALL"
            # NaN is itself in a text.
            rows = [repr(connection.execute(query).fetchall()) for connection in (here, there)]
            for folder in folders:
                rows = [text.replace(str(folder), "") for text in rows]
            if rows[0] != rows[1]:
                found.append(name)
    return found
