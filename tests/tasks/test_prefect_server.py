"""A flow's own Prefect server: a stand-in for it ends with its parent and is started again."""

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from decaf.errors import OrchestrationLost
from tasks.prefect import server as servers

PATIENCE_SECONDS = 60
STAND_IN = """
import http.server, socket, sys, threading
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
from tasks.prefect.server_process import end_with_parent
threading.Thread(target=end_with_parent, args=[1], daemon=True).start()
server = http.server.HTTPServer(("127.0.0.1", 0), Health, bind_and_activate=False)
server.socket = socket.socket(fileno=int(sys.argv[1]))
server.serve_forever()
"""


def wait_for(condition):
    stop = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < stop
        time.sleep(0.01)


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Where the program of the server is, and what it is made to be."""
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    monkeypatch.setattr(servers, "PROCESS", str(tmp_path / "process.py"))
    return (tmp_path / "process.py").write_text


def own_children():
    """Servers of this process, which the tests may have given other children as well."""
    children = psutil.Process().children()
    return [child for child in children if servers.PROCESS in child.cmdline()]


def own_child():
    (child,) = own_children()
    return child


def test_a_server_that_is_killed_is_started_again_on_its_port(process, capsys):
    process(STAND_IN)
    server = servers.OwnServer()
    try:
        server.wait()
        first = own_child()
        first.kill()
        wait_for(lambda: not first.is_running() and server._answers())
        assert own_child().pid != first.pid
        assert "started again" in capsys.readouterr().err
    finally:
        server.stop()
    assert not own_children()


def test_a_server_that_cannot_start_is_said(process, tmp_path):
    process("raise SystemExit('no room')")
    server = servers.OwnServer()
    try:
        with pytest.raises(OrchestrationLost, match="ended at its start; see the end of"):
            server.wait()
    finally:
        server.stop()
    assert (tmp_path / "prefect" / "server.log").read_text() == "no room\n"


@pytest.mark.parametrize("is_deaf", [False, True])
def test_a_server_ends_with_the_process_that_started_it(is_deaf):
    code = (
        "import signal, sys; from tasks.prefect.server_process import end_with_parent\n"
        "if len(sys.argv) > 1: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "end_with_parent(0.1)"
    )
    command = [sys.executable, "-c", code, *(["deaf"] if is_deaf else [])]
    server = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert server.poll() is None
    server.stdin.close()  # as the kernel does when its owner is killed
    assert server.wait(PATIENCE_SECONDS) == (1 if is_deaf else -signal.SIGTERM)


def test_a_server_that_a_killed_flow_left_behind_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    # A process that looks like the server, started by one that ends at once.
    sleeper = f"import time; time.sleep({PATIENCE_SECONDS})"
    code = (
        "import subprocess, sys; print(subprocess.Popen("
        f"[sys.executable, '-c', {sleeper!r}, '{servers.SERVER_MODULE}:create_app'], "
        "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"
    )
    started = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    orphan = psutil.Process(int(started.stdout))
    assert servers.stop_orphans() == 1
    assert not orphan.is_running()
    assert servers.stop_orphans() == 0


def test_one_thread_alone_frees_what_is_garbage_young_or_old():
    code = """
import gc, threading, weakref
from tasks.prefect import server_process

class Node:
    def __init__(self):
        self.itself = self
        self.freed = threading.Event()
        weakref.finalize(self, tell, self.freed)

def tell(freed):
    print(threading.current_thread().name)
    freed.set()

server_process.COLLECT_SECONDS, server_process.FULL_COLLECTION_EVERY = 0.01, 3
old = Node()
gc.collect()
server_process.collect_apart()
assert not gc.isenabled()
young = Node()
awaited = [old.freed, young.freed]
del old, young
assert all(freed.wait(60) for freed in awaited)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "collect garbage\n" * 2


def test_servers_of_one_folder_start_one_after_the_other(process, tmp_path):
    """Each start of the stand-in migrates the database of the folder, which no two can at once."""
    migrating = f"""
import pathlib, time
mark = pathlib.Path({str(tmp_path / "migrating")!r})
mark.touch(exist_ok=False)
time.sleep(0.3)
mark.unlink()
"""
    process(migrating + STAND_IN)

    def start_and_stop(_):
        server = servers.OwnServer()
        try:
            server.wait()
        finally:
            server.stop()

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(start_and_stop, range(3))) == [None] * 3
