"""Tables, their columns, and the types of columns."""

from typing import NamedTuple

import pyarrow as pa

SCHEMA_VERSION = 1
"""Version of the layout and of every table; a warehouse of another version is refused."""

TEXT = pa.string()
REAL = pa.float64()
STAGES = pa.list_(pa.field("item", REAL, nullable=False))
SQL_TYPES = {
    TEXT: "VARCHAR",
    pa.binary(): "BLOB",
    REAL: "DOUBLE",
    pa.int64(): "BIGINT",
    pa.bool_(): "BOOLEAN",
    pa.timestamp("us", tz="UTC"): "TIMESTAMPTZ",
    STAGES: "DOUBLE[]",
    pa.list_(pa.field("item", TEXT, nullable=False)): "VARCHAR[]",
}
"""DuckDB's names of the types of columns."""


class Column(NamedTuple):
    """One column: its name, Arrow type, meaning (with unit), and whether it may be NULL."""

    name: str
    type: pa.DataType
    doc: str
    nullable: bool = False


class Table(NamedTuple):
    """One table: its purpose, the grain and key of its rows, and the partition of its files.

    ``paper`` names the sections of the paper that define its rows.
    """

    name: str
    purpose: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    partition: tuple[str, ...]
    paper: str

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of a file of this table, without the partition columns."""
        return pa.schema(
            [pa.field(c.name, c.type, nullable=c.nullable) for c in self.columns],
            metadata={"decaf.table": self.name, "decaf.schema_version": str(SCHEMA_VERSION)},
        )
