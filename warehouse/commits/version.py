"""Schema version of a warehouse; a release of decaf reads and writes one version."""

import json

from decaf.errors import WarehouseError
from warehouse.commits import layout
from warehouse.storage import Storage
from warehouse.tables.columns import SCHEMA_VERSION


def read_version(store: Storage) -> int:
    """Read the schema version of a warehouse.

    Raises WarehouseError when there is no warehouse, or its version file is damaged.
    """
    try:
        return int(json.loads(store.read(layout.FORMAT))["schema_version"])
    except FileNotFoundError:
        raise WarehouseError(
            f"{store.address} is not a warehouse: it has no {layout.FORMAT}; name the "
            "warehouse of an audit with -w, or run one first: decaf run CONFIG"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        place = store.place(layout.FORMAT)
        raise WarehouseError(
            f"{place} cannot be read as a warehouse version ({type(error).__name__}: {error}); "
            'expected {"schema_version": N}: restore the file from a copy'
        ) from error


def write_version(store: Storage, version: int) -> None:
    """Write the schema version of a warehouse."""
    text = json.dumps({"schema_version": version}) + "\n"
    store.publish(layout.FORMAT, lambda file: file.write(text.encode()))


def check_version(store: Storage) -> None:
    """Raise WarehouseError if the schema version of a warehouse is not SCHEMA_VERSION.

    Also raises WarehouseError when there is no warehouse, or its version file is damaged.
    """
    version = read_version(store)
    if version != SCHEMA_VERSION:
        raise WarehouseError(
            f"warehouse {store.address} has schema version {version}; this decaf reads "
            f"{SCHEMA_VERSION}: install the decaf that wrote it, or use another warehouse"
        )
