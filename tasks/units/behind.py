"""Committing behind: while a GPU scores the next order, what this one gave is committed.

One order is committed behind at most: the next one has to wait until that is done before it is
committed itself, so what a worker holds and would lose is bounded.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tasks.cluster.worker import has_gpu
from tasks.cluster.worker_deaths import has_died
from tasks.units.bench import Order

_committing = threading.Lock()


@contextmanager
def behind(order: Order) -> Iterator[None]:
    """Let this worker begin its next order now, before the block that commits this one.

    On a processor nothing would be gained, and outside of a worker there is no next order. One that
    has ended a worker is alone until it is committed, so that it is known what did.
    """
    if not (order.model and has_gpu(order.model)) or has_died() or not _is_work_of_dask():
        yield
        return
    from distributed import secede

    with _committing:
        secede()
        yield


def _is_work_of_dask() -> bool:
    # A plan imports this module, and an audit that is finished needs no Dask.
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
