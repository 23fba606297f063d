"""Runs what is due: one process for each run, one run of a schedule at a time.

Prefect's own runner starts every run that was missed, one after the other, and a limit of a
deployment stays taken when the server that counted it is killed. So who runs is decided here, from
what the server says is due and from the processes that are there.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from decaf.errors import ChecksFailed, DecafError, ServerUnreachable, listed
from flows.final_state import NEEDS_ATTENTION
from flows.scheduling import processes, service
from flows.scheduling import schedules as states
from flows.scheduling.listening import LISTEN, listening_at
from flows.scheduling.schedules import Run, Schedule, Schedules
from flows.scheduling.watching import Watch
from tasks.progress import announce

POLL_SECONDS = 2.0
GRACE_SECONDS = 30
LOGS_KEPT = 30
TAIL_BYTES = 4096
LONGEST_MESSAGE = 1000
FOUND, BROKEN = ChecksFailed.exit_code, DecafError.exit_code
"""Exit codes of the command line: done with findings, and broken."""


class Choice(NamedTuple):
    """What becomes of the runs of one schedule that are due."""

    begun: Run | None
    skipped: tuple[Run, ...]
    reason: str


def choose(due: Sequence[Run], *, is_active: bool) -> Choice:
    """Begin one run at most: the newest, and none while one is under way.

    However many were missed, while nothing served them or this machine slept, one of them runs.
    """
    if is_active:
        return Choice(None, tuple(due), "the run before was still under way")
    *missed, newest = sorted(due, key=lambda run: run.due) or [None]
    return Choice(newest, tuple(missed), "missed; a later run stands for all that were")


class Ended(NamedTuple):
    """What became of a process, as states of Prefect have it."""

    state: str
    name: str
    message: str


def ended(status: int, log: Path) -> Ended:
    """State of a run whose process ended with a status, and the end of its output.

    Status 1: results are there and need attention. A negative status is a signal.
    """
    message = f"{last_words(log)}\nlog: {log}".strip()
    if status < 0:
        killed = f"ended by {signal.Signals(-status).name}; what is committed is safe"
        return Ended(states.CRASHED, "Crashed", f"{killed}\nlog: {log}")
    if status == 0:
        return Ended(states.COMPLETED, "Completed", message)
    name = NEEDS_ATTENTION if status == FOUND else "Failed"
    return Ended(states.FAILED, name, f"exit code {status}: {message}")


def last_words(log: Path) -> str:
    """The error at the end of a log, or its last line where there is none."""
    try:
        text = log.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip()
    except OSError as error:
        return f"its log cannot be read: {error.strerror}"
    at = text.rfind("error: ")
    words = text[at:] if at >= 0 else text.rpartition("\n")[2]
    return words[:LONGEST_MESSAGE]


@dataclass
class Active:
    """A run that is under way."""

    run: Run
    schedule: Schedule
    process: subprocess.Popen[bytes]
    log: Path
    began: datetime
    status: int | None = None
    """How its process ended, once it has."""


class Runner:
    """Begins, watches and ends the runs of all schedules of one server."""

    def __init__(
        self,
        schedules: Schedules,
        home: Path,
        start: Callable[..., subprocess.Popen[bytes]] = processes.start,
    ) -> None:
        self._schedules, self._home, self._start = schedules, home, start
        self._active: dict[str, Active] = {}
        self.watch = Watch()
        self._is_new = True
        self._given_again: set[str] = set()
        """Runs that failed while the server was away, and had their second chance."""
        self._is_away = False
        self._last_outage: datetime | None = None

    def poll(self, now: datetime) -> None:
        """Settle what ended, what was cancelled or has no process; begin what is due."""
        try:
            if self._is_new:
                processes.end({processes.SERVE: str(self._home), processes.RUN: None})
                self._is_new = False
            self._report()
            schedules = {schedule.id: schedule for schedule in self._schedules.all()}
            self._compare(schedules, now)
            self._begin_due(schedules, now)
            self._begin_changed(schedules, now)
        except ServerUnreachable as error:
            if not self._is_away:
                announce(f"{error}; trying again every {POLL_SECONDS:g} s")
            self._last_outage, self._is_away = now, True
        else:
            self._is_away = False

    def stop(self) -> None:
        """End all runs; they are to begin again when somebody serves them."""
        for active in self._active.values():
            active.process.terminate()
        for active in self._active.values():
            active.status = processes.stop(active.process, GRACE_SECONDS)
        try:
            for active in self._active.values():
                self._clear(active)
                if active.status == 0:
                    self._end(active, ended(active.status, active.log))
                else:
                    self._schedules.run_again(active.run, "decaf serve was stopped meanwhile")
        except ServerUnreachable:
            announce("the server ended first; what was under way begins again at the next start")

    def _report(self) -> None:
        for schedule_id, active in list(self._active.items()):
            if active.status is None:
                active.status = active.process.poll()
            if active.status is None:
                continue
            self._clear(active)
            if active.status == BROKEN and self._deserves_another(active):
                self._schedules.run_again(active.run, "Prefect's server was away meanwhile")
                self._given_again.add(active.run.id)
            else:
                self._end(active, ended(active.status, active.log))
            del self._active[schedule_id]

    def _compare(self, schedules: dict[str, Schedule], now: datetime) -> None:
        """Bring what the server believes to be under way and the processes together."""
        active = {active.run.id: active for active in self._active.values()}
        for run in self._schedules.under_way():
            if run.id not in active:
                self._take_over(run, schedules.get(run.schedule_id or ""), now)
            elif run.state == states.CANCELLING:
                mine = active[run.id]
                processes.stop(mine.process, GRACE_SECONDS)
                self._clear(mine)
                message = f"by somebody\nlog: {mine.log}"
                self._end(mine, Ended(states.CANCELLED, "Cancelled", message))
                del self._active[mine.schedule.id]

    def _take_over(self, run: Run, schedule: Schedule | None, now: datetime) -> None:
        """Settle a run without a process: that of a runner that was killed, as a rule."""
        if schedule is not None:
            self._schedules.bury_audits(schedule.config, run.started or now)
        if run.state == states.CANCELLING:
            self._schedules.end(run, states.CANCELLED, "Cancelled", "by somebody")
        elif schedule is None:
            gone = "its process was killed, and its schedule is removed"
            self._schedules.end(run, states.CRASHED, "Crashed", gone)
        else:
            announce(f"{schedule.name}: its run has no process any more, and begins again")
            self._schedules.run_again(run, "its process was killed")

    def _begin_due(self, schedules: dict[str, Schedule], now: datetime) -> None:
        due = sorted(self._schedules.due(list(schedules.values())), key=lambda run: run.schedule_id)
        for schedule_id, runs in groupby(due, key=lambda run: run.schedule_id):
            choice = choose(list(runs), is_active=schedule_id in self._active)
            for run in choice.skipped:
                self._schedules.end(run, states.CANCELLED, states.SKIPPED, choice.reason)
            if choice.begun is not None:
                self._begin(choice.begun, schedules[schedule_id], now)

    def _begin_changed(self, schedules: dict[str, Schedule], now: datetime) -> None:
        due = self.watch.due(schedules.values(), now, self._active.keys())
        for schedule_id, entries in due.items():
            announce(f"{schedules[schedule_id].name}: {listed(entries)} changed")
            self._schedules.run_now(schedule_id, entries)

    def _begin(self, run: Run, schedule: Schedule, now: datetime) -> None:
        log = _log_file(self._home, schedule.name, now)
        if not self._schedules.begin(run, f"log: {log}"):
            return
        command = processes.python(
            "flows.commands.cli", "schedule", "execute", str(schedule.config)
        )
        command += [f"--entry={entry}" for entry in run.entries]
        marks = {processes.RUN: run.id}
        try:
            with log.open("ab") as output:
                process = self._start(command, marks, schedule.folder, output)
        except OSError as error:
            problem = (
                f"it cannot run in {schedule.folder}: {error.strerror}; add it again elsewhere"
            )
            self._schedules.end(run, states.FAILED, "Failed", problem)
            announce(f"{schedule.name}: {problem}")
            return
        self._active[schedule.id] = Active(run, schedule, process, log, now)
        announce(f"{schedule.name}: begins, log {log}")

    def _end(self, active: Active, how: Ended) -> None:
        self._schedules.end(active.run, *how)
        announce(f"{active.schedule.name}: {how.name}, {how.message}")

    def _clear(self, active: Active) -> None:
        """End what a process left behind: Dask's workers, and its audits on the server."""
        processes.end({processes.SERVE: str(self._home), processes.RUN: active.run.id})
        self._schedules.bury_audits(active.schedule.config, active.began)

    def _deserves_another(self, active: Active) -> bool:
        was_away = self._last_outage is not None and self._last_outage >= active.began
        return was_away and active.run.id not in self._given_again


def _log_file(home: Path, name: str, now: datetime) -> Path:
    """A file for the output of a run; the oldest of its schedule go."""
    folder = home / "scheduled" / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.log"))[: 1 - LOGS_KEPT]:
        old.unlink()
    return folder / f"{now:%Y-%m-%dT%H-%M-%SZ}.log"


def main() -> None:
    """Poll every few seconds until a signal comes."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    runner = Runner(Schedules(os.environ[service.ADDRESS]), service.home())
    with listening_at(os.environ.get(LISTEN), runner.watch.told.put):
        while not stopping.is_set():
            runner.poll(datetime.now(UTC))
            stopping.wait(POLL_SECONDS)
    runner.stop()


if __name__ == "__main__":
    main()
