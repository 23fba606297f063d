"""Prefect's engine without a server: the flow of a command line where ``PREFECT_API_URL`` is unset.

A server takes seconds to import and to make its database, and nobody asks it about a run that ends
with its command: receipts decide what is done. The engine that names, runs and ends the steps is
the same with and without a server.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import httpx
from prefect.client.base import ServerType
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import FlowRun
from prefect.client.schemas.responses import (
    OrchestrationResult,
    SetStateStatus,
    StateAcceptDetails,
)
from prefect.context import ContextModel, SyncClientContext, get_settings_context
from prefect.states import Pending, State
from pydantic import SecretStr


def has_server() -> bool:
    """True if a Prefect server is named, which keeps runs, events and artifacts."""
    return bool(os.environ.get("PREFECT_API_URL"))


class LocalClient(SyncPrefectClient):
    """Client of one flow run that keeps the run in memory and accepts each of its states.

    It has the requests that Prefect's engine makes for a flow without parents, retries and
    deployments. Any other request raises AttributeError: there is no connection.
    """

    server_type = ServerType.EPHEMERAL
    api_url = httpx.URL("local:")

    def __init__(self) -> None:  # of the base class it would open a connection
        self._run: FlowRun | None = None

    def __enter__(self) -> "LocalClient":
        return self

    def __exit__(self, *_: object) -> None:
        return

    def create_flow_run(self, flow: Any, *_: Any, **fields: Any) -> FlowRun:
        """Make the run of a flow; of the fields it keeps parameters and tags."""
        self._run = FlowRun(
            flow_id=uuid4(),
            flow_version=flow.version,
            parameters=fields.get("parameters") or {},
            tags=list(fields.get("tags") or ()),
            state=fields.get("state") or Pending(),
        )
        return self._run

    def read_flow_run(self, flow_run_id: UUID) -> FlowRun:
        """Return the run."""
        assert self._run is not None
        assert self._run.id == flow_run_id
        return self._run

    def set_flow_run_state(
        self, flow_run_id: UUID | str, state: State, force: bool = False
    ) -> OrchestrationResult:
        """Accept a state."""
        self._run.state = state
        return OrchestrationResult(
            state=state, status=SetStateStatus.ACCEPT, details=StateAcceptDetails()
        )

    def set_flow_run_name(self, flow_run_id: UUID, name: str) -> httpx.Response:
        """Name the run."""
        self._run.name = name
        return httpx.Response(httpx.codes.NO_CONTENT)

    def read_server_default_result_storage(self) -> SimpleNamespace:
        """Name no place for results: steps keep theirs in memory."""
        return SimpleNamespace(default_result_storage_block_id=None)


class _LocalClientContext(SyncClientContext):
    """Hands a LocalClient to the engine; Prefect's own context opens a connection."""

    def __init__(self) -> None:
        ContextModel.__init__(self, client=LocalClient())

    def __enter__(self) -> "_LocalClientContext":
        return ContextModel.__enter__(self)

    def __exit__(self, *error: object) -> None:
        ContextModel.__exit__(self, *error)


@contextmanager
def engine_settings() -> Iterator[None]:
    """Run the flows of the block without heartbeats, and without a server where none is named.

    Nobody listens to heartbeats, and a flow would wait a second for the end of their thread.
    Prefect's ``temporary_settings`` reads all settings anew, half a second of a core.
    """
    context = get_settings_context()
    flows = context.settings.flows.model_copy(update={"heartbeat_frequency": None})
    changes: dict[str, Any] = {"flows": flows}
    if has_server():
        with context.model_copy(update={"settings": context.settings.model_copy(update=changes)}):
            yield
        return
    # Without a URL Prefect sends events to a server that it starts, unless there is a key.
    server = {"url": None, "key": SecretStr("local")}
    changes["api"] = context.settings.api.model_copy(update=server)
    settings = context.settings.model_copy(update=changes)
    with context.model_copy(update={"settings": settings}), _LocalClientContext():
        yield
