"""Address and lock of ``decaf serve``, which runs once for each ``PREFECT_HOME``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tasks
from decaf.errors import AlreadyRunning, ServerUnreachable
from decaf.foundation.files import replace_file
from warehouse.storage import LockHeld
from warehouse.storage.local import LocalStorage

ADDRESS = "PREFECT_API_URL"
LOCK = "decaf-serve.lock"
ADDRESS_FILE = "decaf-serve.address"


def home() -> Path:
    """Folder of Prefect's database, of the logs and of the lock."""
    folder = os.environ.get("PREFECT_HOME", tasks.PREFECT_DEFAULTS["PREFECT_HOME"])
    return Path(folder).expanduser().resolve()


def address() -> str:
    """Address of the server that has the schedules.

    ``PREFECT_API_URL`` if it is set; otherwise the address of the service that holds this folder.

    Raises ServerUnreachable if neither exists.
    """
    if url := os.environ.get(ADDRESS):
        return url.rstrip("/")
    folder = home()
    file = folder / ADDRESS_FILE
    if LocalStorage(folder).is_held(LOCK) and file.exists():
        return file.read_text()
    raise ServerUnreachable(
        f"decaf serve is not running in {folder}, and {ADDRESS} is not set; start decaf serve "
        "in this folder, or set PREFECT_HOME to the folder in which it runs"
    )


@contextmanager
def hold_folder(folder: Path, served_at: str) -> Iterator[None]:
    """Lock the folder until the block ends, and write the server's address into it.

    The operating system releases the lock when this process ends in any way.

    Raises AlreadyRunning if another process holds the lock.
    """
    try:
        with LocalStorage(folder).hold(LOCK):
            replace_file(folder / ADDRESS_FILE, lambda file: file.write_text(served_at))
            yield
    except LockHeld as error:
        raise AlreadyRunning(
            f"decaf serve is running already in {folder} ({error}); stop it, or give this one "
            "another folder in PREFECT_HOME"
        ) from None
