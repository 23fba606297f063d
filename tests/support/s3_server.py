"""A real S3-compatible server on loopback, in a process of its own."""

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from contextlib import contextmanager, suppress

from running_command import wait_for

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
BUCKET = "bucket"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """A server that can be stopped, which loses its objects."""

    def __init__(self, port, **environment):
        self.port = port
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        quiet = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        self.process = subprocess.Popen(command, env={**os.environ, **environment}, **quiet)
        wait_for(self._answers, self.process)

    def url(self, path, bucket=BUCKET, port=None):
        """URL of a warehouse on it, or behind another port."""
        place = f"endpoint_override=127.0.0.1:{port or self.port}&scheme=http&region=us-east-1"
        return f"s3://{bucket}/{path}?{place}"

    def make_bucket(self, bucket=BUCKET):
        address = f"http://127.0.0.1:{self.port}/{bucket}"
        urllib.request.urlopen(urllib.request.Request(address, method="PUT"), timeout=10).close()

    def stop(self):
        self.process.kill()
        self.process.wait()

    def _answers(self):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False


class Gate:
    """A port that leads to a server while it is open, and to nothing while it is closed."""

    def __init__(self, target):
        self.target, self.port = target, free_port()
        self._joined = []

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()

    def open(self):
        self._listening = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def close(self):
        # A thread that waits in accept keeps the port unless the socket is shut down first.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        while self._joined:
            joined = self._joined.pop()
            with suppress(OSError):
                joined.shutdown(socket.SHUT_RDWR)
            joined.close()

    def _accept(self, listening):
        while True:
            try:
                near, _ = listening.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            self._joined += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(source, sink):
    with suppress(OSError):
        while content := source.recv(65536):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)


@contextmanager
def running(port=None, **environment):
    server = Server(port or free_port(), **environment)
    try:
        yield server
    finally:
        server.stop()
