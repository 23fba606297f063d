"""Which runs begin, and what becomes of them, under a clock and a server that tests move."""

import signal
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from model_server import serving

from decaf.errors import (
    AlreadyRunning,
    ConfigError,
    ScheduleError,
    ServerUnreachable,
    UnknownName,
)
from flows.commands import schedule as schedule_commands
from flows.scheduling import runner as running
from flows.scheduling import schedules, service
from flows.scheduling.runner import Ended, Runner, choose, ended
from flows.scheduling.schedules import (
    AGAIN,
    CANCELLING,
    RUNNING,
    SCHEDULED,
    SKIPPED,
    Refused,
    Run,
    Schedule,
    Schedules,
)

MONDAY = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)


def run(number, minutes=0, state=SCHEDULED, schedule="nightly"):
    due = MONDAY + timedelta(minutes=minutes)
    return Run(str(number), schedule, state, state, "", due, None, None)


class Server:
    """What a server would say, and what it was told."""

    def __init__(self, folder, runs=()):
        self.schedules = []
        self.add("nightly", "* * * * *", "UTC", folder / "a.yaml", folder)
        self.runs = {one.id: one for one in runs}
        self.names = {}
        self.is_away = self.loses_answers = False
        self.buried = []

    def _answer(self):
        if self.is_away:
            raise ServerUnreachable("no server")

    def all(self):
        self._answer()
        return self.schedules

    def due(self, schedules):
        known = {one.id for one in schedules}
        now = self.now
        waiting = [one for one in self.runs.values() if one.state == SCHEDULED]
        return [one for one in waiting if one.schedule_id in known and one.due <= now]

    def under_way(self):
        self._answer()
        return [one for one in self.runs.values() if one.state in (RUNNING, CANCELLING)]

    def begin(self, one, message):
        self._set(one, RUNNING, "Running")
        if self.loses_answers:
            raise ServerUnreachable("the answer was lost")
        return True

    def end(self, one, state, name, message):
        self._set(one, state, name)

    def run_again(self, one, message):
        self._set(one._replace(due=self.now), SCHEDULED, AGAIN)

    def named(self, name):
        return Schedules.named(self, name)

    def add(self, name, cron, timezone, config, folder, is_watched=False):
        states = False, True, is_watched
        self.schedules.append(Schedule(name, name, cron, timezone, config, folder, *states))
        return run(0)

    def last_run(self, schedule_id):
        return self.last

    def bury_audits(self, config, since):
        self.buried.append(config.name)

    def _set(self, one, state, name):
        self._answer()
        self.runs[one.id] = one._replace(state=state)
        self.names[one.id] = name
        return True


class Process:
    """A process that ends when it is told how."""

    def __init__(self):
        self.status = None

    def poll(self):
        return self.status

    def terminate(self):
        self.status = -signal.SIGTERM

    def wait(self, _):
        return self.status


@pytest.fixture
def place(tmp_path):
    """A server, a runner of it, the processes that it started, and a look at a minute."""

    class Place:
        server = Server(tmp_path)
        started = []

        def runner(self):
            def start(command, marks, folder, output):
                assert folder.exists() or folder == self.gone
                if folder == self.gone:
                    raise FileNotFoundError(2, "No such file or directory")
                assert command[-1] == str(tmp_path / "a.yaml")
                output.write(b"starting workers\nerror: gate failed\n")
                self.started.append(Process())
                return self.started[-1]

            return Runner(self.server, tmp_path / "home", start)

        def look(self, runner, minutes):
            self.server.now = MONDAY + timedelta(minutes=minutes)
            runner.poll(self.server.now)
            return dict(self.server.names)

        gone = tmp_path / "gone"

    return Place()


def test_one_run_stands_for_all_that_were_missed():
    assert choose([], is_active=False)[:2] == (None, ())
    due = [run(number, minutes=number) for number in (3, 1, 2)]
    begun, skipped, _ = choose(due, is_active=False)
    assert (begun.id, [one.id for one in skipped]) == ("3", ["1", "2"])


def test_no_run_begins_while_one_is_under_way():
    begun, skipped, reason = choose([run(1), run(2)], is_active=True)
    assert (begun, len(skipped), reason) == (None, 2, "the run before was still under way")


@given(st.lists(st.integers(0, 10_000), unique=True), st.booleans())
def test_whatever_is_due_one_begins_at_most_and_nothing_is_left(minutes, is_active):
    due = [run(number, minutes=at) for number, at in enumerate(minutes)]
    begun, skipped, _ = choose(due, is_active=is_active)
    assert sorted([*skipped, *([begun] if begun else [])]) == sorted(due)
    assert (begun is None) == (is_active or not due)
    assert begun is None or all(one.due < begun.due for one in skipped)


