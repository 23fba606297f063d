"""Carry out a flow, as a Prefect flow if a server is configured."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from decaf.errors import DecafError, OrchestrationLost
from decaf.foundation.proxies import open_client
from decaf.foundation.yaml_source import Source
from flows.final_state import final_state
from flows.stopping import heed_signals
from tasks.progress import announce_while_running
from tasks.step import is_in_flow

Result = TypeVar("Result")

PORTS = {"http": 80, "https": 443}
ANSWER_SECONDS = 5
NO_PREFECT = "Failed to reach API"
"""Prefect's message for a server that answers and is not a Prefect server."""


def launch(
    work: Callable[..., Result],
    config: Source,
    *arguments: Any,
    conclude: Callable[[Result], None] = lambda _: None,
) -> None:
    """Carry out ``work(*arguments)``; ``conclude`` gets the result, and its error fails the flow.

    If ``PREFECT_API_URL`` names a server, the work is a Prefect flow with the name of the function,
    the study's file as parameter, and a failed state for an error. If a Prefect worker has already
    started a flow, the work is a part of this flow. Otherwise SIGTERM, and SIGHUP when the terminal
    closes, end this process like Ctrl-C.

    Raises BadInput if Prefect's client cannot use the proxies of the environment,
    OrchestrationLost if the server cannot be reached at the start or later, and Stopped after a
    signal.
    """
    has_flow, url = is_in_flow(), os.environ.get("PREFECT_API_URL")
    if not has_flow:
        heed_signals()
    if has_flow or not url:
        conclude(work(*arguments))
        return
    try:
        _run_as_flow(work.__name__, lambda: conclude(work(*arguments)), config)
    except DecafError:
        raise
    except Exception as error:
        _raise_if_lost(url, error)
        raise


def _run_as_flow(name: str, carry_out: Callable[[], None], config: Path) -> None:
    with announce_while_running("the start of Prefect"):
        open_client().close()  # Prefect's client opens one, too
        from prefect import flow
        from prefect.context import get_settings_context
        from prefect.exceptions import FailedRun

    errors: list[DecafError] = []

    @flow(name=name, flow_run_name=name + "-{config.stem}", retries=0)
    def run_flow(config: Path) -> Any:
        heed_signals()  # Prefect has replaced the handler of SIGTERM
        try:
            carry_out()
        except DecafError as error:
            errors.append(error)
            return final_state(error)

    # Nothing reads heartbeats here, and a flow would wait a second for the end of their thread.
    # Prefect's ``temporary_settings`` would read all settings again, in half a second of a core.
    context = get_settings_context()
    flows = context.settings.flows.model_copy(update={"heartbeat_frequency": None})
    settings = context.settings.model_copy(update={"flows": flows})
    with context.model_copy(update={"settings": settings}):
        try:
            run_flow(config)
        except FailedRun:  # the state above
            if not errors:
                raise
    if errors:
        raise errors[0]


def _raise_if_lost(url: str, error: Exception) -> None:
    if NO_PREFECT in str(error) or not _is_reachable(url):
        raise OrchestrationLost(
            f"no Prefect server can be reached at {url} ({type(error).__name__}); committed "
            "results are safe: start it, or unset PREFECT_API_URL, and repeat the command"
        ) from error


def _is_reachable(url: str) -> bool:
    parts = urlsplit(url)
    try:
        place = (parts.hostname, parts.port or PORTS.get(parts.scheme))
        with socket.create_connection(place, ANSWER_SECONDS):
            return True
    except OSError:
        return False
