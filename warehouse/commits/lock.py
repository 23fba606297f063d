"""Lock that lets one flow at a time run on a study of a warehouse."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from decaf.errors import AlreadyRunning
from warehouse.commits import layout
from warehouse.storage import LockHeld, Storage


@contextmanager
def study_lock(store: Storage, study: str) -> Iterator[None]:
    """Hold the lock of a study inside the block.

    In a folder the lock is the operating system's (``flock``). It ends with the process that holds
    it, even if the process is killed. On an object store it is a lease, which ends shortly after
    the process (``warehouse.storage.lease``).

    Raises AlreadyRunning when another process holds it.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(store.hold(layout.lock(study)))
        except LockHeld as error:
            raise AlreadyRunning(
                f"study {study!r} is already being audited in {store.address} ({error}); wait for "
                "it (decaf status), or give the second run another 'study:' or 'warehouse:'"
            ) from None
        yield


def is_held(store: Storage, study: str) -> bool:
    """True if a flow is running on the study now."""
    return store.is_held(layout.lock(study))


def held_studies(store: Storage) -> list[str]:
    """Studies on which a flow is running now, sorted."""
    return [s for s in layout.locked_studies(store) if is_held(store, s)]
