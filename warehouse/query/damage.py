"""Files of a warehouse that are not what their receipts say: found, told, and left out."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import duckdb

from decaf.errors import QueryError, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.current import resolve
from warehouse.query.catalog import connect
from warehouse.query.store_errors import of_store
from warehouse.storage import Storage

SHOWN = 10
Result = TypeVar("Result")


class Damage(NamedTuple):
    """A file that readers cannot have as it was committed."""

    study: str
    commit: str
    """Name of the commit inside its study."""
    key: str
    """Place of the file, relative to the root of the warehouse."""
    problem: str


def find_damage(
    store: Storage,
    study: str | None = None,
    *,
    is_quick: bool = False,
    tell: Callable[[int, int], None] = lambda done, total: None,
) -> list[Damage]:
    """Compare the files that readers open, of one study or all, with their receipts.

    Sizes come from a listing. Unless it ``is_quick``, files of the right size are read and compared
    by digest; ``tell`` is given how many bytes of how many are done. Raises WarehouseError when a
    receipt is damaged.
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


def left_out(connection: duckdb.DuckDBPyConnection, study: str | None = None) -> list[Damage]:
    """Files that a connection does without, of one study or all: missing, or not to be read."""
    rows = connection.execute(
        "SELECT study, kind || '/' || key, path, 'missing or damaged' FROM receipt_files "
        "WHERE NOT is_readable AND ($study IS NULL OR study = $study) ORDER BY ALL",
        {"study": study},
    )
    return [Damage(*row) for row in rows.fetchall()]


def described(store: Storage, damage: Sequence[Damage]) -> str:
    """Say which files are damaged, how, and how to get them back."""
    lines = [
        f"{store.place(one.key)}: {one.problem} ({one.commit} of study {one.study})"
        for one in damage[:SHOWN]
    ]
    if len(damage) > SHOWN:
        lines.append(f"and {len(damage) - SHOWN:,} more")
    files = "1 file is" if len(damage) == 1 else f"{len(damage):,} files are"
    return "\n  ".join(
        [
            f"{files} not as committed; restore a copy, or decaf check --repair -w {store.address} "
            "gives up the commits that need them, and the next run computes these again:",
            *lines,
        ]
    )


@contextmanager
def naming_damage(store: Storage) -> Iterator[None]:
    """Name the damaged files of a warehouse where something in the block stumbles over them.

    Raises WarehouseError then, and what an object store said to DuckDB; otherwise what the block
    raises.
    """
    try:
        yield
    except (duckdb.Error, QueryError, WarehouseError) as error:
        if _is_of_a_file(error) and (damage := find_damage(store)):
            raise WarehouseError(described(store, damage)) from error
        if said := of_store(error):
            raise said from error
        raise


@contextmanager
def connect_whole(
    store: Storage, study: str | None, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a warehouse for what must not miss a row of a study, or of any.

    ``threads`` are those of :func:`warehouse.query.catalog.connect`. Raises WarehouseError, naming
    the files, when some are damaged.
    """
    with naming_damage(store), connect(store, threads=threads) as connection:
        if damage := left_out(connection, study):
            raise WarehouseError(described(store, damage))
        yield connection


def around_damage(
    store: Storage, ask: Callable[[duckdb.DuckDBPyConnection], Result], tell: Callable[[str], None]
) -> Result:
    """Ask a connection; files that are damaged are told of and left out."""
    try:
        with connect(store) as connection:
            answer, damage = ask(connection), left_out(connection)
    except duckdb.Error as error:
        damage = find_damage(store) if _is_of_a_file(error) else []
        if not damage and (said := of_store(error)):
            raise said from error
        if not damage:
            raise
        with connect(store, without={one.key for one in damage}) as connection:
            answer = ask(connection)
    if damage:
        tell(described(store, damage))
    return answer


def _is_of_a_file(error: BaseException | None) -> bool:
    """Whether DuckDB stumbled over a file: it names it, or raises what no query can be blamed for.

    To look for the file takes reading all of them.
    """
    while error is not None:
        if type(error) in (duckdb.Error, duckdb.InternalException) or ".parquet" in str(error):
            return True
        error = error.__cause__
    return False
