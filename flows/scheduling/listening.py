"""Receive signed webhooks of MLflow's registry about new versions and aliases."""

import base64
import hashlib
import hmac
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from decaf.errors import BadInput, ConfigError

SECRET = "DECAF_MLFLOW_SECRET"
"""Environment variable with the secret that signs MLflow's webhooks."""
SIGNATURE, DELIVERY = "X-MLflow-Signature", "X-MLflow-Delivery-Id"
TIMESTAMP = "X-MLflow-Timestamp"
WINDOW_SECONDS = 300
"""Largest difference between the signed moment and now."""
MOST_BYTES = 1 << 16
REQUEST_SECONDS = 10
ACTIONS = (
    ("model_version", "created"),
    ("model_version_alias", "created"),
    ("model_version_alias", "deleted"),
)
"""Entities and actions after which a registry may list another version."""


class Judgement(NamedTuple):
    """Answer to a request, and the name of the changed model, if any."""

    status: HTTPStatus
    model: str | None = None


def judge(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> Judgement:
    """Judge a request at a moment (seconds since 1970).

    401 without the signature of this body, delivery and moment, or if the moment is outside the
    window; 400 if the signed body is not an event. Else 200, with the model if the event is about a
    version or an alias. A repeated request within the window counts again, since a re-audit without
    changes costs seconds.
    """
    delivery, moment = headers.get(DELIVERY, ""), headers.get(TIMESTAMP, "")
    content = f"{delivery}.{moment}.".encode(errors="surrogateescape") + body
    digest = hmac.new(secret.encode(), content, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}"
    signature = headers.get(SIGNATURE, "").encode(errors="surrogateescape")
    if not (delivery and hmac.compare_digest(signature, expected.encode())):
        return Judgement(HTTPStatus.UNAUTHORIZED)
    if not (moment.isascii() and moment.isdecimal()) or len(moment) > 12:
        return Judgement(HTTPStatus.UNAUTHORIZED)
    if abs(now - int(moment)) > WINDOW_SECONDS:
        return Judgement(HTTPStatus.UNAUTHORIZED)
    try:
        event = json.loads(body)
        kind, model = (event["entity"], event["action"]), event["data"].get("name")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return Judgement(HTTPStatus.BAD_REQUEST)
    return Judgement(HTTPStatus.OK, model if kind in ACTIONS and isinstance(model, str) else None)


def load_secret() -> str:
    """Secret that MLflow signs with.

    Raises ConfigError when the variable is not set.
    """
    if secret := os.environ.get(SECRET):
        return secret
    raise ConfigError(
        f"--listen needs the secret of MLflow's webhook, but {SECRET} is not set; set it, since "
        "otherwise anyone who reaches the address could start re-audits"
    )


def address(place: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``; raises BadInput for other text."""
    host, _, port = place.rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise BadInput(f"--listen {place!r}: expected HOST:PORT, as 127.0.0.1:4300")
    return host.strip("[]"), int(port)


@contextmanager
def listening_at(place: str | None, tell: Callable[[str], None]) -> Iterator[None]:
    """Listen at ``HOST:PORT`` until the block ends; do nothing if ``place`` is None."""
    if not place:
        yield
        return
    with listening(*address(place), load_secret(), tell):
        yield


class _Request(BaseHTTPRequestHandler):
    """A request with a limit on its total reading time, since a slow client never times out."""

    def setup(self) -> None:
        super().setup()
        self._end = threading.Timer(REQUEST_SECONDS, self._stop_reading)
        self._end.daemon = True
        self._end.start()

    def finish(self) -> None:
        self._end.cancel()
        super().finish()

    def _stop_reading(self) -> None:
        with suppress(OSError):  # the connection is already closed
            self.connection.shutdown(socket.SHUT_RD)


class _Server(ThreadingHTTPServer):
    """Server for IPv4 and IPv6 addresses."""

    daemon_threads = True

    def __init__(self, place: tuple[str, int], handler: type[_Request]) -> None:
        self.address_family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
        super().__init__(place, handler)


@contextmanager
def listening(host: str, port: int, secret: str, tell: Callable[[str], None]) -> Iterator[int]:
    """Listen until the block ends, and call ``tell`` with names of models; yields the port."""

    class Handler(_Request):
        def do_POST(self) -> None:
            status, model = self._judge()
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()
            if model is not None:
                tell(model)

        def _judge(self) -> Judgement:
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdecimal()):
                return Judgement(HTTPStatus.LENGTH_REQUIRED)
            if len(length) > len(str(MOST_BYTES)) or int(length) > MOST_BYTES:
                return Judgement(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            body = self.rfile.read(int(length))
            if len(body) < int(length):
                return Judgement(HTTPStatus.REQUEST_TIMEOUT)
            return judge(self.headers, body, secret, time.time())

        def log_message(self, *_: object) -> None:
            """Log nothing, since anyone may send any number of requests."""

    with _Server((host, port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
