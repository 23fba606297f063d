"""Ports that commands serve at."""

import socket

from decaf.errors import BadInput


def refuse_taken(host: str, port: int, option: str) -> None:
    """Raise BadInput where a port of a host cannot be listened at; ``option`` names it."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise BadInput(
            f"{host}:{port} cannot be served ({error.strerror or error}); give another {option} "
            "of this machine"
        ) from error
