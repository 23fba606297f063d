"""Send requests to an object store through obstore, and raise its failures as decaf's errors.

Every object is put whole: a reader sees the old or the new object. On S3 and similar stores, a
listing shows every object whose put has ended.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError

from decaf.errors import OutOfReach, StoreAway
from warehouse.storage.base import Entry

LISTED_AT_ONCE = 1000
PARTS_AT_ONCE = 4
"""Parts of one large object that are put at once."""
CODE = re.compile(r"<Code>(\w+)</Code>")
RETRY_SETTINGS = re.compile(r", max_retries: .*?  - ")
MISSING_BUCKET = ("NoSuchBucket", "ContainerNotFound")
AWAY = "HTTP error"
"""Text of obstore's error when a connection fails, breaks or times out."""
ROLE_SERVER = "169.254.169.254"
"""Server that sends a machine the credentials of its role; used if there are no others."""
HINTS = {
    ROLE_SERVER: "no credentials in the environment; for S3, set AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY",
    **dict.fromkeys(MISSING_BUCKET, "make the bucket first, or correct its name"),
    "InvalidAccessKeyId": "check AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "check AWS_SECRET_ACCESS_KEY",
    "403 Forbidden": "check the credentials in the environment and their permissions",
    "401 Unauthorized": "check the credentials in the environment",
    "301 Moved": "give the bucket's region: s3://bucket/prefix?region=…",
    AWAY: "check the address and whether its server runs",
}
"""Remedies by a word in the store's answer; the first match counts."""
NO_HINT = "check the address, the credentials in the environment, and the server"

_first_process: int | None = None
"""Process that made the first request: obstore's threads run only in this process."""


class Objects:
    """Objects of a store of obstore, by key.

    Parameters
    ----------
    url
        Address for messages.
    store
        Store whose keys are relative to the root of the warehouse.
    """

    def __init__(self, url: str, store: obstore.store.ObjectStore) -> None:
        self.address = url
        self._store = store

    def put(self, key: str, content: bytes) -> None:
        """Put an object, which replaces an existing one.

        Raises OutOfReach when the store refuses it; StoreAway when the store does not answer.
        """
        with self._raise_store_errors():
            obstore.put(self._store, key, content, max_concurrency=PARTS_AT_ONCE)

    def put_new(self, key: str, content: bytes) -> bool:
        """Put an object if there is none; returns False if there is one."""
        with self._raise_store_errors():
            try:
                obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def read(self, key: str) -> bytes:
        """Get an object.

        Raises FileNotFoundError if there is none.
        """
        with self._raise_store_errors():
            return obstore.get(self._store, key).bytes().to_bytes()

    def read_part(self, key: str, start: int, byte_count: int) -> bytes:
        """Get ``byte_count`` bytes of an object from ``start`` on; the object must be long enough.

        Raises FileNotFoundError if there is no object.
        """
        with self._raise_store_errors():
            return obstore.get_range(self._store, key, start=start, length=byte_count).to_bytes()

    def exists(self, key: str) -> bool:
        """True if there is an object."""
        with suppress(FileNotFoundError), self._raise_store_errors():
            # An answer to HEAD has no body, so a missing bucket would look like a missing key.
            obstore.get(self._store, key)
            return True
        return False

    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """List objects, except empty ones, which stand for folders."""
        with self._raise_store_errors():
            pages = list(obstore.list(self._store, folder or None, chunk_size=LISTED_AT_ONCE))
        return sorted(
            Entry(meta["path"], meta["size"], meta["last_modified"], meta["e_tag"])
            for page in pages
            for meta in page
            if meta["size"] and meta["path"].endswith(suffixes)
        )

    def delete(self, key: str) -> None:
        """Delete an object if it exists."""
        with suppress(FileNotFoundError), self._raise_store_errors():
            obstore.delete(self._store, key)

    @contextmanager
    def _raise_store_errors(self) -> Iterator[None]:
        """Raise failures inside the block as OutOfReach or StoreAway, except a missing object."""
        _require_threads()
        try:
            yield
        except (BaseError, OSError, NotImplementedError) as error:
            text = str(error)
            is_missing = isinstance(error, FileNotFoundError)
            if is_missing and not any(word in text for word in MISSING_BUCKET):
                raise
            hint = next((hint for word, hint in HINTS.items() if word in text), NO_HINT)
            is_away = AWAY in text and ROLE_SERVER not in text
            kind = StoreAway if is_away else OutOfReach
            raise kind(f"warehouse {self.address}: {_summary(text)}; {hint}") from error


def _summary(text: str) -> str:
    """First line of an error of obstore, and the code in the answer of the store."""
    line = text.partition("\n\nDebug source")[0].partition("<?xml")[0].strip(" :\n")
    line = RETRY_SETTINGS.sub(": ", line)
    code = CODE.search(text)
    return f"{line} ({code[1]})" if code else line


def _require_threads() -> None:
    """Raise RuntimeError in a fork of a process that made requests, where requests would hang."""
    global _first_process  # noqa: PLW0603
    if _first_process is None:
        _first_process = os.getpid()
    if _first_process != os.getpid():
        raise RuntimeError("this process was forked after requests to an object store; spawn it")
