"""The process of a flow's own Prefect server: ``server_process.py DESCRIPTOR GRACE_SECONDS``.

It is started by its path and imports nothing of this project; Prefect's settings come with the
environment, and the socket that it listens to comes open.
"""

import gc
import itertools
import os
import signal
import socket
import sys
import threading
import time

STDIN = 0
COLLECT_SECONDS = 1
FULL_COLLECTION_EVERY = 600
"""Of so many collections one looks at old objects, too; it takes a fifth of a second."""


def end_with_parent(grace_seconds: float) -> None:
    """End this process once nobody holds the other end of its standard input."""
    os.read(STDIN, 1)
    # While Prefect is imported this ends the process; later it lets the last events be written.
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    os._exit(1)


def collect_apart() -> None:
    """Have a thread of its own collect garbage from now on, and no other.

    A statement that SQLite refuses leaves its cursor behind, as garbage. Whoever frees it waits for
    the thread that uses its connection, and that one waits up to a minute for the lock of a
    transaction. If the event loop frees it, the transaction cannot end, and the server stands still
    for that minute.
    """
    gc.disable()
    threading.Thread(target=_collect, name="collect garbage", daemon=True).start()


def _collect() -> None:
    for count in itertools.count(1):
        time.sleep(COLLECT_SECONDS)
        gc.collect(1 if count % FULL_COLLECTION_EVERY else 2)


def serve(descriptor: int) -> None:
    """Serve Prefect's API on a socket that listens already, until a signal comes."""
    gc.disable()  # what is imported stays, and to look through it takes a fifth of the time
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=True, final=True)
    gc.freeze()
    collect_apart()
    config = uvicorn.Config(
        app,
        log_level="error",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run([socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, args=[float(sys.argv[2])], daemon=True).start()
    serve(int(sys.argv[1]))
