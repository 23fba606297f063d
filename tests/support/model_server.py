"""A real HTTP server on loopback whose models behave as a test says."""

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import numpy as np


def decode(inputs):
    """Inputs of a request as an array, read as the documentation says."""
    if isinstance(inputs, list):
        return np.array(inputs, np.float32)
    content = base64.b64decode(inputs["base64"])
    return np.frombuffer(content, "<f4").reshape(inputs["shape"])


def means(inputs):
    """Answer of a well-behaved server: mean and its negative."""
    rows = decode(inputs)
    level = rows.reshape(len(rows), -1).astype(np.float64).mean(axis=1)
    return {"outputs": np.stack([level, -level], axis=1).tolist()}


def well(request, number):
    return 200, json.dumps(means(json.loads(request.body)["inputs"])), {}


class Request(NamedTuple):
    body: bytes
    headers: dict[str, str]


class Server(ThreadingHTTPServer):
    """Answers every request as ``behave(request, number)`` says, and keeps all requests."""

    daemon_threads = True

    def __init__(self, behave):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = behave
        self.requests = []
        self.connections = set()
        self.released = threading.Event()

    def handle_error(self, request, client_address):
        """A client that does not wait for the answer is none of the server's business."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/predict"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.requests.append(Request(self.body, dict(self.headers)))
        self.server.connections.add(self.client_address)
        status, text, headers = self.server.behave(self, len(self.server.requests))
        content = text.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST  # noqa: N815 (http.server's name)

    def log_message(self, *_):
        pass


@contextmanager
def serving(behave):
    server = Server(behave)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
