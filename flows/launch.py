"""Carry out a flow: with a Prefect server, and so that nothing outlives it."""

import os
import socket
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from decaf.errors import DecafError, OrchestrationLost
from flows.stopping import heed_signals
from tasks.prefect.server import OwnServer, stop_orphans

PORTS = {"http": 80, "https": 443}
ANSWER_SECONDS = 5


def launch(name: str, config: Path) -> Any:
    """Run the flow ``name`` of the module of that name; returns what it returns.

    From here on SIGTERM, and SIGHUP when the terminal closes, end this process as Ctrl-C does.

    Raises OrchestrationLost when the Prefect server cannot be reached, or not any more; Stopped
    when a signal came.
    """
    heed_signals()
    stop_orphans()
    own = None if os.environ.get("PREFECT_API_URL") else OwnServer()
    if own is not None:
        os.environ["PREFECT_API_URL"] = own.url  # read when Prefect is imported
    flow = getattr(import_module(f"flows.{name}"), name)  # which takes as long as the start
    if own is not None:
        own.wait()
    try:
        return _without_heartbeats(flow, config)
    except DecafError:
        raise
    except Exception as error:
        _raise_if_lost(os.environ["PREFECT_API_URL"], error)
        raise


def _without_heartbeats(flow: Callable[[Path], Any], config: Path) -> Any:
    """Nobody listens to heartbeats, and a flow would wait a second for the end of their thread."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        return flow(config)


def _raise_if_lost(url: str, error: Exception) -> None:
    if not _is_reachable(url):
        raise OrchestrationLost(
            f"the Prefect server at {url} cannot be reached ({type(error).__name__}); what is "
            "committed is safe: start it, or unset PREFECT_API_URL, and give the same command again"
        ) from error


def _is_reachable(url: str) -> bool:
    parts = urlsplit(url)
    try:
        place = (parts.hostname, parts.port or PORTS.get(parts.scheme))
        with socket.create_connection(place, ANSWER_SECONDS):
            return True
    except OSError:
        return False
