"""Schema version of a warehouse, and the steps that upgrade an older warehouse.

A step writes whole files or new names, so that it can be stopped and repeated. The version file is
replaced after each step. A step changes no number: results that would change need a new numerics
version, not a migration.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from decaf.errors import AlreadyRunning, WarehouseError
from warehouse.commits import layout, receipts
from warehouse.commits.lock import held_studies
from warehouse.storage import Held, Storage
from warehouse.tables.columns import SCHEMA_VERSION


class Migration(NamedTuple):
    """One step from a version to the next; ``apply`` can be stopped at any point and called again.

    A new table needs no step: the next command that writes adds it. A step that cannot convert some
    results calls ``warehouse.upkeep.retention.withdraw_results``.
    """

    from_version: int
    purpose: str
    apply: Callable[[Storage], object]


MIGRATIONS: tuple[Migration, ...] = ()
"""All steps from version 1 on, without a gap; empty while version 1 is the newest."""

UPGRADE_PREFIX = "schema-"
"""Prefix of the keys of withdrawals by upgrades; the version before the upgrade follows."""


def stored_version(store: Storage) -> int:
    """Read the schema version of a warehouse.

    Raises WarehouseError when there is no warehouse, or its version file is damaged.
    """
    try:
        return int(json.loads(store.read(layout.FORMAT))["schema_version"])
    except FileNotFoundError:
        raise WarehouseError(
            f"{store.address} is not a warehouse: it has no {layout.FORMAT}; give the folder of an "
            "audit, or run one first: decaf run CONFIG"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        place = store.place(layout.FORMAT)
        raise WarehouseError(f"{place} cannot be read as a warehouse version: {error}") from error


def store_version(store: Storage, version: int) -> None:
    """Write the schema version of a warehouse."""
    text = json.dumps({"schema_version": version}) + "\n"
    store.publish(layout.FORMAT, lambda file: file.write(text.encode()))


def check_version(store: Storage, readable: int = SCHEMA_VERSION) -> None:
    """Raise WarehouseError for a warehouse whose schema version is not ``readable``.

    Also raises WarehouseError when there is no warehouse, or its version file is damaged.
    """
    version = stored_version(store)
    if version > readable:
        raise WarehouseError(
            f"warehouse {store.address} has schema version {version}; this decaf reads up to "
            f"{readable}: upgrade decaf, or use another warehouse"
        )
    if version < readable:
        raise WarehouseError(
            f"warehouse {store.address} has schema version {version}; this decaf reads {readable}: "
            "decaf compact, or the next decaf run, upgrades it"
        )


def upgrade(store: Storage, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Apply the steps that a warehouse lacks, in order; returns the applied steps.

    Raises AlreadyRunning when a study of the warehouse is being audited, or another process is
    upgrading it. Raises WarehouseError when the version cannot be read, is newer than that of the
    last step, or has no step.
    """
    newest = len(migrations) + 1
    if stored_version(store) == newest:
        return []
    with ExitStack() as stack:
        try:
            stack.enter_context(store.hold(layout.UPGRADE_LOCK))
        except Held:
            text = f"warehouse {store.address} is being upgraded; wait for it"
            raise AlreadyRunning(text) from None
        version = stored_version(store)
        missing = [step for step in migrations if step.from_version >= version]
        if not missing or missing[0].from_version != version:
            check_version(store, newest)
        if running := held_studies(store):
            raise AlreadyRunning(
                f"warehouse {store.address} has schema version {version} and must be upgraded to "
                f"{newest}, but {', '.join(running)} is being audited; wait for it (decaf status)"
            )
        for step in missing:
            step.apply(store)
            store_version(store, step.from_version + 1)
    return missing


def find_units_of_old_schemas(store: Storage, study: str) -> dict[str, int]:
    """Units whose results an upgrade withdrew, with the schema version of those results.

    Raises WarehouseError when a receipt is damaged.
    """
    return {
        unit: int(receipt.key.removeprefix(UPGRADE_PREFIX).split("-")[0])
        for receipt in receipts.read_kind(store, receipts.WITHDRAWALS, study)
        if receipt.key.startswith(UPGRADE_PREFIX)
        for unit in receipt.units
    }
