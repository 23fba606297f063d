"""Schedules on a real Prefect server: what its limit of one run does, and what decaf adds to it."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from uuid import uuid4

import pytest
import typer
from model_server import serving
from prefect.client.orchestration import SyncPrefectClient
from prefect.states import Cancelling, Pending, Running, Scheduled

from decaf.errors import (
    AlreadyRunning,
    ConfigError,
    ScheduleError,
    ServerUnreachable,
    UnknownName,
)
from flows.commands import schedule as schedule_commands
from flows.scheduling import schedules, service
from flows.scheduling.schedules import Schedule, Schedules
from flows.scheduling.serving import WORKER, begin_changed
from flows.scheduling.watching import RegistryWatch

MONDAY = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)
WORKER_SECONDS = 600
FLOW = """
import time
from pathlib import Path
from prefect import flow

@flow
def scheduled(config, entries=()):
    with Path("begun").open("a") as file:
        file.write(f"{config} {list(entries)}\\n")
    time.sleep(2)
"""
"""Stands for the flow of the schedules: it notes what it was begun for."""


class Place(NamedTuple):
    """A server with one schedule, and what tests do with it."""

    schedules: Schedules
    schedule: Schedule
    client: SyncPrefectClient
    environment: dict
    folder: Path

    def work(self):
        """Have a real worker begin what is due, and wait for its end; what was begun so far."""
        command = [sys.executable, "-m", "prefect", *WORKER, "--run-once"]
        variables = self.environment | {"PREFECT_WORKER_PREFETCH_SECONDS": "0"}
        given = {"env": variables, "cwd": self.folder, "timeout": WORKER_SECONDS}
        subprocess.run(command, **given, check=True, capture_output=True)
        begun = self.folder / "begun"
        return begun.read_text().splitlines() if begun.exists() else []

    def due(self, minutes_ago, **parameters):
        """Make a run that should have begun; its id."""
        state = Scheduled(scheduled_time=datetime.now(UTC) - timedelta(minutes=minutes_ago))
        given = {"state": state, "parameters": parameters}
        return self.client.create_flow_run_from_deployment(self.schedule.id, **given).id

    def states(self, runs):
        return [self.client.read_flow_run(run).state.type for run in runs]


@pytest.fixture
def server(prefect_server, tmp_path, monkeypatch):
    """A real server with one schedule, whose runs note what they are for; it names its client."""
    (tmp_path / "stand_in.py").write_text(FLOW)
    monkeypatch.setattr(schedules, "ENTRYPOINT", "stand_in.py:scheduled")
    address = prefect_server["PREFECT_API_URL"]
    when = ("nightly", "0 2 * * *", "Europe/Berlin", Path("a.yaml"), tmp_path)
    with Schedules(address) as server, SyncPrefectClient(address) as client:
        server.make_pool()
        server.make_pool()
        server.add(*when, is_watched=True)
        (schedule,) = server.all()
        yield Place(server, schedule, client, {**os.environ, **prefect_server}, tmp_path)
        for left in [*server.under_way(), *server.due()]:
            client.delete_flow_run(left.id)
        for left in client.read_deployments():
            client.delete_deployment(left.id)


@pytest.mark.slow
def test_one_run_at_a_time_and_one_for_all_that_were_missed(server):
    """A worker that was away for a night; then a run without a process, whose place is taken."""
    missed = [server.due(minutes) for minutes in (300, 200, 100)]
    assert len(server.work()) == 1
    assert sorted(server.states(missed)) == ["CANCELLED", "CANCELLED", "COMPLETED"]

    killed = server.due(2, entries=["net"])
    for state in (Pending(), Running()):
        server.client.set_flow_run_state(killed, state)
    assert [run.id for run in server.schedules.under_way()] == [killed]
    # Prefect alone skips a run as long as the killed one holds its place.
    skipped = server.due(1)
    assert len(server.work()) == 1
    assert server.states([killed, skipped]) == ["RUNNING", "CANCELLED"]

    server.schedules.begin_again(server.schedules.under_way())
    assert [run.id for run in server.schedules.due()] == [killed]
    assert server.work() == ["a.yaml []", "a.yaml ['net']"]
    assert server.states([killed]) == ["COMPLETED"]
    assert server.schedules.last_run(server.schedule.id).id == killed


def test_what_has_ended_or_is_being_cancelled_does_not_begin_again(server):
    cancelled, ended = server.due(2), server.due(1)
    for state in (Running(), Cancelling()):
        server.client.set_flow_run_state(cancelled, state, force=True)
    server.client.set_flow_run_state(ended, Running(), force=True)
    interrupted = server.schedules.under_way()
    server.client.set_flow_run_state(ended, schedules.Cancelled(), force=True)
    assert {run.id for run in interrupted} == {cancelled, ended}
    server.schedules.begin_again(interrupted)
    assert server.states([cancelled, ended]) == ["CANCELLED", "CANCELLED"]
    assert server.schedules.due() == []


def test_a_schedule_is_paused_resumed_and_run_now(server):
    asked, nightly = server.schedules, server.schedule
    assert nightly == asked.find_schedule("nightly")
    assert (nightly.cron, nightly.timezone) == ("0 2 * * *", "Europe/Berlin")
    assert (nightly.is_paused, nightly.is_watched) == (False, True)
    assert asked.next_run(nightly.id).next_scheduled_start_time > datetime.now(UTC)
    asked.pause(nightly.id)
    assert asked.find_schedule("nightly").is_paused
    assert asked.next_run(nightly.id) is None
    asked.resume(nightly.id)
    assert asked.next_run(nightly.id) is not None
    assert asked.last_run(nightly.id) is None
    asked.run_now(nightly.id, ["net"])
    (due,) = asked.due()
    assert due.parameters == {"config": "a.yaml", "entries": ["net"]}
    with pytest.raises(UnknownName):
        asked.find_schedule("nightl")


def test_a_change_begins_a_run_when_none_is_due_or_under_way(server, tmp_path):
    (tmp_path / "a.yaml").write_text("registry: {kind: mlflow}")
    server.schedules.remove(server.schedule.id)
    config = tmp_path / "a.yaml"
    server.schedules.add("nightly", "0 2 * * *", "UTC", config, tmp_path, is_watched=True)
    watch = RegistryWatch()

    def look(seconds):
        begin_changed(server.schedules, watch, MONDAY + timedelta(seconds=seconds))
        return [run.parameters.get("entries") for run in server.schedules.due()]

    watch.changed_models.put("net")
    assert look(0) == []
    assert look(10) == [["net"]]
    watch.changed_models.put("other")
    assert look(20) == [["net"]]
    assert look(30) == [["net"]]
    (due,) = server.schedules.due()
    server.client.set_flow_run_state(due.id, schedules.Cancelled(), force=True)
    assert look(40) == [["other"]]


def test_a_deployment_that_decaf_did_not_make_is_no_schedule(server):
    flow = server.client.create_flow_from_name(schedules.FLOW)
    server.client.create_deployment(flow, "by hand", parameters={"config": "a"})
    assert server.schedules.all() == [server.schedule]


@pytest.mark.parametrize(("status", "tries"), [(503, 2), (422, 1), (401, 1)])
def test_a_server_that_refuses_is_named(monkeypatch, status, tries):
    monkeypatch.setattr(schedules, "MOST_RETRIES", 1)
    with serving(lambda request, number: (status, "{}", {"Retry-After": "0"})) as answering:
        with Schedules(answering.url) as asked, pytest.raises(ServerUnreachable):
            asked.all()
        assert len(answering.requests) == tries
        with Schedules(answering.url) as asked:
            assert not asked.is_up()
        address = answering.url
    with Schedules(address) as asked, pytest.raises(ServerUnreachable, match=address):
        asked.all()


def test_one_service_in_a_folder_and_it_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(ServerUnreachable, match="decaf serve"):
        service.address()
    with service.hold_folder(tmp_path, "http://127.0.0.1:1/api"):
        assert service.address() == "http://127.0.0.1:1/api"
        with (
            pytest.raises(AlreadyRunning, match="is running already in"),
            service.hold_folder(tmp_path, "http://127.0.0.1:2/api"),
        ):
            pass
    with pytest.raises(ServerUnreachable):
        service.address()
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere/api/")
    assert service.address() == "http://elsewhere/api"


class StandIn:
    """A server that keeps what is added."""

    def __init__(self):
        self.schedules, self.runs = [], []

    def all(self):
        return self.schedules

    def find_schedule(self, name):
        return Schedules.find_schedule(self, name)

    def add(self, name, cron, timezone, config, folder, is_watched):
        made = Schedule(uuid4(), name, cron, timezone, config, folder, False, True, is_watched)
        self.schedules.append(made)
        return SimpleNamespace(next_scheduled_start_time=MONDAY)

    def under_way(self):
        return self.runs

    def due(self):
        return []


def test_what_cannot_be_scheduled_is_refused(tmp_path, monkeypatch, capsys):
    config = tmp_path / "study.yaml"
    config.write_text(
        "study: small\ndata: {adapter: shapes3d}\nregistry: {kind: folder, root: zoo}\n"
        "score: {kind: class_probability, classes: 2}\npaths: {blend: {kind: blend}}\n"
    )
    monkeypatch.chdir(tmp_path)
    server = StandIn()
    monkeypatch.setattr(schedule_commands, "_server", lambda: server)
    nightly = {"cron": "0 2 * * *", "timezone": "Europe/Berlin", "name": None}

    def add(**changed):
        given = nightly | changed
        schedule_commands.add(given.pop("config", config), **given)

    add()
    add()
    first, second = capsys.readouterr().out.splitlines()
    assert "2026-11-23 03:00:00 CET" in first
    assert "already" in second
    assert [one.name for one in server.schedules] == ["small"]
    with pytest.raises(ScheduleError, match="'small'"):
        add(cron="0 3 * * *")
    with pytest.raises(ScheduleError, match="'small' exists already"):
        add(on_change=True)
    published = tmp_path / "published.yaml"
    names = "{kind: names, names: [timm:a.b], input_size: 32, mean: [0.5], std: [0.5]}"
    published.write_text(config.read_text().replace("{kind: folder, root: zoo}", names))
    with pytest.raises(ScheduleError, match="'registry:'"):
        add(config=published, on_change=True)
    with pytest.raises(ScheduleError, match="'../up'"):
        add(name="../up")
    with pytest.raises(ConfigError, match="moved.yaml does not exist"):
        add(config=tmp_path / "moved.yaml")
    with pytest.raises(UnknownName, match="'smal'.*'small'"):
        schedule_commands.run_now("smal")
    server.runs = [SimpleNamespace(deployment_id=server.schedules[0].id)]
    with pytest.raises(ScheduleError, match="small"):
        schedule_commands.run_now("small")
    assert len(server.schedules) == 1


def test_commands_of_schedules_are_those_of_the_page():
    commands = typer.main.get_command(schedule_commands.schedules).commands
    shown = {name for name, command in commands.items() if not command.hidden}
    assert shown == {"list", "add", "pause", "resume", "remove", "run"}
    page = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text()
    assert [name for name in shown if f"`decaf schedule {name}" not in page] == []
