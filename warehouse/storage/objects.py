"""Requests to an object store through obstore, and their failures as errors of the warehouse.

Every object is put whole: a reader sees the object before or the object after. A listing shows
every object whose put has ended, on S3 and stores like it.
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
"""Words of obstore when no connection is made, one breaks, or no answer comes in time."""
ROLE_SERVER = "169.254.169.254"
"""Server that gives a machine the credentials of its role; asked when there are no others."""
HINTS = {
    ROLE_SERVER: "no credentials in the environment; for S3, set AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY",
    **dict.fromkeys(MISSING_BUCKET, "make the bucket first, or correct its name"),
    "InvalidAccessKeyId": "check AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "check AWS_SECRET_ACCESS_KEY",
    "403 Forbidden": "check the credentials in the environment and what they may do",
    "401 Unauthorized": "check the credentials in the environment",
    "301 Moved": "give the bucket's region: s3://bucket/prefix?region=…",
    AWAY: "check the address and whether its server runs",
}
"""Remedies by a word of the store's answer; the first one counts."""
NO_HINT = "check the address, the credentials in the environment, and the server"

_first_process: int | None = None
"""Process that made the first request here: obstore's threads run in it alone."""


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
        """Put an object in place of the one that is there.

        Raises OutOfReach when the store does not take it; StoreAway when it does not answer.
        """
        with self._explained():
            obstore.put(self._store, key, content, max_concurrency=PARTS_AT_ONCE)

    def put_new(self, key: str, content: bytes) -> bool:
        """Put an object where there is none; False, and nothing happens, where there is one."""
        with self._explained():
            try:
                obstore.put(self._store, key, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
        return True

    def read(self, key: str) -> bytes:
        """Get an object.

        Raises FileNotFoundError where there is none.
        """
        with self._explained():
            return obstore.get(self._store, key).bytes().to_bytes()

    def read_part(self, key: str, start: int, byte_count: int) -> bytes:
        """Get bytes of an object from a place on; there must be so many.

        Raises FileNotFoundError where there is no object.
        """
        with self._explained():
            return obstore.get_range(self._store, key, start=start, length=byte_count).to_bytes()

    def exists(self, key: str) -> bool:
        """Ask whether there is an object."""
        with suppress(FileNotFoundError), self._explained():
            # A refusal of HEAD has no body, which would tell a missing bucket from a missing key.
            obstore.get(self._store, key)
            return True
        return False

    def entries(self, folder: str, suffixes: tuple[str, ...]) -> list[Entry]:
        """List objects, without the empty ones that stand for folders."""
        with self._explained():
            pages = list(obstore.list(self._store, folder or None, chunk_size=LISTED_AT_ONCE))
        return sorted(
            Entry(meta["path"], meta["size"], meta["last_modified"], meta["e_tag"])
            for page in pages
            for meta in page
            if meta["size"] and meta["path"].endswith(suffixes)
        )

    def delete(self, key: str) -> None:
        """Delete an object; one that is not there is fine."""
        with suppress(FileNotFoundError), self._explained():
            obstore.delete(self._store, key)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise every failure as an error of this warehouse, but for a missing object."""
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
    """Raise RuntimeError in a fork of a process that made requests: it would wait for ever."""
    global _first_process  # noqa: PLW0603
    if _first_process is None:
        _first_process = os.getpid()
    if _first_process != os.getpid():
        raise RuntimeError("this process was forked after requests to an object store; spawn it")
