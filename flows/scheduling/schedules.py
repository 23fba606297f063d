"""Schedules: deployments of the flow ``scheduled`` in a process work pool of a Prefect server.

Prefect makes the runs, shows, pauses and cancels them, and its limit of one run per deployment
cancels a run that is due while another one runs.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import UUID

from httpx import HTTPError, HTTPStatusError, codes
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas import filters
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.objects import (
    ConcurrencyLimitStrategy,
    ConcurrencyOptions,
    FlowRun,
    StateType,
)
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.client.schemas.sorting import FlowRunSort
from prefect.context import get_settings_context
from prefect.exceptions import ObjectAlreadyExists, PrefectException
from prefect.states import AwaitingRetry, Cancelled

from decaf.errors import ServerUnreachable, UnknownName

FLOW, ENTRYPOINT, POOL = "scheduled", "flows.deployed.scheduled", "decaf"
ON_CHANGE = "on-change"
"""Tag of a schedule that also runs when something changes in its registry."""
WAITING = {"type": {"any_": [StateType.SCHEDULED]}}
UNDER_WAY = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
ENDED = [StateType.COMPLETED, StateType.FAILED, StateType.CANCELLED]
PAGE, MOST_RETRIES = 200, 2
CREDENTIALS = "PREFECT_API_AUTH_STRING"
"""Environment variable of Prefect with ``user:password``."""


class Schedule(NamedTuple):
    """A configuration with the times of its runs."""

    id: UUID
    name: str
    cron: str
    timezone: str
    config: Path
    folder: Path
    """Working directory of its runs; relative paths of the configuration start here."""
    is_paused: bool
    is_served: bool
    """True if a worker has polled its runs within the last minute."""
    is_watched: bool = False
    """True if it also runs when its registry changes."""


class Schedules:
    """The schedules of one server; every method raises ServerUnreachable if it does not answer."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = SyncPrefectClient(address, auth_string=os.environ.get(CREDENTIALS))

    def __enter__(self) -> Self:
        self._client.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._client.__exit__(*error)

    def is_up(self) -> bool:
        """True if the server answers."""
        with _retries(0):
            return self._client.api_healthcheck() is None

    def all(self) -> list[Schedule]:
        """Every schedule, by name."""
        return [schedule for each in self._deployments() if (schedule := _schedule(each))]

    def find_schedule(self, name: str) -> Schedule:
        """Find a schedule by its name; raises UnknownName for an unknown name."""
        by_name = {schedule.name: schedule for schedule in self.all()}
        if name not in by_name:
            raise UnknownName.among("schedule", name, by_name)
        return by_name[name]

    def make_pool(self) -> None:
        """Make the work pool of the schedules, unless it exists."""
        with self._errors():
            try:
                self._client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
            except ObjectAlreadyExists:
                return

    def add(
        self, name: str, cron: str, timezone: str, config: Path, folder: Path, is_watched: bool
    ) -> FlowRun | None:
        """Make a schedule; returns its first run."""
        when = CronSchedule(cron=cron, timezone=timezone)
        step = {"prefect.deployments.steps.set_working_directory": {"directory": str(folder)}}
        with self._errors():
            schedule_id = self._client.create_deployment(
                self._client.create_flow_from_name(FLOW),
                name,
                schedules=[DeploymentScheduleCreate(schedule=when, active=True)],
                concurrency_limit=1,
                concurrency_options=ConcurrencyOptions(
                    collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW
                ),
                parameters={"config": str(config)},
                description=f"{config}, at {cron} {timezone}",
                work_pool_name=POOL,
                tags=["decaf", ON_CHANGE] if is_watched else ["decaf"],
                entrypoint=ENTRYPOINT,
                pull_steps=[step],
                job_variables={"working_dir": str(folder)},
                enforce_parameter_schema=False,
            )
        self._plan(schedule_id)
        return self.next_run(schedule_id)

    def pause(self, schedule_id: UUID) -> None:
        """Start no further runs; a run that has started continues."""
        with self._errors():
            self._client.pause_deployment(schedule_id)

    def resume(self, schedule_id: UUID) -> None:
        """Make runs again, from now on."""
        with self._errors():
            self._client.resume_deployment(schedule_id)
        self._plan(schedule_id)

    def remove(self, schedule_id: UUID) -> None:
        """Delete a schedule; a run that has started continues."""
        with self._errors():
            self._client.delete_deployment(schedule_id)

    def run_now(self, schedule_id: UUID, entries: Sequence[str] = ()) -> None:
        """Start a run at the next poll of a worker, for some entries of the registry or for all."""
        parameters = {"entries": list(entries)} if entries else {}
        with self._errors():
            self._client.create_flow_run_from_deployment(schedule_id, parameters=parameters)

    def next_run(self, schedule_id: UUID) -> FlowRun | None:
        """The run that is due next."""
        sort = FlowRunSort.NEXT_SCHEDULED_START_TIME_ASC
        runs = self._runs(sort, 1, deployment_id={"any_": [schedule_id]}, state=WAITING)
        return runs[0] if runs else None

    def last_run(self, schedule_id: UUID) -> FlowRun | None:
        """The run that began last; those that were skipped or cancelled do not count."""
        state = {"type": {"not_any_": [StateType.SCHEDULED, StateType.CANCELLED]}}
        sort = FlowRunSort.START_TIME_DESC
        runs = self._runs(sort, 1, deployment_id={"any_": [schedule_id]}, state=state)
        return runs[0] if runs else None

    def under_way(self) -> list[FlowRun]:
        """Runs in progress of all schedules, including removed schedules."""
        return self._runs(state={"type": {"any_": UNDER_WAY}})

    def due(self) -> list[FlowRun]:
        """Runs of all schedules whose start is overdue."""
        return self._runs(state=WAITING, next_scheduled_start_time={"before_": datetime.now(UTC)})

    def begin_again(self, runs: Iterable[FlowRun]) -> None:
        """Restart runs whose processes were killed; finished runs stay finished.

        This frees their places under the limit, which expire after five minutes otherwise.
        """
        with self._errors():
            for run in runs:
                state = self._client.read_flow_run(run.id).state
                if state is None or state.type in ENDED:
                    continue
                is_cancelled = state.type == StateType.CANCELLING or run.deployment_id is None
                message = "its process was killed"
                after = Cancelled(message=message) if is_cancelled else AwaitingRetry()
                self._client.set_flow_run_state(run.id, after, force=True)

    def _deployments(self) -> list[DeploymentResponse]:
        with self._errors():
            deployments = self._client.read_deployments(
                flow_filter=filters.FlowFilter(name={"any_": [FLOW]}), limit=PAGE
            )
        return sorted(deployments, key=lambda deployment: deployment.name)

    def _runs(
        self, sort: FlowRunSort | None = None, limit: int = PAGE, **which: Any
    ) -> list[FlowRun]:
        with self._errors():
            return self._client.read_flow_runs(
                flow_filter=filters.FlowFilter(name={"any_": [FLOW]}),
                flow_run_filter=filters.FlowRunFilter(**which),
                sort=sort,
                limit=limit,
            )

    def _plan(self, schedule_id: UUID) -> None:
        """Make the next runs at once; the server's own scheduler looks every few seconds."""
        with self._errors():
            self._client.request("POST", f"/deployments/{schedule_id}/schedule", json={})

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with _retries(MOST_RETRIES):
                yield
        except (HTTPError, PrefectException) as error:
            status = error.response.status_code if isinstance(error, HTTPStatusError) else None
            if status in (codes.UNAUTHORIZED, codes.FORBIDDEN):
                message = (
                    f"the Prefect server at {self._address} refuses ({status}); expected its "
                    f"user:password in {CREDENTIALS}"
                )
            else:
                message = (
                    f"no Prefect server at {self._address} did this ({error}); is decaf serve "
                    "running?"
                )
            raise ServerUnreachable(message) from error


@contextmanager
def _retries(count: int) -> Iterator[None]:
    """Set how often Prefect's client retries; by default it waits a minute for a server."""
    context = get_settings_context()
    client = context.settings.client.model_copy(update={"max_retries": count})
    settings = context.settings.model_copy(update={"client": client})
    with context.model_copy(update={"settings": settings}):
        yield


def _schedule(deployment: DeploymentResponse) -> Schedule | None:
    """A deployment as a schedule; None for one that ``decaf schedule add`` did not make."""
    whens = [each.schedule for each in deployment.schedules]
    if deployment.work_pool_name != POOL or not whens or not isinstance(whens[0], CronSchedule):
        return None
    return Schedule(
        id=deployment.id,
        name=deployment.name,
        cron=whens[0].cron,
        timezone=whens[0].timezone or "UTC",
        config=Path(deployment.parameters["config"]),
        folder=Path(deployment.job_variables["working_dir"]),
        is_paused=deployment.paused,
        is_served=deployment.status == "READY",
        is_watched=ON_CHANGE in deployment.tags,
    )
