"""Locks on an object store: leases that end by themselves when their holder dies.

A lock is a folder of leases, numbered 1, 2, …; the last one counts. A process that needs the lock
lists them. If the last lease has ended, the process puts the next number on the condition that it
does not exist yet, so that only one of several processes succeeds. The holder renews its lease by
putting it again. A lease that is not renewed ends by the clock of its holder; on the holder's
machine it ends with the process.

Two machines can hold a study at once if their clocks differ by more than a lease, or if one slept
longer than a lease. Both then compute the same commits with the same keys: they waste work, but
write no wrong row.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from decaf.errors import OutOfReach
from warehouse.storage.base import LockHeld
from warehouse.storage.holder import describe_holder, is_gone, this_process
from warehouse.storage.objects import Objects

LEASE_SECONDS = 120
RENEWALS = 6
"""Renewals during one lease, so that some may fail."""
ENDING = ".lease"


@contextmanager
def hold(store: Objects, folder: str) -> Iterator[None]:
    """Hold a lease inside the block, and end it afterwards.

    Raises LockHeld when another process holds it.
    """
    holder = {**this_process(), "lease": uuid4().hex}
    key = _take(store, folder, holder)
    is_over = threading.Event()
    renewing = threading.Thread(
        target=_renew, args=(store, key, holder, is_over), name=f"lease {folder}", daemon=True
    )
    renewing.start()
    try:
        yield
    finally:
        is_over.set()
        renewing.join()
        # If the store is unreachable, the lease ends by itself, and the block has raised an error.
        with suppress(OutOfReach):
            store.put(key, _lease_content(holder, seconds=0))


def is_held(store: Objects, folder: str) -> bool:
    """True if the last lease has not ended."""
    _, content = _last(store, folder)
    return _is_live(content)


def _take(store: Objects, folder: str, holder: dict[str, str | int]) -> str:
    """Create a new lease, the last one of its folder; returns its key."""
    number, content = _last(store, folder)
    if _is_live(content):
        raise LockHeld(describe_holder(content))
    key, content_of_new_lease = _key(folder, number + 1), _lease_content(holder, LEASE_SECONDS)
    # obstore repeats a put whose answer was lost, and then finds its own object.
    is_taken = store.put_new(key, content_of_new_lease) or store.read(key) == content_of_new_lease
    numbers = _numbers(store, folder)
    if not is_taken or numbers[-1] > number + 1:
        if is_taken:  # another process took a later lease after the listing
            store.delete(key)
        raise LockHeld(describe_holder(_last(store, folder)[1]))
    for past in numbers[:-1]:
        store.delete(_key(folder, past))
    return key


def _numbers(store: Objects, folder: str) -> list[int]:
    keys = (entry.key for entry in store.entries(folder, (ENDING,)))
    return sorted(int(key.removesuffix(ENDING).rpartition("/")[2]) for key in keys)


def _key(folder: str, number: int) -> str:
    return f"{folder}/{number:09}{ENDING}"


def _last(store: Objects, folder: str) -> tuple[int, bytes]:
    """Number and content of the last lease; 0 and b"" without a lease."""
    while numbers := _numbers(store, folder):
        with suppress(FileNotFoundError):  # the next holder has deleted it: list again
            return numbers[-1], store.read(_key(folder, numbers[-1]))
    return 0, b""


def _renew(
    store: Objects, key: str, holder: dict[str, str | int], is_over: threading.Event
) -> None:
    while not is_over.wait(LEASE_SECONDS / RENEWALS):
        # The next renewal may succeed; commits report an unreachable store.
        with suppress(OutOfReach):
            store.put(key, _lease_content(holder, LEASE_SECONDS))


def _lease_content(holder: dict[str, str | int], seconds: float) -> bytes:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    return json.dumps({**holder, "until": until.isoformat(timespec="seconds")}).encode()


def _is_live(content: bytes) -> bool:
    try:
        until = datetime.fromisoformat(json.loads(content)["until"])
    except (ValueError, KeyError, TypeError):
        return False
    return datetime.now(UTC) < until and not is_gone(content)
