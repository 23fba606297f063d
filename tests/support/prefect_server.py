"""A real Prefect server for tests, whose process ends with the suite."""

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

START_SECONDS = 600
"""A first start migrates a database, which takes minutes where other work has all the cores."""
GRACE_SECONDS = 5
ANSWER_SECONDS = 2
PROCESS = Path(__file__).with_name("prefect_process.py")


class PrefectServer:
    """A server on a free port of this machine, with the environment of its start."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/api"
        descriptor = self._socket.fileno()
        with (Path(os.environ["PREFECT_HOME"]) / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, PROCESS, str(descriptor)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=[descriptor],
                start_new_session=True,
            )

    def wait(self):
        """Return when the server answers."""
        stop = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None
            assert time.monotonic() < stop

    def stop(self):
        self._process.stdin.close()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._socket.close()

    def _answers(self):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
