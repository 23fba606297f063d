"""The schema version of a warehouse, and the steps that bring an older one up to date.

A step rewrites what it must under new names or whole files, so that it can be stopped and done
again; the version file is replaced after each step. Numbers do not change: what cannot be carried
over is a new numerics version, not a migration.
"""

import fcntl
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from decaf.errors import AlreadyRunning, WarehouseError
from decaf.files import replace_file
from warehouse import layout
from warehouse.lock import held_studies
from warehouse.schemas import SCHEMA_VERSION


class Migration(NamedTuple):
    """One step from a version to the next; ``apply`` may be stopped anywhere and called again."""

    from_version: int
    purpose: str
    apply: Callable[[Path], object]


MIGRATIONS: tuple[Migration, ...] = ()
"""All steps, from version 1 on without a gap."""


def stored_version(root: Path) -> int:
    """Schema version that a warehouse states.

    Raises
    ------
    WarehouseError
        When there is no warehouse, or its version file is damaged.
    """
    path = layout.format_file(root)
    try:
        return int(json.loads(path.read_text())["schema_version"])
    except FileNotFoundError:
        raise WarehouseError(
            f"{root} is not a warehouse: it has no {path.name}; give the folder of an audit, or "
            "run one first: decaf run CONFIG"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WarehouseError(f"{path} cannot be read as a warehouse version: {error}") from error


def store_version(root: Path, version: int) -> None:
    """State the schema version of a warehouse."""
    text = json.dumps({"schema_version": version}) + "\n"
    replace_file(layout.format_file(root), lambda path: path.write_text(text))


def check_version(root: Path, readable: int = SCHEMA_VERSION) -> None:
    """Refuse a warehouse whose schema version is not ``readable``.

    Raises
    ------
    WarehouseError
        When there is no warehouse, its version file is damaged, or its schema is another.
    """
    version = stored_version(root)
    if version > readable:
        raise WarehouseError(
            f"warehouse {root} has schema version {version}; this decaf reads up to "
            f"{readable}: upgrade decaf, or use another warehouse"
        )
    if version < readable:
        raise WarehouseError(
            f"warehouse {root} has schema version {version}; this decaf reads {readable}: decaf "
            "compact, or the next decaf run, upgrades it"
        )


def upgrade(root: Path, migrations: Sequence[Migration] = MIGRATIONS) -> list[Migration]:
    """Apply the steps that a warehouse lacks, in order; returns them.

    Raises
    ------
    AlreadyRunning
        When a study of the warehouse is being audited, or another process upgrades it.
    WarehouseError
        When the version cannot be read, is newer than the steps lead to, or none leads on from it.
    """
    newest = len(migrations) + 1
    if stored_version(root) == newest:
        return []
    with layout.upgrade_lock_file(root).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(f"warehouse {root} is being upgraded; wait for it") from None
        version = stored_version(root)
        missing = [step for step in migrations if step.from_version >= version]
        if not missing or missing[0].from_version != version:
            check_version(root, newest)
        if running := held_studies(root):
            raise AlreadyRunning(
                f"warehouse {root} has schema version {version} and must be upgraded to {newest}, "
                f"but {', '.join(running)} is being audited; wait for it (decaf status)"
            )
        for step in missing:
            step.apply(root)
            store_version(root, step.from_version + 1)
    return missing
