"""One running flow per study and warehouse."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from decaf.errors import AlreadyRunning
from warehouse.commits import layout
from warehouse.storage import Held, Storage


@contextmanager
def study_lock(store: Storage, study: str) -> Iterator[None]:
    """Hold the study for the length of the block.

    In a folder the lock is the operating system's (``flock``), so it ends with the process that
    holds it, however that process ends. On an object store it is a lease, which ends a short while
    after its holder (``warehouse.storage.lease``).

    Raises AlreadyRunning when another process holds it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(store.hold(layout.lock(study)))
        except Held as holder:
            raise AlreadyRunning(
                f"study {study!r} is already being audited in {store.address} ({holder}); wait for "
                "it (decaf status), or give the second run another 'study:' or 'warehouse:'"
            ) from None
        yield


def is_held(store: Storage, study: str) -> bool:
    """Whether a flow is running on the study at this moment."""
    return store.is_held(layout.lock(study))


def held_studies(store: Storage) -> list[str]:
    """Studies on which a flow is running at this moment, sorted."""
    return [s for s in layout.locked_studies(store) if is_held(store, s)]
