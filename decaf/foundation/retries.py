"""Send a request again while it may still be answered, and while there is time."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from decaf.foundation.calls import Answer, NoAnswer

TIMEOUT, TOO_EARLY, TOO_MANY_REQUESTS, FIRST_SERVER_ERROR = 408, 425, 429, 500


def is_transient(answer: Answer) -> bool:
    """True if the same request may succeed later: 408, 425, 429 or 5xx."""
    status = answer.status
    return status in (TIMEOUT, TOO_EARLY, TOO_MANY_REQUESTS) or status >= FIRST_SERVER_ERROR


def last_answer(
    send: Callable[[float], Answer],
    seconds: float,
    retries: int,
    backoff_seconds: float,
    longest_backoff_seconds: float = math.inf,
    is_transient: Callable[[Answer], bool] = is_transient,
) -> Answer:
    """Send a request, and again after a lost connection, a time-out or a transient answer.

    ``send`` gets the remaining seconds. ``seconds`` limits all attempts and pauses together,
    ``retries`` the number of further attempts. Returns the answer to the last attempt, transient or
    not. Pauses begin with ``backoff_seconds`` and double; they are longer if ``Retry-After`` asks
    for it, but at most ``longest_backoff_seconds``. No attempt follows a pause that would exceed
    ``seconds``. Raises NoAnswer if the last attempt got no answer.
    """
    deadline = time.monotonic() + seconds
    for attempt in range(retries + 1):
        wished, failure = 0.0, None
        try:
            answer = send(deadline - time.monotonic())
            wished = _retry_after(answer)
        except NoAnswer as error:
            failure = error
        doubled = math.ldexp(backoff_seconds, attempt)
        pause = min(max(doubled, wished), longest_backoff_seconds)
        may_pass = failure.may_pass if failure else is_transient(answer)
        if not may_pass or attempt == retries or time.monotonic() + pause >= deadline:
            break
        time.sleep(pause)
    if failure:
        failure.attempts = attempt + 1
        try:
            raise failure
        finally:
            del failure  # its traceback holds this frame
    return answer._replace(attempts=attempt + 1)


def _retry_after(answer: Answer) -> float:
    """Seconds of the server's Retry-After, a number or a date; 0 without it."""
    text = answer.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
