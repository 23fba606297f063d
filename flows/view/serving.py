"""What serves the pages of a warehouse to this machine: Streamlit, in a process of its own."""

import time
import webbrowser
from pathlib import Path

import httpx
from rich.console import Console

from decaf.errors import DecafError
from decaf.foundation.extras import Installed
from flows import stopping
from flows.scheduling import processes
from flows.scheduling.serving import refuse_taken
from warehouse import storage
from warehouse.query.catalog import connect

LOOPBACK = "127.0.0.1"
PAGES = Path(__file__).with_name("pages.py")
SETTINGS = {
    "server.address": LOOPBACK,
    "server.allowedHosts": LOOPBACK,  # a page of another site cannot take its name
    "server.headless": "true",
    "server.fileWatcherType": "none",
    "browser.gatherUsageStats": "false",
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "runner.magicEnabled": "false",  # else it shows texts that stand alone, such as docstrings
    "logger.level": "error",
    "logger.hideWelcomeMessage": "true",
}
"""Of Streamlit. It sends nothing anywhere, and asks nobody what this machine is called outside."""
POLL_SECONDS, GRACE_SECONDS = 0.1, 5.0


def serve_pages(console: Console, warehouse: str, port: int, *, opens_browser: bool) -> None:
    """Serve until a signal comes.

    Raises MissingPackage without Streamlit, WarehouseError for a warehouse that cannot be opened,
    BadInput for a port that is taken, DecafError when the server ends by itself.
    """
    Installed("streamlit")()
    root = storage.open(warehouse).address
    connect(root).close()
    refuse_taken(LOOPBACK, port, "--port")
    options = [f"--{name}={value}" for name, value in SETTINGS.items()]
    command = ["streamlit", "run", str(PAGES), f"--server.port={port}", *options, "--", root]
    address = f"http://{LOOPBACK}:{port}"
    stopping.heed_signals()
    # In a folder without settings of Streamlit that somebody else has made.
    server = processes.start(processes.python(*command), {}, PAGES.parent)
    try:
        while server.poll() is None and not _is_up(address):
            time.sleep(POLL_SECONDS)
        if server.poll() is None:
            console.print(f"{root} is shown at {address}; Ctrl-C ends this", soft_wrap=True)
            if opens_browser:
                webbrowser.open(address)
        status = server.wait()
    finally:
        processes.stop(server, GRACE_SECONDS)
    raise DecafError(f"Streamlit ended with status {status}; what it said is above")


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/_stcore/health", trust_env=False).is_success
    except httpx.TransportError:
        return False
