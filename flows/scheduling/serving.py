"""``decaf serve``: run a Prefect server and a process worker, and end them together."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from ipaddress import ip_address

from decaf.errors import DecafError, ServerUnreachable, abridge
from decaf.foundation.proxies import LOOPBACK, bypass_proxies
from flows.ports import refuse_taken
from flows.scheduling import listening, processes, service
from flows.scheduling.schedules import CREDENTIALS, POOL, Schedules
from flows.scheduling.watching import CHECK_SECONDS, RegistryWatch
from tasks.progress import announce

POLL_SECONDS, PAUSE_SECONDS = 0.5, 10
SERVER_GRACE_SECONDS = 15
EVERYWHERE = ("0.0.0.0", "::")
LEASES = "prefect.server.concurrency.lease_storage.filesystem"
SERVER_DEFAULTS = {
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    # Leases in memory are lost with the server; a killed run would then block its place forever.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": LEASES,
    # This service would write to SQLite at the moment when the worker takes up a run.
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    # Runs, not only events, are deleted after ninety days.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
}
WORKER = ("worker", "start", "--pool", POOL, "--type", "process", "--name", "decaf")
WORKER_SETTINGS = {
    "PREFECT_WORKER_QUERY_SECONDS": "2",
    # A run that is taken up early would be cancelled for an earlier run that still ends in time.
    "PREFECT_WORKER_PREFETCH_SECONDS": "0",
    "PREFECT_LOGGING_LEVEL": "INFO",
    "PREFECT_LOGGING_TO_API_ENABLED": "true",
}
SERVER_CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"


def serve(host: str, port: int, listen: str | None = None) -> None:
    """Serve until a signal comes, then end all processes, including running flows.

    ``listen`` is ``HOST:PORT`` for MLflow's webhooks, or None. If the server or the worker ends by
    itself, both are started again.

    Raises AlreadyRunning if another process serves this folder; BadInput if the address cannot be
    used; DecafError if the server does not start.
    """
    home = service.home()
    bypass_proxies(host, *LOOPBACK)
    address = f"http://{_reachable(host)}:{port}/api"
    if (configured := os.environ.get(service.ADDRESS, address)) != address:
        announce(
            f"{service.ADDRESS} is {configured}: decaf schedule uses that server, not this one"
        )
    marks = {processes.SERVE: str(home)}
    with service.hold_folder(home, address), signals() as stopping:
        if processes.end(marks):
            announce("ended the remaining processes of a killed decaf serve")
        refuse_taken(host, port, "--port")
        if listen is not None:
            refuse_taken(*listening.address(listen), "--listen")
            listening.load_secret()  # raises before the server's start, not after it
        _settle_credentials(host, port)
        variables = marks | {service.ADDRESS: address, "PREFECT_HOME": str(home)}
        watch = RegistryWatch()
        with (
            listening.listening_at(listen, watch.changed_models.put),
            Schedules(address) as schedules,
        ):
            while True:
                _serve_once(server_command(host, port), variables, schedules, watch, stopping)
                if stopping.wait(PAUSE_SECONDS):
                    return


def _serve_once(
    command: list[str],
    variables: dict[str, str],
    schedules: Schedules,
    watch: RegistryWatch,
    stopping: threading.Event,
) -> None:
    """Start the server and the worker; end both when a signal comes or one of them has ended."""
    running = {"Prefect server": processes.start(command, variables | _server_settings())}
    try:
        _await(running["Prefect server"], schedules, stopping)
        if stopping.is_set():
            return
        schedules.make_pool()
        schedules.begin_again(schedules.under_way())  # no process of them is left
        worker = processes.python("prefect", *WORKER)
        running["worker"] = processes.start(worker, variables | WORKER_SETTINGS)
        announce(f"serving at {variables[service.ADDRESS].removesuffix('/api')}")
        _begin_runs(running, schedules, watch, stopping)
    except ServerUnreachable as error:  # as when its database is locked
        announce(f"{error}; starting again")
    finally:
        _stop(running, schedules, {processes.SERVE: variables[processes.SERVE]})


def _begin_runs(
    running: dict[str, subprocess.Popen[bytes]],
    schedules: Schedules,
    watch: RegistryWatch,
    stopping: threading.Event,
) -> None:
    """Begin runs for changes, until a signal comes or a process has ended."""
    next_check = 0.0
    while not stopping.wait(POLL_SECONDS):
        for name, process in running.items():
            if (status := process.poll()) is not None:
                announce(f"the {name} ended with status {status}; starting again")
                return
        if time.monotonic() < next_check:
            continue
        next_check = time.monotonic() + CHECK_SECONDS
        try:
            begin_changed(schedules, watch, datetime.now(UTC))
        except ServerUnreachable as error:
            announce(f"{error}; checking again in {CHECK_SECONDS:g} s")


def begin_changed(schedules: Schedules, watch: RegistryWatch, now: datetime) -> None:
    """Begin a run of each schedule whose registry has changed, unless one is due or under way.

    The limit of one run would cancel a second run, and its changed entries would be lost.
    """
    watched = [schedule for schedule in schedules.all() if schedule.is_watched]
    runs = [*schedules.under_way(), *schedules.due()] if watched else []
    changed = watch.due(watched, now, {run.deployment_id for run in runs})
    for schedule in watched:
        if schedule.id in changed:
            announce(f"{schedule.name}: {abridge(changed[schedule.id])} changed")
            schedules.run_now(schedule.id, changed[schedule.id])


def _stop(
    running: dict[str, subprocess.Popen[bytes]], schedules: Schedules, marks: dict[str, str]
) -> None:
    """End the worker, its runs, and the server; runs under way begin again at the next start."""
    server = running["Prefect server"]
    try:
        interrupted = [] if server.poll() is not None else schedules.under_way()
        if worker := running.get("worker"):
            worker.kill()  # asked to end, it waits for its runs
            worker.wait()
        processes.end(marks | {processes.RUN: None})
        schedules.begin_again(interrupted)
    except ServerUnreachable as error:
        announce(f"{error}; interrupted runs begin again at the next start")
    processes.stop(server, SERVER_GRACE_SECONDS)
    processes.end(marks)


def server_command(host: str, port: int) -> list[str]:
    """Command that starts the server in the foreground."""
    program = processes.python("flows.scheduling.server")
    return [*program, "server", "start", "--host", host, "--port", str(port)]


@contextmanager
def signals() -> Iterator[threading.Event]:
    """Yield an event that SIGTERM, SIGINT and SIGHUP set; a second signal interrupts at once."""
    stopping = threading.Event()

    def stop(number: int, _: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        announce("stopping; interrupted runs begin again at the next start")
        stopping.set()

    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield stopping
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _settle_credentials(host: str, port: int) -> None:
    """Have the worker and this process use the server's credentials; warn if it has none."""
    if SERVER_CREDENTIALS in os.environ:
        os.environ.setdefault(CREDENTIALS, os.environ[SERVER_CREDENTIALS])
    elif not _is_loopback(host):
        announce(
            f"warning: anyone who reaches {host}:{port} can run configurations, hence code, as "
            f"this user; set {SERVER_CREDENTIALS} to user:password"
        )


def _server_settings() -> dict[str, str]:
    """Settings of the server, except those that the user has set."""
    return {name: os.environ.get(name, default) for name, default in SERVER_DEFAULTS.items()}


def _await(
    server: subprocess.Popen[bytes], schedules: Schedules, stopping: threading.Event
) -> None:
    announce("starting Prefect's server")
    while not (stopping.is_set() or schedules.is_up()):
        if (status := server.poll()) is not None:
            raise DecafError(
                f"Prefect's server ended with status {status} before it answered; its messages are "
                "above"
            )
        stopping.wait(POLL_SECONDS)


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
