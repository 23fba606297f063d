"""Schedules and their runs: deployments of a Prefect server, over its REST interface.

Each schedule is a deployment of the flow ``scheduled``, so Prefect's page shows, pauses and starts
it as any other. Its own client takes seconds to import; a dozen requests need none of it.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from decaf.errors import ServerUnreachable, UnknownName
from decaf.foundation.calls import Answer, Caller, NoAnswer
from decaf.foundation.retries import last_answer

FLOW = "scheduled"
AUDITS = ["audit", "reaudit"]
"""Flows that a run of a schedule may begin."""
SCHEDULED, PENDING, RUNNING, CANCELLING = "SCHEDULED", "PENDING", "RUNNING", "CANCELLING"
COMPLETED, FAILED, CRASHED, CANCELLED = "COMPLETED", "FAILED", "CRASHED", "CANCELLED"
UNDER_WAY = [PENDING, RUNNING, "PAUSED", CANCELLING]
SKIPPED = "Skipped"
AGAIN = "AwaitingRetry"
TIMEOUT_SECONDS = 30
PAGE = 200
REFUSED, NOT_FOUND = (401, 403), 404
BUSY = (429, 502, 503)
"""What is answered while the database is locked; nothing has happened then."""
RETRIES, PAUSE_SECONDS = 4, 0.5
CREDENTIALS = "PREFECT_API_AUTH_STRING"
"""Where Prefect itself looks for them, as ``user:password``."""


class Schedule(NamedTuple):
    """When a configuration is run."""

    id: str
    name: str
    cron: str
    timezone: str
    config: Path
    folder: Path
    """Where it runs: relative paths of the configuration start here."""
    is_paused: bool
    is_served: bool
    """Whether a runner has asked for its runs within the last minute."""
    is_watched: bool = False
    """Whether it also runs when something changes in its registry."""


class Run(NamedTuple):
    """One run of a schedule, as the server knows it."""

    id: str
    schedule_id: str | None
    state: str
    """Type of Prefect's state: ``SCHEDULED``, ``RUNNING``, …"""
    state_name: str
    message: str
    due: datetime
    started: datetime | None
    ended: datetime | None
    entries: tuple[str, ...] = ()
    """Entries of the registry that it is about; all where none is named."""


