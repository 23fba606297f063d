"""The schema version of a warehouse, and the steps that bring an older one up to date.

A step rewrites what it must under new names or whole files, so that it can be stopped and done
again; the version file is replaced after each step. Numbers do not change: what cannot be carried
over is a new numerics version, not a migration.
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
    """One step from a version to the next; ``apply`` may be stopped anywhere and called again.

    A new table needs no step: the next command that writes adds it. A step that cannot carry some
    results over calls ``warehouse.upkeep.retention.set_aside``.
    """

    from_version: int
    purpose: str
    apply: Callable[[Storage], object]


MIGRATIONS: tuple[Migration, ...] = ()
"""All steps, from version 1 on without a gap; none as long as that is the newest."""

SET_ASIDE = "schema-"
"""Begin of the keys of the withdrawals that upgrades make; the version before follows."""


def stored_version(store: Storage) -> int:
    """Schema version that a warehouse states.

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
    """State the schema version of a warehouse."""
    text = json.dumps({"schema_version": version}) + "\n"
    store.publish(layout.FORMAT, lambda file: file.write(text.encode()))


def check_version(store: Storage, readable: int = SCHEMA_VERSION) -> None:
    """Refuse a warehouse whose schema version is not ``readable``.

    Raises WarehouseError when there is no warehouse, its version file is damaged, or its schema is
    another.
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
    """Apply the steps that a warehouse lacks, in order; returns them.

    Raises AlreadyRunning when a study of the warehouse is being audited, or another process
    upgrades it; WarehouseError when the version cannot be read, is newer than the steps lead to, or
    none leads on from it.
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


def units_set_aside(store: Storage, study: str) -> dict[str, int]:
    """Units whose results no upgrade carried over, with the version that they were written in.

    Raises WarehouseError when a receipt is damaged.
    """
    return {
        unit: int(receipt.key.removeprefix(SET_ASIDE).split("-")[0])
        for receipt in receipts.read_kind(store, receipts.WITHDRAWALS, study)
        if receipt.key.startswith(SET_ASIDE)
        for unit in receipt.units
    }
