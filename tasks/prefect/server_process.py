"""The process of a flow's own Prefect server: ``server_process.py DESCRIPTOR GRACE_SECONDS``.

It is started by its path and imports nothing of this project; Prefect's settings come with the
environment, and the socket that it listens to comes open.
"""

import gc
import os
import signal
import socket
import sys
import threading
import time

STDIN = 0


def end_with_parent(grace_seconds: float) -> None:
    """End this process once nobody holds the other end of its standard input."""
    os.read(STDIN, 1)
    # While Prefect is imported this ends the process; later it lets the last events be written.
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(grace_seconds)
    os._exit(1)


def serve(descriptor: int) -> None:
    """Serve Prefect's API on a socket that listens already, until a signal comes."""
    gc.disable()  # what is imported stays, and to look through it takes a fifth of the time
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=True, final=True)
    gc.freeze()
    gc.enable()
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
