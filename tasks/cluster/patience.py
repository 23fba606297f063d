"""Retry while a warehouse is unreachable, so that a network failure of a minute costs no work."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from decaf.errors import DecafError, StoreAway

PATIENCE_SECONDS, PAUSE_SECONDS = 300.0, 5.0
LOGGER = logging.getLogger("distributed.worker")
"""Logger whose lines are in the log of every worker, also on other machines."""
Result = TypeVar("Result")


def retry_while_away(ask: Callable[[], Result]) -> Result:
    """Call ``ask``, and repeat it for five minutes while the warehouse does not answer.

    ``ask`` must be idempotent, like a commit. Its errors are raised at once if the warehouse
    answered, and otherwise after five minutes.
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
