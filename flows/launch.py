"""Carry out a flow of Prefect so that nothing outlives it."""

import os
import socket
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from decaf.errors import DecafError, OrchestrationLost
from decaf.foundation.proxies import open_client
from decaf.foundation.yaml_source import Source
from flows.final_state import final_state
from flows.stopping import heed_signals
from tasks.progress import telling

PORTS = {"http": 80, "https": 443}
ANSWER_SECONDS = 5
NO_PREFECT = "Failed to reach API"
"""What Prefect says of a server that answers, and is none of Prefect's."""


def launch(
    name: str, config: Source, *work: Any, conclude: Callable[[Any], None] = lambda _: None
) -> None:
    """Run the function ``name`` of the module of that name on some work, as a flow of Prefect.

    Where a flow is under way, which a worker of Prefect has started, it is that one. Its parameter
    is the study's file. From here on SIGTERM, and SIGHUP when the terminal closes, end this process
    as Ctrl-C does. In the flow, too, ``conclude`` gets the result; errors are its last state.

    Raises OrchestrationLost when the Prefect server cannot be reached, or not any more; Stopped
    when a signal came; BadInput when Prefect's client cannot use the proxies of the environment.
    """
    carry_out = partial(_carry_out, name, work, conclude)
    if is_in_flow():
        carry_out()
        return
    heed_signals()
    with telling("the start of Prefect"):
        open_client().close()  # Prefect's client opens one, too
        import_module(f"flows.{name}")
    try:
        _as_flow(name, carry_out, config)
    except DecafError:
        raise
    except Exception as error:
        if url := os.environ.get("PREFECT_API_URL"):
            _raise_if_lost(url, error)
        raise


def _carry_out(name: str, work: Iterable[Any], conclude: Callable[[Any], None]) -> None:
    conclude(getattr(import_module(f"flows.{name}"), name)(*work))


def is_in_flow() -> bool:
    """Whether a flow is under way; where Prefect is not imported there is none."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def _as_flow(name: str, carry_out: Callable[[], None], config: Path) -> None:
    from prefect import flow
    from prefect.exceptions import FailedRun

    from tasks.prefect.local import engine_settings

    ended: list[DecafError] = []

    @flow(name=name, flow_run_name=name + "-{config.stem}", retries=0)
    def whole(config: Path) -> Any:
        heed_signals()  # Prefect has replaced what heeds SIGTERM, so none would count as received
        try:
            carry_out()
        except DecafError as error:
            ended.append(error)
            return final_state(error)

    with engine_settings():
        try:
            whole(config)
        except FailedRun:  # the state above
            if not ended:
                raise
    if ended:
        raise ended[0]


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
