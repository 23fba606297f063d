"""Where the schedules of this folder are served: one ``decaf serve`` per ``PREFECT_HOME``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tasks
from decaf.errors import AlreadyRunning, ServerUnreachable
from decaf.foundation.files import replace_file
from warehouse.storage import Held
from warehouse.storage.local import LocalStorage

ADDRESS = "PREFECT_API_URL"
LOCK = "decaf-serve.lock"
ADDRESS_FILE = "decaf-serve.address"


def home() -> Path:
    """Folder of Prefect's database, of the logs and of the lock."""
    folder = os.environ.get("PREFECT_HOME", tasks.PREFECT_DEFAULTS["PREFECT_HOME"])
    return Path(folder).expanduser().resolve()


def address() -> str:
    """Address of the server that knows the schedules.

    ``PREFECT_API_URL`` when it is set; otherwise that of the service which holds this folder.

    Raises ServerUnreachable when there is neither.
    """
    if url := os.environ.get(ADDRESS):
        return url.rstrip("/")
    folder = home()
    file = folder / ADDRESS_FILE
    if LocalStorage(folder).is_held(LOCK) and file.exists():
        return file.read_text()
    raise ServerUnreachable(
        f"decaf serve is not running in {folder}, and {ADDRESS} names no other; start it with "
        "decaf serve in this folder, or set PREFECT_HOME to the folder that it runs in"
    )


@contextmanager
def held(folder: Path, served_at: str) -> Iterator[None]:
    """Hold the folder for the length of the block, and say where its server is.

    The lock is the operating system's, so it ends with this process, however that ends.

    Raises AlreadyRunning when another process holds it.
    """
    try:
        with LocalStorage(folder).hold(LOCK):
            replace_file(folder / ADDRESS_FILE, lambda file: file.write_text(served_at))
            yield
    except Held as holder:
        raise AlreadyRunning(
            f"decaf serve is running already in {folder} ({holder}); stop it, or give this one "
            "another folder in PREFECT_HOME"
        ) from None
