"""The Prefect server of a flow, where no other is named: its process ends with that of the flow.

Without ``PREFECT_API_URL`` a flow of the command line has a server of its own, on a free port of
this machine. Prefect would start one too, but later, with half of the server's code in the process
of the flow, and when that is killed its server stays. This one reads from a pipe that nobody writes
to: when the flow is gone, however it went, the pipe ends and so does the server. The flow holds the
port; a server that is killed is started again, and Prefect's clients ask again until it is there.
"""

import atexit
import fcntl
import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from decaf.errors import BadInput, OrchestrationLost
from decaf.foundation.files import refusals_as
from tasks.progress import announce

SERVER_MODULE = "prefect.server.api.server"
"""What Prefect's own ephemeral server has in its command line."""
INIT = 1
GRACE_SECONDS = 5
ANSWER_SECONDS = 2
MOST_RESTARTS = 5
LOG = "server.log"
START_LOCK = "decaf-start.lock"
PROCESS = str(Path(__file__).with_name("server_process.py"))


class OwnServer:
    """A Prefect server that ends with this process; made before Prefect is imported."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/api"
        home = Path(os.environ["PREFECT_HOME"])
        self._log = home / LOG
        remedy = "set PREFECT_HOME to a folder that can be written"
        with refusals_as(BadInput, f"Prefect's folder {home} cannot be used", remedy):
            home.mkdir(parents=True, exist_ok=True)
            self._log.open("ab").close()
        self._starting = ExitStack()
        self._starting.enter_context(start_lock(home))
        self._lock = threading.Lock()
        self._is_ending = False
        self._process = self._start()
        # After the threads of Prefect, which send their last events, have ended.
        atexit.register(self.stop)

    def wait(self) -> None:
        """Return when the server answers, and see to it from now on.

        Raises OrchestrationLost when it ends first, or does not answer in time.
        """
        seconds = int(os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"])
        stop = time.monotonic() + seconds
        with self._starting:
            while not self._answers():
                has_ended = self._process.poll() is not None
                if has_ended or time.monotonic() > stop:
                    what = "ended at its start" if has_ended else f"gave no answer in {seconds} s"
                    raise OrchestrationLost(
                        f"the Prefect server {what}; see the end of {self._log}, check that its "
                        "folder and TMPDIR have room, and give the same command again"
                    )
        threading.Thread(target=self._keep, name="keep the Prefect server", daemon=True).start()

    def stop(self) -> None:
        """End the server."""
        with self._lock:
            self._is_ending = True
        self._process.stdin.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._starting.close()
        self._socket.close()

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._socket.fileno()
        with self._log.open("ab") as log:
            return subprocess.Popen(
                # -P: the folder of that file is no place to import from.
                [sys.executable, "-P", PROCESS, str(descriptor), str(GRACE_SECONDS)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[descriptor],
                # Ctrl-C and the end of a terminal are for the flow, which still has to report.
                start_new_session=True,
            )

    def _answers(self) -> bool:
        port = self._socket.getsockname()[1]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _keep(self) -> None:
        for _ in range(MOST_RESTARTS):
            self._process.wait()
            with self._lock:
                if self._is_ending:
                    return
                announce("the Prefect server was ended by something else; it is started again")
                self._process.stdin.close()
                self._process = self._start()


@contextmanager
def start_lock(home: Path) -> Iterator[None]:
    """Wait for the other servers that start in this folder, and hold it for the block.

    A server that starts migrates the database of the folder. Two migrations at once fail. The lock
    is the operating system's, so it ends with this process; a file system without locks has none.
    """
    with (home / START_LOCK).open("ab") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def stop_orphans() -> int:
    """Terminate servers that flows of this project have left behind; returns how many.

    They are known by their command line, our ``PREFECT_HOME`` in their environment, and a parent
    that is gone: servers that Prefect started for a flow, and one of ours that is stuck.
    """
    orphans = [process for process in psutil.process_iter() if _is_orphan(process)]
    for process in orphans:
        process.terminate()
    _, alive = psutil.wait_procs(orphans, timeout=GRACE_SECONDS)
    for process in alive:
        process.kill()
    return len(orphans)


def _is_orphan(process: psutil.Process) -> bool:
    try:
        return (
            process.ppid() == INIT  # first: it alone is known without reading a file more
            and any(SERVER_MODULE in word or word == PROCESS for word in process.cmdline())
            and process.environ().get("PREFECT_HOME") == os.environ["PREFECT_HOME"]
        )
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False
