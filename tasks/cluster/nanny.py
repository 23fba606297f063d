"""Start the process of a worker on this machine, and another one when it has ended."""

import asyncio
from typing import Any

import dask
from distributed import Nanny, Status

from tasks.cluster import fork_server

METHOD = "distributed.worker.multiprocessing-method"


class PatientNanny(Nanny):
    """Nanny that starts one process at a time.

    Dask's own asks every 50 ms whether a process that it has started is there. One that ends before
    it was asked, by the first work that it was given, is replaced meanwhile; then two look for the
    word of the new process, the wrong one takes it, and the flow waits for ever for the other.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._starting = asyncio.Lock()

    async def instantiate(self) -> Status:
        """Start the process when no other start is under way; fresh, if nothing forks any more."""
        async with self._starting:
            is_forked = dask.config.get(METHOD) == fork_server.FORKING
            if is_forked and not await asyncio.to_thread(fork_server.is_forking):
                dask.config.set({METHOD: fork_server.FRESH})
            return await super().instantiate()
