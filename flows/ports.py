"""Ports that commands serve at."""

import socket

from decaf.errors import BadInput


def refuse_taken(host: str, port: int, option: str) -> None:
    """Raise BadInput if a port cannot be listened at; the message names ``option``."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise BadInput(
            f"cannot listen at {host}:{port} ({error.strerror or error}); choose another address "
            f"or port of this machine with {option}"
        ) from error
