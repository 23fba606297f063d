"""Send a request again while it may still be answered."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

TIMEOUT, TOO_EARLY, TOO_MANY_REQUESTS, FIRST_SERVER_ERROR = 408, 425, 429, 500
MOST_DOUBLINGS = 60


def is_transient(response: "httpx.Response") -> bool:
    """Whether the same request may be answered later: 408, 425, 429 or 5xx."""
    status = response.status_code
    return status in (TIMEOUT, TOO_EARLY, TOO_MANY_REQUESTS) or status >= FIRST_SERVER_ERROR


def last_answer(
    send: Callable[[], "httpx.Response"],
    retries: int,
    backoff_seconds: float,
    longest_backoff_seconds: float = math.inf,
    is_transient: Callable[["httpx.Response"], bool] = is_transient,
) -> "httpx.Response":
    """Answer to a request that is sent again after no connection, a time-out or a transient answer.

    ``retries`` counts further attempts; the answer to the last one is returned, transient or not.
    The pause before the first of them doubles for each further one, is longer where ``Retry-After``
    asks for more, and never longer than the longest. Raises httpx.RequestError when the last
    attempt got no answer.
    """
    import httpx

    for attempt in range(retries + 1):
        is_last = attempt == retries
        wished = 0.0
        try:
            response = send()
        except httpx.RequestError:
            if is_last:
                raise
        else:
            if is_last or not is_transient(response):
                break
            wished = _retry_after(response)
        doubled = math.ldexp(backoff_seconds, min(attempt, MOST_DOUBLINGS))
        time.sleep(min(max(doubled, wished), longest_backoff_seconds))
    return response


def _retry_after(response: "httpx.Response") -> float:
    """Seconds that the server asks for, given as a number or as a date; 0 for neither."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
