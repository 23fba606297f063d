"""What tables are made of: their columns, and those that several of them share."""

from typing import NamedTuple

import pyarrow as pa

SCHEMA_VERSION = 1
"""Version of the layout and of every table; a warehouse of a newer version is refused."""

TEXT = pa.string()
REAL = pa.float64()
COUNT = pa.int64()
FLAG = pa.bool_()
TIME = pa.timestamp("us", tz="UTC")
STAGES = pa.list_(pa.field("item", REAL, nullable=False))
NAMES = pa.list_(pa.field("item", TEXT, nullable=False))
SQL_TYPES = {
    TEXT: "VARCHAR",
    REAL: "DOUBLE",
    COUNT: "BIGINT",
    FLAG: "BOOLEAN",
    TIME: "TIMESTAMPTZ",
    STAGES: "DOUBLE[]",
    NAMES: "VARCHAR[]",
}
"""How DuckDB calls them."""


class Column(NamedTuple):
    """One column: its name, Arrow type, meaning (with unit), and whether it may be NULL."""

    name: str
    type: pa.DataType
    doc: str
    nullable: bool = False


class Table(NamedTuple):
    """One table: what it holds, what a row is, what identifies it, how its files are partitioned.

    ``paper`` names the sections of the paper that its rows are of.
    """

    name: str
    purpose: str
    grain: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    partition: tuple[str, ...] = ("study",)
    paper: str = "none"

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of a file of this table, without the partition columns."""
        return pa.schema(
            [pa.field(c.name, c.type, nullable=c.nullable) for c in self.columns],
            metadata={"decaf.table": self.name, "decaf.schema_version": str(SCHEMA_VERSION)},
        )


UNIT_KEY = Column("unit_key", TEXT, "the unit of work: digest of everything that determines it")
PAIR_ID = Column("pair_id", TEXT, "the pair, unique in its study")
RUN_ID = Column("run_id", TEXT, "the run: digest of the plan that it carries out")
PATH = Column("path", TEXT, "name of the reveal path in the study")
REPETITION = Column("repetition", COUNT, "repetition of a random path, from 0")
