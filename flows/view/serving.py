"""Serves the pages of a warehouse to this machine, in the process of the command."""

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
"""For requests under way when a signal comes."""


def serve_pages(console: Console, warehouse: str, port: int, *, opens_browser: bool) -> None:
    """Serve until a signal comes, which then ends the command as it ends any other.

    Raises WarehouseError for a warehouse that cannot be opened, BadInput for a port that is taken.
    """
    store = storage.open(warehouse)
    application = Site(store).application()
    refuse_taken(LOOPBACK, port, "--port")
    stopping.heed_signals()
    server = uvicorn.Server(
        uvicorn.Config(
            application,
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
    # A request that a signal cuts off is no fault; any other is told with its traceback.
    log = logging.getLogger("uvicorn.error")
    log.addFilter(lambda _: not (server.should_exit or stopping.received()))
    with socket.create_server((LOOPBACK, port)) as listener:
        address = f"http://{LOOPBACK}:{port}"
        console.print(f"{store.address} is shown at {address}; Ctrl-C ends this", soft_wrap=True)
        if opens_browser:
            # A browser in the terminal returns only when it ends.
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        server.run(sockets=[listener])
