"""The process of the suite's Prefect server: ``prefect_process.py DESCRIPTOR``.

The socket that it listens to comes open. It ends when nobody holds its standard input any more.
"""

import gc
import os
import signal
import socket
import sys
import threading

from flows.scheduling.server import collect_apart

STDIN = 0


def end_with_parent() -> None:
    os.read(STDIN, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def serve(descriptor: int) -> None:
    gc.disable()  # what is imported stays, and to look through it takes a fifth of the time
    import uvicorn
    from prefect.server.api.server import create_app

    app = create_app(ephemeral=True, final=True)
    gc.freeze()
    collect_apart()
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([socket.socket(fileno=descriptor)])


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    serve(int(sys.argv[1]))
