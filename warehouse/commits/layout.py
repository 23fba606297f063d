"""Keys of all objects of a warehouse, relative to its root; no other module builds a key.

::

    root/
    ├── warehouse.json                                   schema version
    ├── locks/<study>.lock                               held by the running flow
    ├── receipts/<kind>/<study>/<key>.json               one for each commit
    └── tables/<table>/study=…[/model_id=…]/<key>.parquet
"""

import re
from pathlib import PurePosixPath

from decaf.errors import WarehouseError
from warehouse.storage import Entry, Storage
from warehouse.tables.declarations import TABLES

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")
FORMAT = "warehouse.json"
"""File that states the schema version of the warehouse."""
LOCKS, RECEIPTS, DATA = "locks", "receipts", "tables"
TEMPORARY = ".tmp"


def check_name(name: str, kind: str) -> str:
    """Return a name if it is safe as a folder or file name on every file system.

    Raises WarehouseError for another name.
    """
    if not NAME.fullmatch(name) or len(name) > 120:
        raise WarehouseError(
            f"{kind} {name!r} cannot name a folder; use at most 120 letters, digits and . _ + - @"
        )
    return name


def stem(key: str) -> str:
    """Last part of a key without its ending: the name of a commit."""
    return PurePosixPath(key).stem


def lock(study: str) -> str:
    """Lock that the running flow of a study holds."""
    return f"{LOCKS}/{check_name(study, 'study')}.lock"


def locked_studies(storage: Storage) -> list[str]:
    """Studies that a process has ever locked, sorted."""
    # An object store keeps a lock as a folder of leases.
    names = {entry.key.split("/")[1] for entry in storage.entries(LOCKS, ("",))}
    return sorted(name.removesuffix(".lock") for name in names if ".lock" in name)


def receipts_folder(kind: str, study: str | None = None) -> str:
    """Folder with the receipts of one kind of commit, or of one kind and study."""
    return f"{RECEIPTS}/{kind}" + (f"/{check_name(study, 'study')}" if study else "")


def receipt(kind: str, study: str, key: str) -> str:
    """Key of the receipt of one commit."""
    return f"{receipts_folder(kind, study)}/{check_name(key, 'key')}.json"


def table_file(table: str, partition: dict[str, str], key: str) -> str:
    """Key of the file of one commit in one table."""
    folders = [
        f"{column}={check_name(partition[column], column)}" for column in TABLES[table].partition
    ]
    return "/".join([DATA, table, *folders, f"{check_name(key, 'key')}.parquet"])


def study_files(
    storage: Storage, study: str, suffixes: tuple[str, ...] = (".parquet", TEMPORARY)
) -> list[Entry]:
    """Data and temporary files of a study, named by a receipt or not; sorted."""
    receipt_entries = storage.entries(RECEIPTS, (TEMPORARY,))
    notes = [entry for entry in receipt_entries if entry.key.split("/")[2:3] == [study]]
    data = [
        entry
        for table in TABLES
        for entry in storage.entries(f"{DATA}/{table}/study={study}", suffixes)
    ]
    return sorted([*data, *notes])
