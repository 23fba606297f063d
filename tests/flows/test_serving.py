"""Processes of ``decaf serve``: none outlives what it belongs to, and the service is kept alive."""

import os
import signal
import subprocess
import sys
import threading

import prefect
import psutil
import pytest
from ended_commands import run_code, succeeded
from running_command import PATIENCE_SECONDS, wait_for

from decaf.errors import BadInput, DecafError, ServerUnreachable
from flows.scheduling import processes, serving
from flows.scheduling.watching import RegistryWatch

MARK = "DECAF_TEST_MARK"
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""
STARTER = f"""
import sys, time
from flows.scheduling import processes
sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
process = processes.start(sleeper, {{"{MARK}": "1"}})
print(process.pid, flush=True)
time.sleep(600)
"""


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_what_is_marked_ends_with_what_it_started(tmp_path):
    output = tmp_path / "output"
    with output.open("wb") as file:
        parent = processes.start(
            [sys.executable, "-c", PARENT], {MARK: str(tmp_path)}, tmp_path, file
        )
    child = int(wait_for(output.read_text))
    assert processes.end({MARK: "another"}) == 0
    assert processes.end({MARK: None, "NOT_THERE": None}) == 0
    assert processes.end({MARK: str(tmp_path)}) == 2
    parent.wait(PATIENCE_SECONDS)
    assert is_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of it")
def test_a_process_ends_when_its_parent_is_killed():
    starter = [sys.executable, "-c", STARTER]
    with subprocess.Popen(starter, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    wait_for(lambda: is_gone(child))


def test_a_process_that_does_not_heed_is_killed():
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{code}; time.sleep(600)"], stdout=subprocess.PIPE
    )
    with process:
        process.stdout.readline()
        assert processes.stop(process, 0.2) == -signal.SIGKILL


class StandIn:
    """A server that answers, or refuses; it has one run under way."""

    def __init__(self, *, is_up=True, refuses=False):
        self.is_up, self._refuses = lambda: is_up, refuses
        self.begun_again = []

    def make_pool(self):
        if self._refuses:
            raise ServerUnreachable("the database is locked")

    def under_way(self):
        return ["run"]

    def begin_again(self, runs):
        self.begun_again.append(runs)

    def all(self):
        return []


def served_once(server, command, tmp_path, monkeypatch):
    """Serve with a command in the server's place, and a sleeping worker, until one of them ends."""
    monkeypatch.setattr(serving.processes, "python", lambda *_: SLEEPER)
    variables = {serving.service.ADDRESS: "http://here/api", processes.SERVE: str(tmp_path)}
    serving._serve_once(command, variables, server, RegistryWatch(), threading.Event())
    assert processes.end({processes.SERVE: str(tmp_path)}) == 0


def test_if_the_server_ends_the_worker_ends_and_its_runs_begin_again(tmp_path, monkeypatch):
    server = StandIn()
    served_once(server, [sys.executable, "-c", "import time; time.sleep(3)"], tmp_path, monkeypatch)
    assert server.begun_again == [["run"], []]  # at the start; at the end nobody could be asked


def test_a_server_that_refuses_at_the_start_is_ended_and_asked_to_note_its_runs(
    tmp_path, monkeypatch
):
    server = StandIn(refuses=True)
    served_once(server, SLEEPER, tmp_path, monkeypatch)
    assert server.begun_again == [["run"]]


def test_a_server_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(DecafError) as broken:
        served_once(StandIn(is_up=False), [sys.executable, "-c", ""], tmp_path, monkeypatch)
    assert broken.value.exit_code == 3


def test_a_server_without_credentials_is_warned_of_where_others_reach_it(monkeypatch, capsys):
    for name in (serving.SERVER_CREDENTIALS, serving.CREDENTIALS):
        monkeypatch.delenv(name, raising=False)
    serving._settle_credentials("127.0.0.1", 4200)
    assert capsys.readouterr().err == ""
    serving._settle_credentials("0.0.0.0", 4200)
    assert serving.SERVER_CREDENTIALS in capsys.readouterr().err
    monkeypatch.setenv(serving.SERVER_CREDENTIALS, "auditor:secret")
    serving._settle_credentials("0.0.0.0", 4200)
    assert capsys.readouterr().err == ""
    assert os.environ[serving.CREDENTIALS] == "auditor:secret"


def test_addresses(monkeypatch):
    assert [serving._reachable(h) for h in ("0.0.0.0", "::", "::1", "lab.example")] == [
        *("127.0.0.1", "127.0.0.1", "[::1]", "lab.example")
    ]
    local = [h for h in ("127.0.0.1", "::1", "localhost", "0.0.0.0") if serving._is_loopback(h)]
    assert local == ["127.0.0.1", "::1", "localhost"]


def test_a_port_that_is_taken_is_refused():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"cannot listen at 127.0.0.1:{port}"):
            serving.refuse_taken("127.0.0.1", port, "--port")


def test_a_signal_stops_and_the_handlers_come_back():
    before = signal.getsignal(signal.SIGTERM)
    with serving.signals() as stopping:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.wait(PATIENCE_SECONDS)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_server_is_prefects_own_command_and_collects_its_garbage_apart():
    code = """
import gc, runpy, sys
sys.argv[1:] = ["--version"]
try:
    runpy.run_module("flows.scheduling.server", run_name="__main__", alter_sys=True)
finally:
    print(gc.isenabled())
"""
    assert succeeded(run_code(code)).split() == [prefect.__version__, "False"]