def test_runs_that_are_due_meanwhile_are_skipped_and_the_next_one_begins(place):
    place.server.runs = {str(n): run(n, minutes=n) for n in range(4)}
    runner = place.runner()
    assert place.look(runner, 0) == {"0": "Running"}
    assert place.look(runner, 2) == {"0": "Running", "1": SKIPPED, "2": SKIPPED}
    place.started[0].status = 0
    assert place.look(runner, 2.5) == {"0": "Completed", "1": SKIPPED, "2": SKIPPED}
    assert place.look(runner, 3)["3"] == "Running"
    assert len(place.started) == 2


def test_after_a_night_off_exactly_one_run_follows(place):
    place.server.runs = {str(n): run(n, minutes=n) for n in range(7)}
    names = place.look(place.runner(), 6)
    assert names.pop("6") == "Running"
    assert set(names.values()) == {SKIPPED}
    assert (len(names), len(place.started)) == (6, 1)


def test_a_run_whose_runner_was_killed_begins_again_once(place):
    place.server.runs = {"0": run(0, state=RUNNING), "1": run(1, minutes=1), "2": run(2, minutes=9)}
    runner = place.runner()
    assert place.look(runner, 2) == {"0": "Running", "1": SKIPPED}
    assert place.server.buried == ["a.yaml"]
    place.started[0].status = 0
    assert place.look(runner, 3)["0"] == "Completed"
    assert place.look(runner, 4) == {"0": "Completed", "1": SKIPPED}
    assert len(place.started) == 1


def test_a_run_that_the_server_began_and_nobody_else_begins_again(place):
    place.server.runs = {"0": run(0)}
    place.server.loses_answers = True
    runner = place.runner()
    assert place.look(runner, 0) == {"0": "Running"}
    assert place.started == []
    place.server.loses_answers = False
    assert place.look(runner, 1) == {"0": "Running"}
    assert len(place.started) == 1


def test_a_killed_run_of_a_schedule_that_was_removed_is_over(place):
    place.server.runs = {"0": run(0, state=RUNNING, schedule="gone")}
    assert place.look(place.runner(), 1) == {"0": "Crashed"}
    assert place.started == []


def test_who_cancels_a_run_ends_its_process(place):
    place.server.runs = {"0": run(0)}
    runner = place.runner()
    place.look(runner, 0)
    place.server.runs["0"] = place.server.runs["0"]._replace(state=CANCELLING)
    assert place.look(runner, 1) == {"0": "Cancelled"}
    assert place.started[0].status == -signal.SIGTERM
    assert place.look(runner, 2) == {"0": "Cancelled"}


def test_a_run_that_lost_its_server_begins_again(place):
    place.server.runs = {"0": run(0)}
    runner = place.runner()
    place.look(runner, 0)
    place.server.is_away = True
    place.started[0].status = running.BROKEN
    assert place.look(runner, 1) == {"0": "Running"}
    place.server.is_away = False
    assert place.look(runner, 2) == {"0": "Running"}
    assert len(place.started) == 2
    place.started[1].status = running.BROKEN
    assert place.look(runner, 3) == {"0": "Failed"}


def test_a_folder_that_is_gone_fails_the_run_alone(place):
    (schedule,) = place.server.schedules
    place.server.schedules = [schedule._replace(folder=place.gone)]
    place.server.runs = {"0": run(0), "1": run(1, minutes=1)}
    runner = place.runner()
    assert place.look(runner, 0) == {"0": "Failed"}
    assert place.look(runner, 1) == {"0": "Failed", "1": "Failed"}


def test_what_is_stopped_begins_again_and_what_is_done_is_done(place):
    place.server.runs = {"0": run(0)}
    runner = place.runner()
    place.look(runner, 0)
    runner.stop()
    assert place.server.names == {"0": AGAIN}
    assert place.look(place.runner(), 1) == {"0": "Running"}


@pytest.mark.parametrize(
    ("status", "state", "name", "words"),
    [
        (0, "COMPLETED", "Completed", "2 files"),
        (1, "FAILED", "NeedsAttention", "exit code 1: error: worse 2"),
        (2, "FAILED", "Failed", "exit code 2: error: worse 2"),
        (-signal.SIGKILL, "CRASHED", "Crashed", "ended by SIGKILL"),
    ],
)
def test_the_state_of_a_run_says_how_its_process_ended(tmp_path, status, state, name, words):
    log = tmp_path / "run.log"
    log.write_text("begun\n2 files\n" if status == 0 else "begun\nerror: worse 2\n  by 0.1\n")
    found = ended(status, log)
    assert found[:2] == Ended(state, name, "")[:2]
    assert found.message.startswith(words)
    assert found.message.endswith(f"log: {log}")


