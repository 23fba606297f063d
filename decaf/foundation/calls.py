"""HTTP calls that end: in so many seconds, and with so many bytes of a decoded answer.

A time-out of httpx bounds one silence of a server, so one that sends a byte a second is waited for
without end, and what it sends is held without limit. Here the whole call has a bound, from the look
up of the name to the last byte.
"""

import io
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

from decaf.foundation.proxies import open_client

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 32 << 20
"""Of one decoded answer that is held in memory."""
DECODED_AT_ONCE = 1 << 20
GZIP = 31
"""What zlib calls the format."""
SUCCESS, REDIRECT, REFUSAL = 200, 300, 400
Result = TypeVar("Result")


class NoAnswer(Exception):
    """No answer has come, or none that can be taken, for the reason that is its text.

    ``may_pass`` says whether the same call may be answered later, ``attempts`` how many were made.
    """

    attempts = 1

    def __init__(self, reason: str, *, may_pass: bool = True) -> None:
        super().__init__(reason)
        self.may_pass = may_pass


class Answer(NamedTuple):
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    attempts: int = 1

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return SUCCESS <= self.status < REDIRECT

    @property
    def said(self) -> str:
        """The status; of a redirect also where to, since none is followed."""
        target = self.headers.get("Location") if REDIRECT <= self.status < REFUSAL else None
        to = f", a redirect to {target[:200]!r}: redirects are not followed" if target else ""
        return f"status {self.status}{to}"

    @property
    def text(self) -> str:
        """The content as UTF-8, whatever it is."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """The content as JSON; ValueError where it is none, or nested too deeply."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError("JSON that is nested too deeply") from None


class Caller:
    """Calls over one client of httpx, whose connections are reused; follows no redirect.

    ``silence_seconds`` is the longest wait for a connection and for each next byte; other options
    are those of ``httpx.Client``. Proxies and certificates of the environment are honoured; this
    machine is reached past proxies. Raises BadInput where httpx cannot use the proxies.
    """

    def __init__(self, silence_seconds: float, **options: Any) -> None:
        self._options = {"timeout": silence_seconds, **options}
        self._client = self._opened()

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def call(
        self,
        method: str,
        url: str,
        seconds: float,
        into: BinaryIO | None = None,
        most_bytes: int = MOST_BYTES,
        **request: Any,
    ) -> Answer:
        """Ask once; the content goes to the answer, or ``into`` a file.

        With ``most_bytes`` 0 the content is not read. Raises NoAnswer when there is no connection,
        the answer is not whole after ``seconds``, has more bytes, or is not HTTP.
        """
        client, deadline = self._client, time.monotonic() + seconds
        try:
            return _within(
                seconds, lambda: _read(client, method, url, deadline, into, most_bytes, request)
            )
        except TimeoutError:
            client.close()  # which ends the thread that waits for the next byte
            self._client = self._opened()
            raise NoAnswer(f"no whole answer within {max(seconds, 0):.3g} s") from None

    def _opened(self) -> "httpx.Client":
        client = open_client(**self._options)
        client.headers["Accept-Encoding"] = "gzip"  # the one that is decoded within bounds here
        return client


def _within(seconds: float, work: Callable[[], Result]) -> Result:
    """Result of some work in a thread; TimeoutError, and the work goes on, after so long."""
    outcome: Future[Result] = Future()
    threading.Thread(target=_do, args=(work, outcome), name="call", daemon=True).start()
    try:
        return outcome.result(max(seconds, 0.0))
    finally:
        del outcome  # it holds the error, whose traceback holds this frame


def _do(work: Callable[[], Result], outcome: "Future[Result]") -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised where the work is waited for
        outcome.set_exception(error)
    finally:
        del outcome


def _read(
    client: "httpx.Client",
    method: str,
    url: str,
    deadline: float,
    into: BinaryIO | None,
    most_bytes: int,
    request: Mapping[str, Any],
) -> Answer:
    import httpx

    read = io.BytesIO()
    sink = into or read
    try:
        with client.stream(method, url, **request) as response:
            left = most_bytes
            for part in _decoded(response) if most_bytes else ():
                left -= len(part)
                if left < 0:
                    raise NoAnswer(f"an answer of more than {most_bytes:,} bytes", may_pass=False)
                if time.monotonic() > deadline:
                    raise TimeoutError
                sink.write(part)
            return Answer(response.status_code, response.headers, read.getvalue())
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise NoAnswer(f"{type(error).__name__}: {error}") from error
    except zlib.error as error:
        raise NoAnswer("gzip that is damaged", may_pass=False) from error
    except (httpx.InvalidURL, UnicodeError) as error:
        raise NoAnswer(f"{type(error).__name__}: {error}", may_pass=False) from error


def _decoded(response: "httpx.Response") -> Iterator[bytes]:
    """Parts of the content; gzip in small ones, however much a few bytes stand for."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        yield from response.iter_raw()
        return
    if encoding != "gzip":
        raise NoAnswer(f"an answer encoded as {encoding[:50]!r}; expected gzip", may_pass=False)
    inflater = zlib.decompressobj(wbits=GZIP)
    for part in response.iter_raw():
        decoded = inflater.decompress(part, DECODED_AT_ONCE)
        while decoded:
            yield decoded
            decoded = inflater.decompress(inflater.unconsumed_tail, DECODED_AT_ONCE)
    if not inflater.eof:
        raise NoAnswer("gzip that is cut short")
