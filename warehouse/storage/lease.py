"""Locks on an object store: leases that end by themselves when their holder dies.

A lock is a folder of leases, numbered 1, 2, …; the last one counts. Who wants the lock lists them.
If the last one has ended, the caller puts the next number on the condition that there is none yet,
so one of several callers gets it. The holder renews its lease by putting it again. A lease that is
not renewed ends by the clock of its holder; on the holder's own machine it ends with the process.

Machines whose clocks differ by more than a lease, or one that slept through it, may hold a study at
once. Commits are known by their keys, so that costs work done twice, and never a wrong row.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from decaf.errors import OutOfReach
from warehouse.storage.base import Held
from warehouse.storage.holder import described, is_gone, this_process
from warehouse.storage.objects import Objects

LEASE_SECONDS = 120
RENEWALS = 6
"""Renewals in the time of a lease: some may fail."""
ENDING = ".lease"


@contextmanager
def hold(store: Objects, folder: str) -> Iterator[None]:
    """Hold a lease for the length of the block, and end it then.

    Raises Held when somebody else holds it.
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
        # Where the store is away the lease ends by itself, and what broke is said already.
        with suppress(OutOfReach):
            store.put(key, _written(holder, seconds=0))


def is_held(store: Objects, folder: str) -> bool:
    """Whether the last lease has not ended."""
    _, content = _last(store, folder)
    return _is_live(content)


def _take(store: Objects, folder: str, holder: dict[str, str | int]) -> str:
    """Key of a new lease, the last one of its folder."""
    number, content = _last(store, folder)
    if _is_live(content):
        raise Held(described(content))
    key, own = _key(folder, number + 1), _written(holder, LEASE_SECONDS)
    # A put whose answer was lost is repeated, and meets the object that it put before.
    is_taken = store.put_new(key, own) or store.read(key) == own
    numbers = _numbers(store, folder)
    if not is_taken or numbers[-1] > number + 1:
        if is_taken:  # others have held and left this number since the first listing
            store.delete(key)
        raise Held(described(_last(store, folder)[1]))
    for past in numbers[:-1]:
        store.delete(_key(folder, past))
    return key


def _numbers(store: Objects, folder: str) -> list[int]:
    keys = (entry.key for entry in store.entries(folder, (ENDING,)))
    return sorted(int(key.removesuffix(ENDING).rpartition("/")[2]) for key in keys)


def _key(folder: str, number: int) -> str:
    return f"{folder}/{number:09}{ENDING}"


def _last(store: Objects, folder: str) -> tuple[int, bytes]:
    """Number and content of the last lease; 0 and nothing where there is none."""
    while numbers := _numbers(store, folder):
        with suppress(FileNotFoundError):  # the next holder has deleted it: list again
            return numbers[-1], store.read(_key(folder, numbers[-1]))
    return 0, b""


def _renew(
    store: Objects, key: str, holder: dict[str, str | int], is_over: threading.Event
) -> None:
    while not is_over.wait(LEASE_SECONDS / RENEWALS):
        # The next renewal may get through; commits say on their own that the store is away.
        with suppress(OutOfReach):
            store.put(key, _written(holder, LEASE_SECONDS))


def _written(holder: dict[str, str | int], seconds: float) -> bytes:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    return json.dumps({**holder, "until": until.isoformat(timespec="seconds")}).encode()


def _is_live(content: bytes) -> bool:
    try:
        until = datetime.fromisoformat(json.loads(content)["until"])
    except (ValueError, KeyError, TypeError):
        return False
    return datetime.now(UTC) < until and not is_gone(content)
