"""Carry out a flow: with a Prefect server, and so that nothing outlives it."""

import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from decaf.errors import DecafError, OrchestrationLost
from decaf.foundation.yaml_source import Source
from flows.stopping import heed_signals
from tasks.prefect.server import OwnServer, stop_orphans

PORTS = {"http": 80, "https": 443}
ANSWER_SECONDS = 5
NO_PREFECT = "Failed to reach API"
"""What Prefect says of a server that answers, and is none of Prefect's."""
NEEDS_ATTENTION = "NeedsAttention"
"""State of a flow run that did all its work, and found what somebody has to answer."""


def launch(
    name: str, config: Source, *work: Any, needs_attention: Callable[[Any], str] = lambda _: ""
) -> Any:
    """Run the function ``name`` of the module of that name on some work, as a flow of Prefect.

    Where a flow is under way, which a worker of Prefect has started, it is that one. Prefect shows
    the study's file as the flow's parameter. From here on SIGTERM, and SIGHUP when the terminal
    closes, end this process as Ctrl-C does. Returns what the function returns; where
    ``needs_attention`` has words about it, the flow run ends as failed, under these words.

    Raises OrchestrationLost when the Prefect server cannot be reached, or not any more; Stopped
    when a signal came.
    """
    if is_in_flow():
        return getattr(import_module(f"flows.{name}"), name)(*work)
    heed_signals()
    stop_orphans()
    own = None if os.environ.get("PREFECT_API_URL") else OwnServer()
    if own is not None:
        os.environ["PREFECT_API_URL"] = own.url  # read when Prefect is imported
    carry_out = getattr(import_module(f"flows.{name}"), name)  # takes as long as the start
    if own is not None:
        own.wait()
    try:
        return _as_flow(name, partial(carry_out, *work), config, needs_attention)
    except DecafError:
        raise
    except Exception as error:
        _raise_if_lost(os.environ["PREFECT_API_URL"], error)
        raise


def is_in_flow() -> bool:
    """Whether a flow is under way; where Prefect is not imported there is none."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def _as_flow(
    name: str, carry_out: Callable[[], Any], config: Path, needs_attention: Callable[[Any], str]
) -> Any:
    from prefect import flow
    from prefect.exceptions import FailedRun
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.states import Failed

    results = []

    @flow(name=name, flow_run_name=name + "-{config.stem}", retries=0)
    def whole(config: Path) -> Any:
        results.append(carry_out())
        words = needs_attention(results[0])
        return Failed(name=NEEDS_ATTENTION, message=words) if words else None

    # Nobody listens to heartbeats, and a flow would wait a second for the end of their thread.
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        try:
            whole(config)
        except FailedRun:  # the state above; errors come as themselves
            if not results:
                raise
    return results[0]


def _raise_if_lost(url: str, error: Exception) -> None:
    if NO_PREFECT in str(error) or not _is_reachable(url):
        raise OrchestrationLost(
            f"no Prefect server can be reached at {url} ({type(error).__name__}); what is "
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
