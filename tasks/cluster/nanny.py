"""Start the process of a worker on this machine, and restart it when it ends."""

import asyncio
from typing import Any

import dask
from distributed import Nanny, Status

from tasks.cluster import fork_server

METHOD = "distributed.worker.multiprocessing-method"


class PatientNanny(Nanny):
    """Nanny that starts one process at a time.

    Dask's nanny polls a started process every 50 ms. If the first task ends the process before the
    poll, the nanny starts a second process meanwhile. Then two waits compete for the message of the
    second process, and the flow hangs if the wrong one gets it.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._starting = asyncio.Lock()

    async def instantiate(self) -> Status:
        """Start the process after other starts; by spawn, if the fork server no longer works."""
        async with self._starting:
            is_forked = dask.config.get(METHOD) == fork_server.FORKING
            if is_forked and not await asyncio.to_thread(fork_server.is_forking):
                dask.config.set({METHOD: fork_server.FRESH})
            return await super().instantiate()
