"""Wait for a warehouse that is away: a network that fails for a minute costs no work."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from decaf.errors import DecafError, StoreAway

PATIENCE_SECONDS, PAUSE_SECONDS = 300.0, 5.0
LOGGER = logging.getLogger("distributed.worker")
"""Whose lines are in the log of every worker, wherever that was started."""
Result = TypeVar("Result")


def retry_while_away(ask: Callable[[], Result]) -> Result:
    """What ``ask`` returns, asked again for five minutes while the warehouse does not answer.

    It must be idempotent, as a commit is. Raises what it raises: at once if an answer came, and
    after that time the last error.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except DecafError as error:
            is_away = isinstance(error, StoreAway) or isinstance(error.__cause__, StoreAway)
            if not is_away or time.monotonic() > end:
                raise
            LOGGER.warning("trying again: %s", error)
        time.sleep(PAUSE_SECONDS)
