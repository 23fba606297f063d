"""Find, report and leave out files of a warehouse that differ from their receipts."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import duckdb

from decaf.errors import QueryError, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.query.catalog import connect
from warehouse.query.store_errors import find_store_error
from warehouse.storage import Storage

SHOWN = 10
Result = TypeVar("Result")


class Damage(NamedTuple):
    """A file that is missing or differs from its receipt."""

    study: str
    commit: str
    """Name of the commit inside its study."""
    key: str
    """Key of the file: its path relative to the root of the warehouse."""
    problem: str


def find_damage(
    store: Storage,
    study: str | None = None,
    *,
    is_quick: bool = False,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[Damage]:
    """Compare the files that readers open, of one study or all, with their receipts.

    Sizes come from a listing. Unless ``is_quick``, files of the right size are also compared by
    digest. ``tell`` is called with the number of bytes done and their total. Raises WarehouseError
    when a receipt is damaged.
    """
    read = resolve(list(receipts.read(store, study))).read
    listed = store.entries(layout.DATA, (".parquet",)) if read else []
    sizes = {entry.key: entry.byte_count for entry in listed}
    total = sum(file.byte_count for receipt in read for file in receipt.files)
    damage, done = [], 0
    for receipt in read:
        for file in receipt.files:
            size, problem = sizes.get(file.path), None
            if size is None:
                problem = "missing"
            elif size != file.byte_count:
                problem = f"{size:,} bytes; its receipt says {file.byte_count:,}"
            elif not is_quick:
                digest = hashlib.sha256(store.read(file.path)).hexdigest()
                if digest != file.sha256:
                    problem = f"sha256 {digest[:12]}…; its receipt says {file.sha256[:12]}…"
            if problem:
                damage.append(Damage(receipt.study, receipt.name, file.path, problem))
            done += file.byte_count
            tell(done, total)
    return damage


def list_unreadable_files(
    connection: duckdb.DuckDBPyConnection, study: str | None = None
) -> list[Damage]:
    """List missing and unreadable files that a connection leaves out, of one study or all."""
    rows = connection.execute(
        "SELECT study, kind || '/' || key, path, 'missing or damaged' FROM receipt_files "
        "WHERE NOT is_readable AND ($study IS NULL OR study = $study) ORDER BY ALL",
        {"study": study},
    )
    return [Damage(*row) for row in rows.fetchall()]


def describe_damage(store: Storage, damage: Sequence[Damage]) -> str:
    """Describe which files are damaged, how, and how to restore them."""
    lines = [
        f"{store.place(file.key)}: {file.problem} ({file.commit} of study {file.study})"
        for file in damage[:SHOWN]
    ]
    if len(damage) > SHOWN:
        lines.append(f"and {len(damage) - SHOWN:,} more")
    files = "1 file is" if len(damage) == 1 else f"{len(damage):,} files are"
    return "\n  ".join(
        [
            f"{files} missing or changed since their commit; restore a copy, or withdraw their "
            f"commits with decaf check --repair -w {store.address}; the next run computes them "
            "again:",
            *lines,
        ]
    )


@contextmanager
def report_damage(store: Storage) -> Iterator[None]:
    """Name the damaged files of a warehouse if they make the block fail.

    Raises WarehouseError for damaged files, the error of an object store that DuckDB passed on as
    text, or else the error of the block.
    """
    try:
        yield
    except (duckdb.Error, QueryError, WarehouseError) as error:
        if _may_concern_file(error) and (damage := find_damage(store)):
            raise WarehouseError(describe_damage(store, damage)) from error
        if store_error := find_store_error(error):
            raise store_error from error
        raise


@contextmanager
def connect_whole(
    store: Storage, study: str | None, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a warehouse for readers that need every row of a study, or of all studies.

    ``threads`` is that of :func:`warehouse.query.catalog.connect`. Raises WarehouseError with the
    names of damaged files, if there are any.
    """
    with report_damage(store), connect(store, threads=threads) as connection:
        if damage := list_unreadable_files(connection, study):
            raise WarehouseError(describe_damage(store, damage))
        yield connection


def fetch_whole(store: Storage, study: str, sql: str, **values: Any) -> list[tuple]:
    """Rows of a query that needs every row of a study, which is ``$study`` in the SQL.

    ``values`` are its other parameters. Raises WarehouseError for damaged files.
    """
    with connect_whole(store, study) as connection:
        return connection.sql(sql, params={"study": study, **values}).fetchall()


def query_readable_files(
    store: Storage, ask: Callable[[duckdb.DuckDBPyConnection], Result], tell: Callable[[str], None]
) -> Result:
    """Query a connection without damaged files; ``tell`` gets their description, if any."""
    try:
        with connect(store) as connection:
            answer, damage = ask(connection), list_unreadable_files(connection)
    except duckdb.Error as error:
        damage = find_damage(store) if _may_concern_file(error) else []
        if not damage and (store_error := find_store_error(error)):
            raise store_error from error
        if not damage:
            raise
        with connect(store, without={file.key for file in damage}) as connection:
            answer = ask(connection)
    if damage:
        tell(describe_damage(store, damage))
    return answer


def _may_concern_file(error: BaseException | None) -> bool:
    """True if a file may have caused DuckDB's error: it names a file, or no query can cause it.

    To find the file, decaf must read all files.
    """
    while error is not None:
        if type(error) in (duckdb.Error, duckdb.InternalException) or ".parquet" in str(error):
            return True
        error = error.__cause__
    return False
