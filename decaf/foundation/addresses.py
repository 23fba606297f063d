"""Addresses that a configuration may hold: they are stored and shown, so no secret is in them."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError


def without_credentials(url: str) -> str:
    """Return an ``http://`` or ``https://`` address; refuse others and those with a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PydanticCustomError("url", "expected an http:// or https:// address")
    _ = parts.port  # ValueError, which pydantic reports, when it is no number
    if parts.username or parts.password:
        raise PydanticCustomError(
            "url",
            "an address is stored and shown: put credentials into 'headers', or the environment",
        )
    return url


Address = Annotated[str, AfterValidator(without_credentials)]
