"""Carry out a flow of Prefect so that nothing outlives it."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from decaf.errors import DecafError, OrchestrationLost
from decaf.foundation.proxies import open_client
from decaf.foundation.yaml_source import Source
from flows.final_state import final_state
from flows.stopping import heed_signals
from tasks.progress import telling

Result = TypeVar("Result")

PORTS = {"http": 80, "https": 443}
ANSWER_SECONDS = 5
NO_PREFECT = "Failed to reach API"
"""What Prefect says of a server that answers, and is none of Prefect's."""


@contextmanager
def start_prefect() -> Iterator[None]:
    """Say how long the imports of Prefect take, which the block makes.

    Prefect is imported by the modules of a flow. From here on SIGTERM, and SIGHUP when the terminal
    closes, end this process as Ctrl-C does. Where a flow is under way, which a worker of Prefect
    has started, Prefect heeds the signals.

    Raises BadInput when Prefect's client cannot use the proxies of the environment.
    """
    if is_in_flow():
        yield
        return
    heed_signals()
    with telling("the start of Prefect"):
        open_client().close()  # Prefect's client opens one, too
        yield


def launch(
    work: Callable[..., Result],
    config: Source,
    *arguments: Any,
    conclude: Callable[[Result], None] = lambda _: None,
) -> None:
    """Run ``work(*arguments)`` as a flow of Prefect, which is called by the name of the function.

    Where a flow is under way, which a worker of Prefect has started, it is that one. Its parameter
    is the study's file. In the flow, too, ``conclude`` gets the result; errors are its last state.
    Import the function in a block of :func:`start_prefect`.

    Raises OrchestrationLost when the Prefect server cannot be reached, or not any more; Stopped
    when a signal came.
    """
    if is_in_flow():
        conclude(work(*arguments))
        return
    try:
        _run_as_flow(work.__name__, lambda: conclude(work(*arguments)), config)
    except DecafError:
        raise
    except Exception as error:
        if url := os.environ.get("PREFECT_API_URL"):
            _raise_if_lost(url, error)
        raise


def is_in_flow() -> bool:
    """Whether a flow is under way; where Prefect is not imported there is none."""
    context = sys.modules.get("prefect.context")
    return context is not None and context.FlowRunContext.get() is not None


def _run_as_flow(name: str, carry_out: Callable[[], None], config: Path) -> None:
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
