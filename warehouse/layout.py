"""Where things lie under a warehouse root; nothing else builds a path.

::

    root/
    ├── warehouse.json                                   schema version
    ├── upgrade.lock                                     held while the version changes
    ├── locks/<study>.lock                               held by the running flow
    ├── receipts/<kind>/<study>/<key>.json               what is committed
    ├── seeds/<table>/study=[/model_id=]/seed.parquet    typed, no rows
    └── tables/<table>/study=…[/model_id=…]/<key>.parquet
"""

import re
from pathlib import Path

from decaf.errors import WarehouseError
from warehouse.schemas import TABLES

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def checked_name(name: str, kind: str) -> str:
    """Return a name that is safe as one folder or file name on every file system."""
    if not NAME.fullmatch(name) or len(name) > 120:
        raise WarehouseError(
            f"{kind} {name!r} cannot name a folder; use letters, digits and . _ + - (120 at most)"
        )
    return name


def format_file(root: Path) -> Path:
    """File that states the schema version of the warehouse."""
    return root / "warehouse.json"


def upgrade_lock_file(root: Path) -> Path:
    """File that a process holds locked while it changes the schema version."""
    return root / "upgrade.lock"


def lock_file(root: Path, study: str) -> Path:
    """File that the running flow of a study holds locked."""
    return root / "locks" / f"{checked_name(study, 'study')}.lock"


def lock_files(root: Path) -> list[Path]:
    """Lock files of all studies that were ever held, sorted."""
    return sorted((root / "locks").glob("*.lock"))


def receipts_folder(root: Path, kind: str, study: str) -> Path:
    """Folder with the receipts of one kind of commit."""
    return root / "receipts" / kind / checked_name(study, "study")


def receipt_file(root: Path, kind: str, study: str, key: str) -> Path:
    """Receipt of one commit."""
    return receipts_folder(root, kind, study) / f"{checked_name(key, 'key')}.json"


def seed_file(root: Path, table: str) -> Path:
    """Typed file without rows, which keeps every view valid while a table is empty.

    It lies in folders of the table's partition keys without values: files that are read together
    must have the same keys.
    """
    folder = root / "seeds" / table
    for column in TABLES[table].partition:
        folder /= f"{column}="
    return folder / "seed.parquet"


def table_file(root: Path, table: str, partition: dict[str, str], key: str) -> Path:
    """File of one commit in one table, a pure function of its arguments."""
    folder = root / "tables" / table
    for column in TABLES[table].partition:
        folder /= f"{column}={checked_name(partition[column], column)}"
    return folder / f"{checked_name(key, 'key')}.parquet"


def study_files(root: Path, study: str) -> list[Path]:
    """Data files of a study and temporary ones, whether a receipt names them or not, sorted."""
    tables = (root / "tables").glob(f"*/study={study}/**/*")
    notes = (root / "receipts").glob(f"*/{study}/*.tmp")
    data = [path for path in tables if path.suffix in (".parquet", ".tmp") and path.is_file()]
    return sorted([*data, *notes])
