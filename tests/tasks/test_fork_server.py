"""Workers that are forks of one process: what happens where it cannot be had, or is lost."""

import os
import subprocess
import sys

import pytest

from decaf.plan.cluster import CudaWorkers, LocalWorkers
from tasks.cluster import fork_server

linux = pytest.mark.skipif(sys.platform != "linux", reason="only there are workers forked")
LOSES_ITS_SERVER = """
import os, sys
from multiprocessing import forkserver
from psutil import Process, wait_procs
from decaf.plan.cluster import LocalWorkers
from tasks.cluster import fork_server
from tasks.cluster.workers import connect

if __name__ == "__main__":
    with connect(LocalWorkers(workers=1)) as client:
        worker = Process(client.submit(os.getpid, pure=False).result())
        assert worker.ppid() == forkserver._forkserver._forkserver_pid, "no fork"
        worker.parent().kill()
        assert not wait_procs([worker], timeout=60)[1], "it outlives what forked it"
        assert client.submit(os.getppid, pure=False).result() == os.getpid(), "not a fresh one"
    assert fork_server.method(LocalWorkers(workers=1)) == fork_server.FRESH
"""
HOLDS_FILES = """
import os, time
held = [os.pipe() for _ in range(500)]
os.write({pipe}, b".")
time.sleep(600)
"""


@pytest.mark.slow
@linux
def test_a_worker_is_replaced_although_what_forked_it_is_gone(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LOSES_ITS_SERVER)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@linux
def test_a_process_is_known_to_end_before_it_is_a_zombie(monkeypatch):
    monkeypatch.setattr(fork_server, "_begun", [LocalWorkers()])
    for _ in range(20):
        reading, writing = os.pipe()
        script = HOLDS_FILES.format(pipe=writing)
        process = subprocess.Popen([sys.executable, "-c", script], pass_fds=[writing])
        os.close(writing)
        os.read(reading, 1)  # it is ready
        monkeypatch.setattr(fork_server.forkserver._forkserver, "_forkserver_pid", process.pid)
        assert not fork_server.is_lost()
        process.kill()
        os.read(reading, 1)  # what it held is closed, and often it is no zombie yet
        assert fork_server.is_lost()
        process.wait()
        assert fork_server.is_lost()
        os.close(reading)


@linux
def test_that_workers_cannot_be_forked_is_said(monkeypatch, capsys):
    def refuse():
        raise OSError("AF_UNIX path too long")

    monkeypatch.setattr(fork_server, "_begun", [])
    monkeypatch.setattr(fork_server.forkserver, "ensure_running", refuse)
    fork_server.begin(LocalWorkers())
    assert "each imports torch for itself (AF_UNIX path too long)" in capsys.readouterr().err
    assert fork_server.method(LocalWorkers()) == fork_server.FRESH


@pytest.mark.parametrize(
    "settings", [CudaWorkers(kind="cuda"), LocalWorkers(threads=3)], ids=["cuda", "other variables"]
)
def test_workers_with_settings_of_their_own_are_not_forked(settings, monkeypatch):
    monkeypatch.setattr(fork_server, "_begun", [LocalWorkers(threads=1)])
    assert fork_server.method(settings) == fork_server.FRESH
