"""Proxies of the environment, which lead to other machines: decaf reaches this machine past them.

``HTTP_PROXY``, ``HTTPS_PROXY`` and ``ALL_PROXY`` name proxies, ``NO_PROXY`` the hosts that are
reached past them, each name in either case. httpx, Prefect's client and child processes read them.
"""

import os
from typing import TYPE_CHECKING, Any

from decaf.errors import BadInput

if TYPE_CHECKING:
    import httpx

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EXCEPTIONS = ("NO_PROXY", "no_proxy")
EVERY_HOST = "*"
BRACKETED = "[::1]"
"""Form of ``::1`` in ``NO_PROXY`` that httpx 0.28 refuses."""


def bypass_proxies(*hosts: str) -> None:
    """Add hosts to ``NO_PROXY`` of this process and of its later children, loopback by default.

    Entries of the user stay. Without a variable of proxies nothing is added, since Python ignores
    the proxies that macOS and Windows set once there is one.
    """
    if not _proxy_variables():
        return
    listed = {name: os.environ[name] for name in EXCEPTIONS if name in os.environ}
    for name in EXCEPTIONS:
        text = listed.get(name, next(iter(listed.values()), ""))
        entries = [entry.strip() for entry in text.split(",")]
        if entries == [EVERY_HOST]:  # urllib knows it only where it stands alone
            continue
        usable = [entry for entry in entries if entry not in ("", BRACKETED)]
        os.environ[name] = ",".join(dict.fromkeys([*usable, *(hosts or LOOPBACK)]))


def open_client(**options: Any) -> "httpx.Client":
    """Open a client of httpx, which reaches loopback directly; ``options`` are its own.

    Raises BadInput where httpx cannot use the proxies of the environment.
    """
    import httpx

    bypass_proxies()
    try:
        return httpx.Client(**options)
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        names = _proxy_variables()
        if not names or not options.get("trust_env", True):
            raise
        raise BadInput(
            f"httpx cannot use the proxies of the environment ({', '.join(names)}): {error}; "
            "expected addresses of http://, https://, socks5:// or socks5h:// proxies and, in "
            "NO_PROXY, hosts: correct or unset the variable"
        ) from error


def _proxy_variables() -> list[str]:
    """Names of the variables that set proxies, or hosts to reach without a proxy, sorted."""
    return sorted(name for name, text in os.environ.items() if _is_of_proxies(name) and text)


def _is_of_proxies(name: str) -> bool:
    return name.lower().endswith("_proxy")
