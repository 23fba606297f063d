"""``decaf serve``: a Prefect server and a runner of its schedules, kept alive, ended as one."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from decaf.errors import BadInput, DecafError
from decaf.foundation.proxies import LOOPBACK, bypass_proxies
from flows.scheduling import listening, processes, service
from flows.scheduling.schedules import CREDENTIALS, Schedules
from tasks.progress import announce

POLL_SECONDS = 0.5
STEADY_SECONDS = 60
"""A process that has lived so long is started again at once when it ends."""
LONGEST_PAUSE_SECONDS = 60
RUNNER_GRACE_SECONDS = 60
SERVER_GRACE_SECONDS = 15
EVERYWHERE = ("0.0.0.0", "::")
SERVER_DEFAULTS = {
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    # Calling a run late is one more writer to SQLite, at the moment when the runner takes it up.
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    # Runs are forgotten after ninety days, and not events alone: one a minute is half a million.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
}
SERVER_CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"


class Kept:
    """A process that is started again whenever it ends, with growing pauses if that is soon."""

    def __init__(self, name: str, command: list[str], variables: dict[str, str]) -> None:
        self._name, self._command, self._variables = name, command, variables
        self._failures = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._started = self._next = 0.0

    def start(self) -> None:
        """Start it."""
        self._process = processes.start(self._command, self._variables)
        self._started = time.monotonic()

    def status(self) -> int | None:
        """How it ended; None while it is there."""
        return self._process.poll() if self._process is not None else None

    def keep(self) -> None:
        """Start it again if it has ended and its pause is over."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._next:
                self.start()
            return
        status = self._process.poll()
        if status is None:
            return
        self._failures = 1 if now - self._started >= STEADY_SECONDS else self._failures + 1
        pause = min(2 ** (self._failures - 1), LONGEST_PAUSE_SECONDS)
        announce(f"the {self._name} ended with status {status}; it is started again in {pause} s")
        self._process, self._next = None, now + pause

    def stop(self, grace_seconds: float) -> None:
        """End it for good."""
        if self._process is not None:
            processes.stop(self._process, grace_seconds)


def serve(host: str, port: int, listen: str | None = None) -> None:
    """Serve until a signal comes; no process of it is left then, runs under way included.

    ``listen`` is ``HOST:PORT`` for MLflow's webhooks; nobody listens where it is None.

    Raises AlreadyRunning when this folder is served by another process; BadInput when the address
    cannot be used; DecafError when the server does not start.
    """
    home = service.home()
    bypass_proxies(host, *LOOPBACK)
    address = f"http://{_reachable(host)}:{port}/api"
    if (other := os.environ.get(service.ADDRESS, address)) != address:
        announce(f"{service.ADDRESS} is {other}: decaf schedule asks there, not this server")
    with service.held(home, address), signals() as stopping:
        if processes.end({processes.SERVE: str(home)}):
            announce("ended what a decaf serve that was killed had left behind")
        refuse_taken(host, port, "--port")
        if listen is not None:
            refuse_taken(*listening.address(listen), "--listen")
            listening.secret()  # missed now, not in the runner
        if not _is_loopback(host) and SERVER_CREDENTIALS not in os.environ:
            announce(
                f"warning: whoever reaches {host}:{port} can run configurations, hence code, as "
                f"this user; set {SERVER_CREDENTIALS} to user:password"
            )
        if SERVER_CREDENTIALS in os.environ:
            os.environ.setdefault(CREDENTIALS, os.environ[SERVER_CREDENTIALS])
        marks = {processes.SERVE: str(home)}
        own = marks | {service.ADDRESS: address, "PREFECT_HOME": str(home)}
        own[listening.LISTEN] = listen or ""
        server = Kept("Prefect server", server_command(host, port), own | _server_settings())
        runner = Kept("runner", processes.python("flows.scheduling.runner"), own)
        try:
            server.start()
            _await(server, Schedules(address), stopping)
            if not stopping.is_set():
                announce(f"serving at {address.removesuffix('/api')}; schedules in {home}")
                runner.start()
            while not stopping.wait(POLL_SECONDS):
                server.keep()
                runner.keep()
        finally:
            runner.stop(RUNNER_GRACE_SECONDS)
            processes.end(marks | {processes.RUN: None})
            server.stop(SERVER_GRACE_SECONDS)
            processes.end(marks)


def server_command(host: str, port: int) -> list[str]:
    """Command that starts the server in the foreground."""
    program = processes.python("flows.scheduling.server")
    return [*program, "server", "start", "--host", host, "--port", str(port)]


@contextmanager
def signals() -> Iterator[threading.Event]:
    """An event that SIGTERM, SIGINT and SIGHUP set; a second one of them is not waited for."""
    stopping = threading.Event()

    def stop(number: int, _: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        announce("stopping; what is under way goes on at the next start")
        stopping.set()

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield stopping
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _server_settings() -> dict[str, str]:
    """Settings of the server alone, which lives for weeks, unless the user has set them."""
    return {name: os.environ.get(name, default) for name, default in SERVER_DEFAULTS.items()}


def _await(server: Kept, schedules: Schedules, stopping: threading.Event) -> None:
    announce("starting Prefect's server")
    while not (stopping.is_set() or schedules.is_up()):
        if server.status() is not None:
            raise DecafError(
                f"Prefect's server ended with status {server.status()} before it answered; what "
                "it said is above"
            )
        stopping.wait(POLL_SECONDS)


def refuse_taken(host: str, port: int, option: str) -> None:
    """Raise BadInput where a port of a host cannot be listened at; ``option`` names it."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise BadInput(
            f"{host}:{port} cannot be served ({error.strerror or error}); give another {option} "
            "of this machine"
        ) from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reachable(host: str) -> str:
    """Name by which this machine reaches a host that it listens on."""
    if host in EVERYWHERE:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
