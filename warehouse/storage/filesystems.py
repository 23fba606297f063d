"""Filesystems behind the URLs of warehouses: Arrow's own for S3, those of fsspec for the rest."""

from datetime import datetime
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

import fsspec
import pyarrow.fs as arrow

from decaf.errors import OutOfReach, WarehouseError, suggestion

CONNECT_SECONDS, REQUEST_SECONDS, ATTEMPTS = 5, 20, 3
"""A server that is away is known to be so within a quarter of a minute."""
S3_PARAMETERS = ("endpoint_override", "region", "scheme")
EXAMPLE = "s3://bucket/prefix?region=eu-central-1"
MOMENTS = ("mtime", "LastModified", "last_modified", "created")
"""What the filesystems of fsspec call the moment of an object's last change."""


class _Handler(arrow.FSSpecHandler):
    """A filesystem of fsspec that says when its objects were changed, as far as it knows."""

    @staticmethod
    def _create_file_info(path: str, info: dict[str, Any]) -> arrow.FileInfo:
        known = (info.get(name) for name in MOMENTS)
        # Arrow takes a date or seconds since 1970, and some of them are text.
        moment = next((moment for moment in known if isinstance(moment, datetime | float)), None)
        return arrow.FSSpecHandler._create_file_info(path, {**info, "mtime": moment})


def reach(url: str) -> tuple[arrow.FileSystem, str, str | None]:
    """Filesystem of an URL, the path of the root in it, and its bucket where one must be there.

    Asks no server.

    Raises WarehouseError when the URL cannot be used: credentials in it, unknown parts, a missing
    package.
    """
    parts = urlsplit(url)
    # abfs has its container in the place of a user, and no password there.
    if parts.password is not None or (parts.scheme == "s3" and parts.username is not None):
        raise WarehouseError(
            f"the warehouse URL {parts.scheme}://…@{parts.hostname or ''}{parts.path} has "
            "credentials in it, which would end in logs; put them into the environment "
            "(for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        )
    if parts.fragment or not (parts.netloc or parts.path.strip("/")):
        raise WarehouseError(f"{url} does not name a place; expected for example {EXAMPLE}")
    return _s3(parts) if parts.scheme == "s3" else _fsspec(url)


def _s3(parts: SplitResult) -> tuple[arrow.FileSystem, str, str | None]:
    options = dict(parse_qsl(parts.query))
    for name in options:
        if name not in S3_PARAMETERS:
            # Never the value: people put secrets there.
            raise WarehouseError(
                f"unknown parameter {name!r} in a warehouse URL s3://{parts.netloc}{parts.path}"
                f"{suggestion(name, S3_PARAMETERS)}"
            )
    if not parts.netloc:
        raise WarehouseError(f"s3:// without a bucket; expected for example {EXAMPLE}")
    filesystem = arrow.S3FileSystem(
        **options,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=REQUEST_SECONDS,
        retry_strategy=arrow.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS),
        # A small object is one request then, and no half-made upload is left behind.
        allow_delayed_open=True,
    )
    return filesystem, f"{parts.netloc}{parts.path}".rstrip("/"), parts.netloc


def _fsspec(url: str) -> tuple[arrow.FileSystem, str, str | None]:
    protocol = url.split("://")[0]
    if protocol not in (known := {"s3", *fsspec.available_protocols()}):
        raise WarehouseError(f"unknown protocol {protocol!r} of {url}{suggestion(protocol, known)}")
    try:
        filesystem, path = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise WarehouseError(
            f"{url} needs a package that is not installed here: {error}; or use another warehouse"
        ) from error
    except Exception as error:  # noqa: BLE001 - every package of fsspec raises its own types
        raise OutOfReach(f"{url} cannot be opened ({type(error).__name__}: {error})") from error
    return arrow.PyFileSystem(_Handler(filesystem)), path.rstrip("/"), None