class Schedules:
    """What one server knows; every method raises ServerUnreachable when it does not answer."""

    def __init__(self, address: str) -> None:
        self._address = address
        user, _, password = os.environ.get(CREDENTIALS, "").partition(":")
        is_local = urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")
        self._caller = Caller(
            TIMEOUT_SECONDS,
            auth=(user, password) if user else None,
            trust_env=not is_local,  # no proxy leads to this machine
        )

    def close(self) -> None:
        """Give back the connections."""
        self._caller.close()

    def is_up(self) -> bool:
        """Whether the server answers."""
        try:
            self._request("GET", "health")
        except ServerUnreachable:
            return False
        return True

    def all(self) -> list[Schedule]:
        """Every schedule, by name."""
        filters = {"flows": {"name": {"any_": [FLOW]}}}
        schedules = map(_schedule, self._pages("deployments/filter", filters))
        return sorted(filter(None, schedules), key=lambda schedule: schedule.name)

    def named(self, name: str) -> Schedule:
        """One schedule.

        Raises UnknownName when there is none of this name.
        """
        by_name = {schedule.name: schedule for schedule in self.all()}
        if name not in by_name:
            raise UnknownName.among("schedule", name, by_name)
        return by_name[name]

    def add(
        self, name: str, cron: str, timezone: str, config: Path, folder: Path, is_watched: bool
    ) -> Run | None:
        """Make a schedule; returns its first run."""
        when = {"cron": cron, "timezone": timezone}
        deployment = {
            "name": name,
            "flow_id": self._request("POST", "flows/", {"name": FLOW})["id"],
            "schedules": [{"schedule": when, "active": True, "slug": name}],
            "parameters": {"config": str(config), "folder": str(folder), "watched": is_watched},
            "enforce_parameter_schema": False,
            "description": f"{config}, at {cron} {timezone}",
            "tags": ["decaf"],
        }
        schedule_id = self._request("POST", "deployments/", deployment)["id"]
        self._plan(schedule_id)
        return self.next_run(schedule_id)

    def pause(self, schedule_id: str) -> None:
        """Make no more runs; one that is under way goes on."""
        self._request("POST", f"deployments/{schedule_id}/pause_deployment")

    def resume(self, schedule_id: str) -> None:
        """Make runs again, from now on."""
        self._request("POST", f"deployments/{schedule_id}/resume_deployment")
        self._plan(schedule_id)

    def remove(self, schedule_id: str) -> None:
        """Forget a schedule; one of its runs that is under way goes on."""
        self._request("DELETE", f"deployments/{schedule_id}")

    def run_now(self, schedule_id: str, entries: Sequence[str] = ()) -> Run:
        """Have it run as soon as a runner looks, for some entries of its registry or for all."""
        wanted = {"parameters": {"entries": list(entries)}} if entries else {}
        return _run(self._request("POST", f"deployments/{schedule_id}/create_flow_run", wanted))

    def next_run(self, schedule_id: str) -> Run | None:
        """The run that is due next."""
        state = {"type": {"any_": [SCHEDULED]}}
        return self._first(schedule_id, state, "NEXT_SCHEDULED_START_TIME_ASC")

    def last_run(self, schedule_id: str) -> Run | None:
        """The run that began last, whatever became of it; those that were skipped do not count."""
        state = {"type": {"not_any_": [SCHEDULED]}, "name": {"not_any_": [SKIPPED]}}
        return self._first(schedule_id, state, "START_TIME_DESC")

    def due(self, schedules: list[Schedule]) -> list[Run]:
        """Runs of these schedules that should have begun by now, oldest first.

        Tells the server that somebody serves them.
        """
        if not schedules:
            return []
        which = {
            "deployment_ids": [schedule.id for schedule in schedules],
            "scheduled_before": _now(),
            "limit": PAGE,
        }
        due = self._request("POST", "deployments/get_scheduled_flow_runs", which)
        return [_run(run) for run in due]

    def under_way(self) -> list[Run]:
        """Runs of all schedules, those that were removed included, that have not ended."""
        state = {"type": {"any_": UNDER_WAY}}
        filters = {"flows": {"name": {"any_": [FLOW]}}, "flow_runs": {"state": state}}
        return [_run(run) for run in self._pages("flow_runs/filter", filters)]

    def begin(self, run: Run, message: str) -> bool:
        """Let a run begin; False when the server says no, as when somebody has cancelled it."""
        return self._set(run.id, RUNNING, "Running", message, is_forced=False)

    def end(self, run: Run, state: str, name: str, message: str) -> None:
        """Record how a run ended."""
        self._set(run.id, state, name, message)

    def run_again(self, run: Run, message: str) -> None:
        """Have a run that was interrupted begin again, now."""
        self._set(run.id, SCHEDULED, AGAIN, message)

    def bury_audits(self, config: Path, since: datetime) -> int:
        """End, on the server, audits of a configuration whose process is gone; how many."""
        state = {"type": {"any_": UNDER_WAY}}
        filters = {
            "flows": {"name": {"any_": AUDITS}},
            "flow_runs": {"state": state, "start_time": {"after_": since.isoformat()}},
        }
        dead = [
            run["id"]
            for run in self._pages("flow_runs/filter", filters)
            if run["parameters"].get("config") == str(config)
        ]
        for run_id in dead:
            self._set(run_id, CRASHED, "Crashed", "its process was killed; the next run resumes")
        return len(dead)

    def _plan(self, schedule_id: str) -> None:
        """Make the next runs at once; the server's own scheduler looks every few seconds."""
        self._request("POST", f"deployments/{schedule_id}/schedule", {})

    def _first(self, schedule_id: str, state: dict[str, Any], sort: str) -> Run | None:
        which = {"deployment_id": {"any_": [schedule_id]}, "state": state}
        filters = {"flow_runs": which, "sort": sort, "limit": 1}
        runs = self._request("POST", "flow_runs/filter", filters)
        return _run(runs[0]) if runs else None

    def _pages(self, path: str, filters: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for offset in count(0, PAGE):
            page = self._request("POST", path, filters | {"limit": PAGE, "offset": offset})
            yield from page
            if len(page) < PAGE:
                return

    def _set(
        self, run_id: str, state: str, name: str, message: str, *, is_forced: bool = True
    ) -> bool:
        details = {"scheduled_time": _now()} if state == SCHEDULED else {}
        content = {"type": state, "name": name, "message": message, "state_details": details}
        try:
            answer = self._request(
                "POST", f"flow_runs/{run_id}/set_state", {"state": content, "force": is_forced}
            )
        except Refused as error:
            if error.status != NOT_FOUND:
                raise
            return False  # somebody has deleted it
        is_accepted = answer["status"] == "ACCEPT"
        if is_forced and not is_accepted:  # as when its database is locked
            raise ServerUnreachable(
                f"the Prefect server at {self._address} did not take state {name!r} of run "
                f"{run_id}: {answer['details'].get('reason')}"
            )
        return is_accepted

    def _request(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        def send(seconds: float) -> Answer:
            url = f"{self._address}/{path}"
            try:
                return self._caller.call(method, url, seconds, json=content)
            except NoAnswer as error:
                raise ServerUnreachable(
                    f"no Prefect server at {self._address} ({error}); is decaf serve running?"
                ) from error

        limits = TIMEOUT_SECONDS, RETRIES, PAUSE_SECONDS
        answer = last_answer(send, *limits, is_transient=_is_busy)
        if answer.status in REFUSED:
            raise ServerUnreachable(
                f"the Prefect server at {self._address} refuses ({answer.status}); expected "
                f"its user:password in {CREDENTIALS}"
            )
        if not answer.is_success:
            raise Refused(self._address, path, answer)
        try:
            return answer.json() if answer.content else None
        except ValueError as error:
            raise Refused(self._address, path, answer) from error


class Refused(ServerUnreachable):
    """A request that a server did not take, or could not do at this moment."""

    def __init__(self, address: str, path: str, answer: Answer) -> None:
        super().__init__(
            f"the Prefect server at {address} did not take {path} ({answer.said}): "
            f"{answer.text[:500]}"
        )
        self.status = answer.status


def _is_busy(answer: Answer) -> bool:
    return answer.status in BUSY


def _schedule(deployment: dict[str, Any]) -> Schedule | None:
    """A deployment as a schedule; None for one that was not made by ``decaf schedule add``."""
    parameters = deployment["parameters"]
    whens = [entry["schedule"] for entry in deployment["schedules"] if "cron" in entry["schedule"]]
    if not whens or not {"config", "folder"} <= parameters.keys():
        return None
    return Schedule(
        id=deployment["id"],
        name=deployment["name"],
        cron=whens[0]["cron"],
        timezone=whens[0].get("timezone") or "UTC",
        config=Path(parameters["config"]),
        folder=Path(parameters["folder"]),
        is_paused=deployment["paused"],
        is_served=deployment["status"] == "READY",
        is_watched=parameters.get("watched", False),
    )


def _run(flow_run: dict[str, Any]) -> Run:
    started, ended = flow_run["start_time"], flow_run["end_time"]
    due = flow_run["next_scheduled_start_time"] or flow_run["expected_start_time"]
    return Run(
        id=flow_run["id"],
        schedule_id=flow_run["deployment_id"],
        state=flow_run["state_type"],
        state_name=flow_run["state_name"],
        message=(flow_run.get("state") or {}).get("message") or "",
        due=datetime.fromisoformat(due),
        started=started and datetime.fromisoformat(started),
        ended=ended and datetime.fromisoformat(ended),
        entries=tuple(flow_run["parameters"].get("entries", ())),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat()
