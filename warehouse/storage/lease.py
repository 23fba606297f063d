"""Locks on an object store: leases that end by themselves when their holder dies.

Who wants a lock puts a claim of its own, then lists all claims. Who sees nobody else's holds it;
who sees one takes back its own. Of two that claim at once the one that lists later sees the other,
since a listing shows all that was put before it: both may give way, and never do both hold.

The holder renews its claim. One that is not renewed ends, by the clock of its holder; on the
holder's own machine it ends with the process. Machines whose clocks differ by more than a lease,
or one that slept through it, may hold a study at once. Commits are known by their keys, so that
costs work done twice, and never a wrong row.
"""

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from decaf.errors import OutOfReach
from warehouse.storage.base import Held, Storage
from warehouse.storage.holder import described, is_gone, this_process

LEASE_SECONDS = 120
RENEWALS = 6
"""Renewals in the time of a lease: some may fail."""
TRIES = 4
MOST_SECONDS_BETWEEN_TRIES = 0.5


@contextmanager
def hold(store: Storage, key: str) -> Iterator[None]:
    """Hold a lease for the length of the block, and end it then.

    Raises Held when somebody else holds it.
    """
    own = f"{key}/{uuid4().hex}.json"
    holder = this_process()
    _claim(store, key, own, holder)
    ended = threading.Event()
    renewing = threading.Thread(
        target=_renew, args=(store, own, holder, ended), name=f"lease {key}", daemon=True
    )
    renewing.start()
    try:
        yield
    finally:
        ended.set()
        renewing.join()
        # Where the store is away the lease ends by itself, and what broke is said already.
        with suppress(OutOfReach):
            store.delete(own)


def is_held(store: Storage, key: str) -> bool:
    """Whether there is a claim that has not ended."""
    return any(map(_is_live, _claims(store, key).values()))


def _claims(store: Storage, key: str) -> dict[str, bytes]:
    """Claims of a lock by key, those of the dead too."""
    return dict(store.read_many(entry.key for entry in store.entries(key, (".json",))))


def _claim(store: Storage, key: str, own: str, holder: dict[str, str | int]) -> None:
    for attempt in range(TRIES):
        if attempt:
            time.sleep(random.uniform(0, MOST_SECONDS_BETWEEN_TRIES))
        _put(store, own, holder)
        others = {place: content for place, content in _claims(store, key).items() if place != own}
        live = [content for content in others.values() if _is_live(content)]
        if not live:
            for place in others:
                store.delete(place)
            return
        store.delete(own)
    raise Held(described(live[0]))


def _renew(store: Storage, own: str, holder: dict[str, str | int], ended: threading.Event) -> None:
    while not ended.wait(LEASE_SECONDS / RENEWALS):
        # The next renewal may get through; commits say on their own that the store is away.
        with suppress(OutOfReach):
            _put(store, own, holder)


def _put(store: Storage, own: str, holder: dict[str, str | int]) -> None:
    until = datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS)
    claim = json.dumps({**holder, "until": until.isoformat(timespec="seconds")})
    store.publish(own, lambda file: file.write(claim.encode()))


def _is_live(content: bytes) -> bool:
    try:
        until = datetime.fromisoformat(json.loads(content)["until"])
    except (ValueError, KeyError, TypeError):
        return False
    return datetime.now(UTC) < until and not is_gone(content)
