"""HTTP calls with a time-out for each silence of a server, and a deadline for the whole answer."""

import io
import json
import time
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from decaf.foundation.proxies import open_client

SUCCESS, REDIRECT, REFUSAL = 200, 300, 400


class NoAnswer(Exception):
    """There was no answer, or no usable one; the text of the error is the reason.

    ``may_pass`` says whether the same call may be answered later, ``attempts`` how many were made.
    """

    attempts = 1

    def __init__(self, reason: str, *, may_pass: bool = True) -> None:
        super().__init__(reason)
        self.may_pass = may_pass


class Answer(NamedTuple):
    """Answer of a server."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    attempts: int = 1

    @property
    def is_success(self) -> bool:
        """True if the status is 2xx."""
        return SUCCESS <= self.status < REDIRECT

    @property
    def status_text(self) -> str:
        """The status, for messages; with the target of a redirect, which is not followed."""
        target = self.headers.get("Location") if REDIRECT <= self.status < REFUSAL else None
        to = f", a redirect to {target[:200]!r}: redirects are not followed" if target else ""
        return f"status {self.status}{to}"

    @property
    def text(self) -> str:
        """The content as UTF-8; invalid bytes are replaced."""
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        """Parse the content as JSON; raises ValueError if it is not JSON."""
        return json.loads(self.content)


class Caller:
    """Calls over one client of httpx, whose connections are reused; follows no redirect.

    ``silence_seconds`` is the longest wait for a connection and for each next byte; other options
    are those of ``httpx.Client``. Proxies and certificates of the environment are honoured; this
    machine is reached past proxies. Raises BadInput where httpx cannot use the proxies.
    """

    def __init__(self, silence_seconds: float, **options: Any) -> None:
        self._silence_seconds = silence_seconds
        self._client = open_client(**options)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def call(
        self,
        method: str,
        url: str,
        seconds: float,
        into: BinaryIO | None = None,
        most_bytes: int | None = None,
        **request: Any,
    ) -> Answer:
        """Send a request once; return the decoded content, or write it ``into`` a file.

        With ``most_bytes`` 0 the content is not read; None sets no limit. Raises NoAnswer when
        there is no connection, the content is not whole after ``seconds``, has more bytes, or is
        not HTTP.
        """
        import httpx

        if seconds <= 0:
            raise NoAnswer("the deadline has passed")
        deadline = time.monotonic() + seconds
        request["timeout"] = min(self._silence_seconds, seconds)
        content = io.BytesIO()
        sink = into or content
        try:
            with self._client.stream(method, url, **request) as response:
                byte_count = 0
                for part in response.iter_bytes() if most_bytes != 0 else ():
                    byte_count += len(part)
                    if most_bytes is not None and byte_count > most_bytes:
                        reason = f"an answer of more than {most_bytes:,} bytes"
                        raise NoAnswer(reason, may_pass=False)
                    if time.monotonic() > deadline:
                        raise NoAnswer(f"no whole answer within {seconds:.3g} s")
                    sink.write(part)
                return Answer(response.status_code, response.headers, content.getvalue())
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        except (httpx.InvalidURL, UnicodeError) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}", may_pass=False) from error
