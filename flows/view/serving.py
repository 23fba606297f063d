"""Serve the pages of a warehouse to this machine, in the process of the command."""

import logging
import socket
import threading
import webbrowser

import uvicorn
from rich.console import Console

from flows import stopping
from flows.ports import refuse_taken
from flows.view.site import Site
from warehouse import storage

LOOPBACK = "127.0.0.1"
GRACE_SECONDS = 1
"""Time for running requests to finish after a signal."""


def serve_pages(console: Console, warehouse: str, port: int, *, opens_browser: bool) -> None:
    """Serve until a signal ends the command.

    Raises WarehouseError if the warehouse cannot be opened, and BadInput if the port is in use.
    """
    store = storage.open(warehouse)
    site = Site(store)
    refuse_taken(LOOPBACK, port, "--port")
    stopping.heed_signals()
    server = uvicorn.Server(
        uvicorn.Config(
            site.application(),
            access_log=False,
            http="h11",
            lifespan="off",
            log_config=None,
            loop="asyncio",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ws="none",
        )
    )
    # A request that a signal interrupts is not an error; errors are logged with a traceback.
    log = logging.getLogger("uvicorn.error")
    log.addFilter(lambda _: not (server.should_exit or stopping.has_signal()))
    with socket.create_server((LOOPBACK, port)) as listener:
        address = f"http://{LOOPBACK}:{port}"
        console.print(f"{store.address} is shown at {address}; Ctrl-C ends this", soft_wrap=True)
        threading.Thread(target=site.read_ahead, daemon=True).start()
        if opens_browser:
            # A browser in the terminal returns only when it ends.
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        server.run(sockets=[listener])
