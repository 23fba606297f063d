"""Workers that are forks of one process: a lost fork server, and places without one."""

import subprocess
import sys

import pytest
from ended_commands import run_code, succeeded

from decaf.models.sources.estimator import EstimatorCard
from decaf.plan.cluster import CudaWorkers, LocalWorkers, SchedulerAddress
from tasks.cluster import fork_server

linux = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux alone")
LOSES_ITS_SERVER = """
import os
from psutil import Process, wait_procs
from decaf.plan.cluster import LocalWorkers
from tasks.cluster.workers import connect

if __name__ == "__main__":
    with connect(LocalWorkers(workers=1)) as client:
        worker = Process(client.submit(os.getpid, pure=False).result())
        server = worker.parent()
        assert server.pid != os.getpid(), "no fork"
        server.kill()
        assert not wait_procs([worker], timeout=60)[1], "it outlives what forked it"
        parent = client.submit(os.getppid, pure=False).result()
        assert parent not in (os.getpid(), server.pid), "no fork of another server"
"""


@pytest.fixture
def no_server(monkeypatch):
    """The state of a process that has no fork server yet."""
    monkeypatch.setattr(fork_server, "_begun", [])
    monkeypatch.setattr(fork_server, "_libraries", [])


@pytest.mark.slow
@linux
def test_a_worker_is_replaced_although_what_forked_it_is_gone(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LOSES_ITS_SERVER)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@linux
@pytest.mark.usefixtures("no_server")
def test_workers_are_fresh_where_no_fork_server_can_be_started(monkeypatch, capsys):
    def refuse():
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(fork_server.forkserver, "ensure_running", refuse)
    fork_server.begin(LocalWorkers())
    assert "AF_UNIX path too long" in capsys.readouterr().err
    assert fork_server.start_method(LocalWorkers()) == fork_server.FRESH


@linux
def test_a_server_that_does_not_fork_is_given_up_with_a_message(monkeypatch, capsys):
    def refuse():
        raise EOFError

    monkeypatch.setattr(fork_server, "_ensure_running", refuse)
    monkeypatch.setattr(fork_server, "PAUSE_SECONDS", 0)
    assert not fork_server.is_forking()
    assert fork_server.SLOWER in capsys.readouterr().err


@pytest.mark.parametrize(
    "settings", [CudaWorkers(kind="cuda"), SchedulerAddress(kind="address", address="tcp://a:1")]
)
@pytest.mark.usefixtures("no_server")
def test_no_server_is_started_for_workers_that_are_not_local(settings):
    fork_server.begin(settings)
    assert not fork_server._begun


@linux
@pytest.mark.usefixtures("no_server")
def test_libraries_of_models_are_imported_once_before_those_of_workers(monkeypatch):
    def note(modules):
        imported.extend(modules)

    imported, context = [], fork_server.get_context(fork_server.FORKING)
    monkeypatch.setattr(context, "set_forkserver_preload", note)
    monkeypatch.setattr(fork_server.forkserver, "ensure_running", lambda: None)
    model = {"id": "a", "family": "b", "source": "estimator"}
    cards = [
        EstimatorCard.model_validate(model | {"file": "a.skops"}),
        EstimatorCard.model_validate(model | {"file": "a.ubj"}),
        EstimatorCard.model_validate(model | {"file": "b.ubj"}),
    ]
    fork_server.begin(LocalWorkers(), cards)
    libraries = ["scipy.special", "skops.io", "xgboost"]
    assert imported == [fork_server.UNCOLLECTED, *libraries, fork_server.PRELOADED]


def test_only_workers_with_the_variables_of_the_server_are_forked(monkeypatch):
    monkeypatch.setattr(fork_server, "_begun", [fork_server.variables(LocalWorkers(threads=1))])
    assert fork_server.start_method(LocalWorkers(workers=9, threads=1)) == fork_server.FORKING
    assert fork_server.start_method(LocalWorkers(threads=3)) == fork_server.FRESH
    assert fork_server.start_method(CudaWorkers(kind="cuda")) == fork_server.FRESH


LEAK = """
import atexit, os, sys, tasks.cluster.uncollected
class Leaked:
    def __del__(self): print('leaked', flush=True)
held = Leaked()
atexit.register(print, 'exit function', flush=True)
"""


def test_the_server_ends_without_a_report_of_leaks():
    assert succeeded(run_code(LEAK)) == "exit function\n"


@linux
def test_a_fork_of_the_server_keeps_its_exit_code():
    fork = LEAK + (
        "child = os.fork()\n"
        "if not child: sys.exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
    )
    succeeded(run_code(fork))
