"""Reading ahead: while a GPU scores an order, the next one is read and planned on the host.

One order is read ahead at most, and none while another one is read for itself, so whatever reading
keeps, as plans of states, is never touched by two threads.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import NamedTuple

from tasks.cluster.worker import has_gpu
from tasks.cluster.worker_deaths import has_died, noted_ahead
from tasks.units.bench import Bench, Order, Together
from tasks.units.kinds import KINDS


class Reading(NamedTuple):
    """An order that is read ahead."""

    order: Order
    bench: "Future[Bench | None]"
    """None where reading failed."""


class Ahead:
    """What a worker reads ahead of the order that it carries out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: Order | None = None
        """What Dask gives to this worker next, as far as it is known."""
        self._following: Order | None = None
        """The next part of the order under way, which comes first."""
        self._is_idle = False
        """Whether the processor may read."""
        self._reading: Reading | None = None

    def expect(self, order: object) -> None:
        """Hear what comes after the order under way; anything but an order is nothing.

        Of orders that are computed together, the first reads for all.
        """
        if isinstance(order, Together):
            order = order.orders[0]
        with self._lock:
            self._expected = order if isinstance(order, Order) else None
            self._begin()

    def bench(self, order: Order) -> Bench:
        """An order with what it reads, which may be there already.

        What was read ahead of another one is dropped. Where reading ahead failed, the order reads
        again: what fails twice is raised here.
        """
        with self._lock:
            reading, self._reading = self._reading, None
        # Also waited for if it is of another order: nothing is read twice at a time.
        bench = reading.bench.result() if reading else None
        if reading is None or reading.order is not order or bench is None:
            bench = read(order)
        return bench

    @contextmanager
    def beside(self, order: Order, following: Order | None) -> Iterator[None]:
        """While a GPU scores an order, read what follows: its own next part, or the next order.

        An order that has ended a worker is alone on the next one, so that it is known what did.
        """
        with self._lock:
            self._following = following
            self._is_idle = bool(order.model and has_gpu(order.model)) and not has_died()
            self._begin()
        try:
            yield
        finally:
            with self._lock:
                self._is_idle = False

    def _begin(self) -> None:
        order = self._following or self._expected
        if self._is_idle and order and not self._reading:
            reading = Reading(order, Future())
            threading.Thread(target=_read_ahead, args=reading, daemon=True).start()
            self._reading = reading


def read(order: Order) -> Bench:
    """An order with all that its units read on the host before the model is asked."""
    bench = Bench(order)
    for kind in KINDS.values():
        if own := [unit for unit in order.units if unit.kind == kind.name]:
            kind.read(bench, own)
    return bench


def _read_ahead(order: Order, bench: "Future[Bench | None]") -> None:
    found = None
    # A stranger's path may raise SystemExit; whatever it is, the order meets it again.
    with suppress(BaseException), noted_ahead():
        found = read(order)
    bench.set_result(found)


AHEAD = Ahead()
"""Of this process."""


def expect(order: object) -> None:
    """Hear what comes next, on a worker."""
    AHEAD.expect(order)
