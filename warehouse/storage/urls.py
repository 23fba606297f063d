"""Open stores of obstore from the URLs of warehouses."""

import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from decaf.errors import OutOfReach, WarehouseError, suggestion
from decaf.foundation.extras import optional

if TYPE_CHECKING:
    from obstore.auth.boto3 import Boto3CredentialProvider
    from obstore.store import ObjectStore

PARAMETERS = {
    "s3": ("endpoint_override", "region", "scheme"),
    "gs": (),
    "az": (),
    "abfs": (),
    "abfss": (),
    "memory": (),
}
"""Allowed parameters of a URL, by protocol."""
EXAMPLE = "s3://bucket/prefix?region=eu-central-1"
CLIENT = {
    # Plain HTTP is used only for an endpoint with that scheme.
    "allow_http": True,
    "connect_timeout": timedelta(seconds=5),
    "read_timeout": timedelta(seconds=20),
    "timeout": timedelta(minutes=10),
}
RETRIES = {"max_retries": 2, "retry_timeout": timedelta(seconds=15)}
SHARED_FILES = {
    "AWS_SHARED_CREDENTIALS_FILE": "~/.aws/credentials",
    "AWS_CONFIG_FILE": "~/.aws/config",
}
"""Variables that name the shared files of AWS, with the default paths."""


def open_store(url: str) -> "ObjectStore":
    """Open the store of a URL without a request; keys are relative to the URL's path.

    Raises WarehouseError for a URL with an unknown protocol or parameter, or with credentials in
    it; MissingPackage without obstore; OutOfReach when a profile of AWS has no credentials.
    """
    parts = urlsplit(url)
    _check(url, parts)
    options = dict(parse_qsl(parts.query))
    with optional():
        from obstore import exceptions
        from obstore.store import MemoryStore, S3Store, from_url
    try:
        if parts.scheme == "memory":
            return MemoryStore()
        if parts.scheme == "s3":
            return S3Store(parts.netloc, prefix=parts.path.strip("/") or None, **_s3(options))
        return from_url(url, client_options=CLIENT, retry_config=RETRIES)
    except (exceptions.BaseError, ValueError) as error:
        raise WarehouseError(f"{url} cannot be opened: {error}") from error


def _check(url: str, parts: SplitResult) -> None:
    # abfs has its container in place of a user, without a password.
    if parts.password is not None or (parts.scheme == "s3" and parts.username is not None):
        raise WarehouseError(
            f"the warehouse URL {parts.scheme}://…@{parts.hostname or ''}{parts.path} contains "
            "credentials, which logs would show; put them into the environment (for S3: "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        )
    if parts.scheme not in PARAMETERS:
        hint = suggestion(parts.scheme, PARAMETERS)
        raise WarehouseError(f"unknown protocol {parts.scheme!r} of {url}{hint}")
    if parts.fragment or not parts.netloc:
        raise WarehouseError(f"{url} has no host or bucket, or has a fragment; expected {EXAMPLE}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options:
        if name not in PARAMETERS[parts.scheme]:
            # Without the value, which may be a secret.
            raise WarehouseError(
                f"unknown parameter {name!r} in a warehouse URL "
                f"{parts.scheme}://{parts.netloc}{parts.path}"
                f"{suggestion(name, PARAMETERS[parts.scheme])}"
            )
    if "scheme" in options and "endpoint_override" not in options:
        raise WarehouseError(f"{url} has 'scheme' without 'endpoint_override'; add it")


def _s3(options: dict[str, str]) -> dict[str, Any]:
    """Arguments of a store on S3; variables of AWS supply settings that the URL lacks."""
    config = {"region": options["region"]} if "region" in options else {}
    if host := options.get("endpoint_override"):
        config["endpoint"] = f"{options.get('scheme', 'https')}://{host}"
    arguments = {"config": config, "client_options": CLIENT, "retry_config": RETRIES}
    if provider := _profile_credentials():
        arguments["credential_provider"] = provider
    return arguments


def _profile_credentials() -> "Boto3CredentialProvider | None":
    """Credentials of a profile in AWS's shared files; None if the environment has keys.

    obstore itself reads variables and roles of machines; it reads shared files through boto3.
    """
    paths = (Path(os.environ.get(name, path)) for name, path in SHARED_FILES.items())
    has_profile = "AWS_PROFILE" in os.environ or any(p.expanduser().exists() for p in paths)
    if "AWS_ACCESS_KEY_ID" in os.environ or not has_profile:
        return None
    with optional():
        import botocore.exceptions
        from obstore.auth.boto3 import Boto3CredentialProvider
    try:
        return Boto3CredentialProvider()
    except (ValueError, botocore.exceptions.BotoCoreError) as error:
        raise OutOfReach(
            f"no credentials in the shared files of AWS: {error}; check AWS_PROFILE, or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        ) from error