def test_logs_of_a_schedule_do_not_pile_up(tmp_path):
    for second in range(running.LOGS_KEPT + 3):
        running._log_file(tmp_path, "nightly", MONDAY + timedelta(seconds=second)).touch()
    kept = sorted(path.name for path in (tmp_path / "scheduled" / "nightly").iterdir())
    assert (len(kept), kept[0]) == (running.LOGS_KEPT, "2026-11-23T02-00-03Z.log")


def test_a_server_that_is_busy_is_asked_again(monkeypatch):
    monkeypatch.setattr(schedules, "RETRIES", 2)
    monkeypatch.setattr(schedules, "PAUSE_SECONDS", 0)
    answers = [(503, "{}"), (429, "{}"), (200, "[]"), (422, "no"), (401, "{}"), *[(503, "{}")] * 3]

    with (
        serving(lambda request, number: (*answers[number - 1], {})) as server,
        closing(Schedules(server.url)) as asked,
    ):
        assert asked.all() == []
        with pytest.raises(Refused, match=r"did not take deployments/filter \(status 422\): no"):
            asked.all()
        with pytest.raises(ServerUnreachable, match="expected its user:password in PREFECT_API"):
            asked.all()
        with pytest.raises(Refused, match="503"):
            asked.all()
        assert len(server.requests) == len(answers)
        address = server.url
    with (
        closing(Schedules(address)) as asked,
        pytest.raises(ServerUnreachable, match="is decaf serve running"),
    ):
        asked.all()


def test_one_service_in_a_folder_and_it_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(ServerUnreachable, match="decaf serve is not running in"):
        service.address()
    with service.held(tmp_path, "http://127.0.0.1:1/api"):
        assert service.address() == "http://127.0.0.1:1/api"
        with (
            pytest.raises(AlreadyRunning, match="is running already in"),
            service.held(tmp_path, "http://127.0.0.1:2/api"),
        ):
            pass
    with pytest.raises(ServerUnreachable):
        service.address()
    monkeypatch.setenv("PREFECT_API_URL", "http://elsewhere/api/")
    assert service.address() == "http://elsewhere/api"


def test_what_cannot_be_scheduled_is_refused(tmp_path, monkeypatch, capsys):
    config = tmp_path / "study.yaml"
    config.write_text(
        "study: small\ndata: {adapter: shapes3d}\nregistry: {kind: folder, root: zoo}\n"
        "score: {kind: class_probability, classes: 2}\npaths: {blend: {kind: blend}}\n"
    )
    monkeypatch.chdir(tmp_path)
    server = Server(tmp_path)
    server.schedules = []
    monkeypatch.setattr(schedule_commands, "_server", lambda: server)
    nightly = {"cron": "0 2 * * *", "timezone": "Europe/Berlin", "name": None}

    def add(**changed):
        given = nightly | changed
        schedule_commands.add(given.pop("config", config), **given)

    add()
    add()
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "small: first run 2026-11-23 03:00:00 CET",
        "small is there already, and just so",
    ]
    assert [one.name for one in server.schedules] == ["small"]
    with pytest.raises(ScheduleError, match="'small' is there already: .* give this one another"):
        add(cron="0 3 * * *")
    with pytest.raises(ScheduleError, match="'small' is there already"):
        add(on_change=True)
    published = tmp_path / "published.yaml"
    names = "{kind: names, names: [timm:a.b], input_size: 32, mean: [0.5], std: [0.5]}"
    published.write_text(config.read_text().replace("{kind: folder, root: zoo}", names))
    with pytest.raises(ScheduleError, match="--on-change needs a 'registry:' of kind folder or"):
        add(config=published, on_change=True)
    with pytest.raises(ScheduleError, match="'../up' cannot be the name of a schedule"):
        add(name="../up")
    with pytest.raises(ConfigError, match="moved.yaml does not exist"):
        add(config=tmp_path / "moved.yaml")
    with pytest.raises(UnknownName, match="unknown schedule 'smal'; did you mean 'small'"):
        schedule_commands.run_now("smal")
    server.last = run(1, state=RUNNING)
    with pytest.raises(ScheduleError, match="a run of small is under way already"):
        schedule_commands.run_now("small")
    assert len(server.schedules) == 1


def test_commands_of_schedules_are_those_of_the_page():
    commands = typer.main.get_command(schedule_commands.schedules).commands
    shown = {name for name, command in commands.items() if not command.hidden}
    assert shown == {"list", "add", "pause", "resume", "remove", "run"}
    page = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text()
    assert [name for name in shown if f"`decaf schedule {name}" not in page] == []
