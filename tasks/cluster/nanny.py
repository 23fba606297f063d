"""What starts a worker's process on this machine, and another one when it has ended."""

import asyncio
from typing import Any

import dask
from distributed import Nanny, Status

from tasks.cluster import fork_server


class PatientNanny(Nanny):
    """Starts one process at a time.

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
            if fork_server.is_lost():
                dask.config.set({fork_server.METHOD: fork_server.FRESH})
            return await super().instantiate()
