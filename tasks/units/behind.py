"""What comes behind: while a GPU scores the next order, rows of this one are made and committed.

That is so with one order at most: the next one has to wait until it is committed before its own
rows are made, so what a worker holds and would lose is bounded.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tasks.cluster.worker import has_gpu
from tasks.cluster.worker_deaths import has_died
from tasks.units.bench import Order

GRACE_SECONDS = 0.01
"""For the next order to reach the GPU. Two threads share one interpreter, and its part is short."""

_committing = threading.Lock()
_reached = threading.Event()


def reached() -> None:
    """Hear that an order has all that its model is to score, and begins to."""
    _reached.set()


@contextmanager
def behind(order: Order) -> Iterator[None]:
    """Let this worker begin its next order now, before the block that ends this one on the host.

    On a processor nothing would be gained, and outside of a worker there is no next order. One that
    has ended a worker is alone until it is committed, so that it is known what did.
    """
    if not (order.model and has_gpu(order.model)) or has_died() or not _is_work_of_dask():
        yield
        return
    from distributed import secede

    with _committing:
        _reached.clear()
        secede()
        _reached.wait(GRACE_SECONDS)
        yield


def _is_work_of_dask() -> bool:
    # A plan imports this module, and an audit that is finished needs no Dask.
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
