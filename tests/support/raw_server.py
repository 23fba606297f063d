"""A server on loopback that writes bytes as it pleases, HTTP or not, to whoever connects."""

import json
import socket
import threading
from contextlib import closing, contextmanager

ENDLESS = 10**12


def answer(content, *headers, status="200 OK", length=None):
    """One whole answer, or one whose length is not that of its content."""
    lines = [
        "Connection: close",
        *headers,
        "Content-Length: " + str(len(content) if length is None else length),
    ]
    head = f"HTTP/1.1 {status}\r\n" + "".join(f"{line}\r\n" for line in lines)
    return head.encode() + b"\r\n" + content


def of_json(content, *headers, **options):
    return answer(json.dumps(content).encode(), *headers, **options)


def once(content):
    """Write one answer."""

    def behave(connection, path, released):
        connection.sendall(content)

    return behave


def dripping(content, drop=b"x", seconds=0.05):
    """Begin an answer, then send a drop every moment, for ever."""

    def behave(connection, path, released):
        connection.sendall(content)
        while not released.wait(seconds):
            connection.sendall(drop)

    return behave


def redirect(status, target):
    return once(answer(b"", f"Location: {target}", status=status))


def silent(connection, path, released):
    released.wait()


BEGUN = b"HTTP/1.1 200 OK\r\n"
WAYS = {
    "is silent": silent,
    "drips content": dripping(answer(b"{", length=ENDLESS)),
    "drips chunks": dripping(BEGUN + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "sends without end": dripping(answer(b"{", length=ENDLESS), bytes(1 << 20), seconds=0),
    "sends gzip that is none": once(answer(b"zzzz", "Content-Encoding: gzip")),
    "breaks off": once(answer(b"{", length=100)),
    "hangs up": once(b""),
    "speaks something else": once(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "has long headers": once(answer(b"{}", "X-Long: " + "x" * 300_000)),
    "redirects elsewhere": redirect("301 Moved", "http://198.51.100.7/"),
    "redirects to a file": redirect("302 Found", "file:///etc/passwd"),
    "says 500": once(answer(b"broken", status="500 Broken")),
    "says 204": once(b"HTTP/1.1 204 None\r\n\r\n"),
}


class RawServer:
    """Answers each request as ``behave(connection, path, released)`` says, then closes."""

    def __init__(self, behave):
        self._behave = behave
        self._released = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.asked = []
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def close(self):
        self._released.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _accept(self):
        while not self._released.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        with closing(connection):
            try:
                path = self._heard(connection)
                self.asked.append(path)
                self._behave(connection, path, self._released)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                """The client does not wait, as it should."""

    @staticmethod
    def _heard(connection):
        """Path of a request, once all of it has been read."""
        heard = b""
        while b"\r\n\r\n" not in heard:
            heard += (part := connection.recv(1 << 16))
            if not part:
                raise OSError
        head, _, body = heard.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        given = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        left = int(given.get("content-length", 0)) - len(body)
        while left > 0:
            left -= len(connection.recv(1 << 16))
        return lines[0].split()[1]


@contextmanager
def misbehaving(behave):
    """Serve until the block ends; ``behave`` is a function, or the name of a way."""
    server = RawServer(WAYS.get(behave, behave) if isinstance(behave, str) else behave)
    try:
        yield server
    finally:
        server.close()
