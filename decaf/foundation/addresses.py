"""Addresses that a configuration may hold: they are stored and shown, so no secret is in them."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

from decaf.foundation.settings import fault


def without_credentials(url: str) -> str:
    """Return an ``http://`` or ``https://`` address; refuse others and those with a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise fault("expected an http:// or https:// address")
    _ = parts.port  # ValueError, which pydantic reports, when it is no number
    if parts.username or parts.password:
        raise fault(
            "decaf stores and shows an address: put credentials into 'headers', or the environment"
        )
    return url


Address = Annotated[str, AfterValidator(without_credentials)]
