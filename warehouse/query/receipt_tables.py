"""What all receipts say, as tables of a connection: a row for a receipt, a unit, a file or a name.

A large audit has hundreds of thousands of receipts. Each is parsed once, some thousand at a time,
and stays a row; tables of before are brought up to date by reading what was put since alone.
"""

import duckdb

from warehouse.commits import layout, receipts
from warehouse.commits.current import COMPACTIONS
from warehouse.query.row_tables import create_table, insert
from warehouse.query.views import query
from warehouse.storage import Entry, Storage

RECEIPTS = "receipt_objects"
"""The table with a row for every receipt: where it lies, and what it is of."""
TABLES = {
    RECEIPTS: {
        "path": "VARCHAR",
        "byte_count": "BIGINT",
        "modified_at": "VARCHAR",
        "kind": "VARCHAR",
        "study": "VARCHAR",
        "key": "VARCHAR",
        "model_id": "VARCHAR",
        "committed_at": "VARCHAR",
    },
    # Units of work whose rows are committed, and by which commit.
    "committed_units": {"study": "VARCHAR", "unit_key": "VARCHAR", "commit_key": "VARCHAR"},
    "committed_files": {
        "kind": "VARCHAR",
        "study": "VARCHAR",
        "key": "VARCHAR",
        "table_name": "VARCHAR",
        "path": "VARCHAR",
        "row_count": "BIGINT",
        "byte_count": "BIGINT",
        "sha256": "VARCHAR",
    },
    # Commits that compactions fold and withdrawals withdraw, as these name them.
    "named_commits": {
        "kind": "VARCHAR",
        "study": "VARCHAR",
        "key": "VARCHAR",
        "name": "VARCHAR",
        "committed_at": "VARCHAR",
    },
}
LISTED = {name: TABLES[RECEIPTS][name] for name in ("path", "byte_count", "modified_at")}
NAMING = (receipts.WITHDRAWALS, COMPACTIONS)
Rows = dict[str, list[tuple]]
"""Rows to insert, by table."""
AT_ONCE = 10_000
"""Receipts whose rows are made and inserted at a time."""


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the tables without rows."""
    for table, columns in TABLES.items():
        create_table(connection, table, columns)


def copy_tables(connection: duckdb.DuckDBPyConnection, database: str) -> None:
    """Create the tables as another database has them."""
    for table in TABLES:
        connection.execute(f"CREATE OR REPLACE TABLE {table} AS FROM {database}.{table}")


def name_receipts(connection: duckdb.DuckDBPyConnection) -> None:
    """Create ``receipts``, the view of the table that queries read."""
    connection.execute(f"CREATE OR REPLACE VIEW receipts AS {query('receipts/receipts')}")


def update_tables(connection: duckdb.DuckDBPyConnection, store: Storage) -> int:
    """Bring the tables up to the receipts that are there now; returns how many were read.

    A receipt is known by its place, size and moment. One that changed so lately that the next
    change may have the same moment has none in the table, and is read again each time.

    Raises WarehouseError when a receipt is damaged.
    """
    kinds = connection.execute(f"SELECT DISTINCT kind FROM {RECEIPTS}").fetchall()
    rows: Rows = {table: [] for table in TABLES}
    read = 0
    for kind in receipts.KINDS:  # in the order of reading
        entries = store.entries(layout.receipts_folder(kind), (".json",))
        if (kind,) in kinds:
            entries = _changed(connection, store, kind, entries)
        for first in range(0, len(entries), AT_ONCE):
            _read(store, entries[first : first + AT_ONCE], rows)
            if len(rows[RECEIPTS]) >= AT_ONCE:
                _insert(connection, rows)
        read += len(entries)
    _insert(connection, rows)
    if _has(connection, receipts.WITHDRAWALS):
        _forget(connection, query("receipts/withdrawn"))
    return read


def count_receipts(connection: duckdb.DuckDBPyConnection) -> int:
    """How many receipts the tables have."""
    return connection.execute(f"SELECT count(*) FROM {RECEIPTS}").fetchall()[0][0]


def find_read_files(connection: duckdb.DuckDBPyConnection) -> list[tuple]:
    """Files that readers open, as rows of ``committed_files``.

    These are the files that :func:`warehouse.commits.current.resolve` finds, of tables instead of
    receipts.
    """
    chosen: list[str] = []
    if _has(connection, COMPACTIONS):
        folding = connection.execute(query("receipts/holding_compactions")).fetchall()
        shared = set(connection.execute(query("receipts/shared_commits")).fetchall())
        for (compaction,) in folding:
            if not any((compaction, other) in shared for other in chosen):
                chosen.append(compaction)
    return connection.execute(query("receipts/read_files"), {"compactions": chosen}).fetchall()


def _has(connection: duckdb.DuckDBPyConnection, kind: str) -> bool:
    found = connection.execute(
        f"SELECT 1 FROM {RECEIPTS} WHERE kind = $kind LIMIT 1", {"kind": kind}
    )
    return bool(found.fetchall())


def _changed(
    connection: duckdb.DuckDBPyConnection, store: Storage, kind: str, entries: list[Entry]
) -> list[Entry]:
    """Listed receipts of one kind that the tables do not have; rows of others are deleted."""
    create_table(connection, "listed", LISTED)
    for first in range(0, len(entries), AT_ONCE):
        some = entries[first : first + AT_ONCE]
        listed = [(entry.key, entry.byte_count, entry.modified_at.isoformat()) for entry in some]
        insert(connection, "listed", LISTED, listed)
    _forget(
        connection,
        f"SELECT kind, study, key FROM {RECEIPTS} ANTI JOIN listed USING ({', '.join(LISTED)}) "
        f"WHERE kind = '{kind}'",
    )
    new = connection.execute(
        f"SELECT path FROM listed ANTI JOIN {RECEIPTS} USING (path)"
    ).fetchall()
    connection.execute("DROP TABLE listed")
    paths = {path for (path,) in new}
    return [entry for entry in entries if entry.key in paths]


def _read(store: Storage, entries: list[Entry], rows: Rows) -> None:
    """Add the rows of some receipts; one that is not there any more has none."""
    listed = {entry.key: entry for entry in entries}
    for path, content in store.read_listed(entries):
        receipt, entry = receipts.parse(content, path, store.place(path)), listed[path]
        name = receipt.kind, receipt.study, receipt.key
        moment = entry.modified_at.isoformat() if store.is_settled(entry) else None
        rows[RECEIPTS].append(
            (path, entry.byte_count, moment, *name, receipt.model_id, receipt.committed_at)
        )
        if receipt.kind == "units":  # upgrades name units that they left behind
            rows["committed_units"] += [
                (receipt.study, unit, receipt.key) for unit in receipt.units
            ]
        rows["committed_files"] += [
            (*name, file.table, file.path, file.row_count, file.byte_count, file.sha256)
            for file in receipt.files
        ]
        if receipt.kind in NAMING:
            rows["named_commits"] += [(*name, *named) for named in receipt.inputs.items()]


def _insert(connection: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    """Move rows into the tables."""
    for table, columns in TABLES.items():
        insert(connection, table, columns, rows[table])
        rows[table].clear()


def _forget(connection: duckdb.DuckDBPyConnection, commits: str) -> None:
    """Delete all rows of the commits that a query gives by kind, study and key."""
    going = connection.execute(commits).fetchall()
    if not going:
        return
    create_table(connection, "going", dict.fromkeys(("kind", "study", "key"), "VARCHAR"), going)
    for table in (RECEIPTS, "committed_files", "named_commits"):
        connection.execute(
            f"DELETE FROM {table} USING going WHERE {table}.kind = going.kind "
            f"AND {table}.study = going.study AND {table}.key = going.key"
        )
    connection.execute(
        "DELETE FROM committed_units USING going WHERE going.kind = 'units' "
        "AND committed_units.study = going.study AND committed_units.commit_key = going.key"
    )
    connection.execute("DROP TABLE going")
