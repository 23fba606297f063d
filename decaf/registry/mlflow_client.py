"""Ask an MLflow tracking server, over its REST interface, for registered models and artefacts.

MLflow's package is not needed: this module makes a few requests of the documented interface.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from decaf.errors import RegistryError
from decaf.foundation.calls import SUCCESS, Answer, Caller, NoAnswer
from decaf.foundation.files import convert_os_errors, open_file
from decaf.foundation.retries import last_answer

API = "/api/2.0/mlflow"
ARTEFACTS = "/api/2.0/mlflow-artifacts/artifacts"
PAGE = 200
SLOWEST_BYTES_PER_SECOND = 1e6
"""Lowest rate at which a file may arrive, besides the time for an answer."""
SHOWN = 3
"""Wrong places of an answer that a message names."""
READY = "READY"
REFUSED = (401, 403)
UNREADABLE = "mount the folder of the server's artefacts here, or let the server hand them out"
TOKEN, USER, PASSWORD = (
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_TRACKING_USERNAME",
    "MLFLOW_TRACKING_PASSWORD",
)
"""Variables that MLflow reads credentials from."""


class Unfit(RegistryError):
    """The server's answer about one thing cannot be used; answers about other things may be."""


class AnswerFields(BaseModel):
    """Fields read from an answer, which may hold more."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class Alias(AnswerFields):
    """A name of one version of a model."""

    alias: str
    version: str


class RegisteredModel(AnswerFields):
    """A name under which versions are registered."""

    name: str
    aliases: list[Alias] = []


class Tag(AnswerFields):
    """A word that people or programs have put on something, and its meaning."""

    key: str
    value: str = ""


class ModelVersion(AnswerFields):
    """One version of a registered model; its moment is in ms."""

    name: str
    version: str
    status: str = READY
    creation_timestamp: int | str | None = None
    tags: list[Tag] = []


class RegisteredModels(AnswerFields):
    """A page of ``registered-models/search``."""

    items: list[RegisteredModel] = Field([], alias="registered_models")
    next_page_token: str | None = None


class ModelVersions(AnswerFields):
    """A page of ``model-versions/search``."""

    items: list[ModelVersion] = Field([], alias="model_versions")
    next_page_token: str | None = None


class OneVersion(AnswerFields):
    """Answer of ``model-versions/get``."""

    model_version: ModelVersion


class Artefact(AnswerFields):
    """A file or a folder, and the bytes of a file."""

    path: str
    is_dir: bool = False
    file_size: int | None = Field(None, ge=0)


class Artefacts(AnswerFields):
    """Content of a folder."""

    files: list[Artefact] = []


class Place(AnswerFields):
    """Place of a version's files, as ``mlflow-artifacts:/1/ab/artifacts/model``."""

    artifact_uri: str


Read = TypeVar("Read", bound=AnswerFields)


class MlflowServer:
    """One tracking server; credentials come from MLflow's own environment variables.

    ``silence_seconds`` limits the wait for each next byte, ``seconds`` all requests of this object
    together; each download has as many seconds of its own, and one more for each MB.
    """

    def __init__(self, uri: str, silence_seconds: float, seconds: float) -> None:
        self._uri = uri.rstrip("/")
        self._seconds, self._deadline = seconds, time.monotonic() + seconds
        token, user = os.environ.get(TOKEN), os.environ.get(USER)
        self._caller = Caller(
            silence_seconds,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            auth=(user, os.environ.get(PASSWORD, "")) if user and not token else None,
        )

    def close(self) -> None:
        """Close the client."""
        self._caller.close()

    def models(self) -> Iterator[RegisteredModel]:
        """All registered models."""
        return self._pages("registered-models/search", RegisteredModels)

    def versions(self) -> Iterator[ModelVersion]:
        """All versions of all registered models."""
        return self._pages("model-versions/search", ModelVersions)

    def artefacts_of(self, name: str, version: str) -> str:
        """Address of the files of a version, as ``mlflow-artifacts:/1/ab/artifacts/model``."""
        query = {"name": name, "version": version}
        return self._get(f"{API}/model-versions/get-download-uri", query, Place).artifact_uri

    def tags(self, name: str, version: str) -> dict[str, str]:
        """Tags of a version."""
        query = {"name": name, "version": version}
        version_answer = self._get(f"{API}/model-versions/get", query, OneVersion).model_version
        return {tag.key: tag.value for tag in version_answer.tags}

    def ask(
        self,
        what: str,
        kind: type[Read],
        asked: dict[str, Any],
        retries: int,
        backoff: float,
        method: str = "POST",
    ) -> Read:
        """Send a request that writes, finds or (DELETE) deletes; return the answer.

        Transient failures are retried up to ``retries`` times, after pauses that grow from
        ``backoff`` seconds.
        """

        def send_to(url: str, left: float) -> Answer:
            def send(seconds: float) -> Answer:
                return self._caller.call(method, url, seconds, json=asked)

            return last_answer(send, left, retries, backoff)

        return self._read(f"{API}/{what}", kind, send_to)

    def list_files(self, artefacts: str, folder: str = "") -> dict[str, int | None]:
        """Names in a folder of artefacts with their sizes in bytes; None is a folder.

        Raises Unfit when the server does not hand out these artefacts, or lists an invalid name.
        """
        if (local := _local(artefacts)) is not None:
            place = local / folder
            with convert_os_errors(Unfit, f"{place} cannot be read", UNREADABLE):
                return {
                    path.name: None if path.is_dir() else path.stat().st_size
                    for path in sorted(place.iterdir())
                }
        path = str(PurePosixPath(self._path(artefacts)) / folder)
        sizes = {}
        for file in self._get(ARTEFACTS, {"path": path}, Artefacts).files:
            name = PurePosixPath(file.path).name
            if name in ("", "..") or file.path.startswith(("/", "..")):
                raise Unfit(f"{self._uri} lists {file.path!r}, which is not a file name")
            sizes[name] = None if file.is_dir else file.file_size or 0
        return sizes

    def download(self, artefacts: str, name: str, size: int, target: Path) -> None:
        """Write one artefact, of as many bytes as are listed, to a file.

        Raises RegistryError when it is not there, the connection breaks or takes longer than the
        deadline plus a second per MB, or it is larger than listed, or than the room on the disk.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        if (local := _local(artefacts)) is not None:
            refused = convert_os_errors(RegistryError, f"{local / name} cannot be read", UNREADABLE)
            with refused, open_file(local / name) as file, target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            return
        free = shutil.disk_usage(target.parent).free
        if size > free:
            raise RegistryError(
                f"{self._uri} lists {name!r} with {size:,} bytes; {target.parent} has room for "
                f"{free:,}: make room, or remove that version"
            )
        path = f"{ARTEFACTS}/{quote(self._path(artefacts))}/{quote(name)}"
        seconds = self._seconds + size / SLOWEST_BYTES_PER_SECOND
        with target.open("wb") as file:
            # One byte where none is listed: zero would leave the answer unread.
            limits: dict[str, Any] = {"into": file, "most_bytes": max(size, 1)}
            self._answer(path, lambda url: self._caller.call("GET", url, seconds, **limits))

    def _pages(self, what: str, kind: Any) -> Iterator[Any]:
        token: str | None = ""
        while token is not None:
            query = {"max_results": PAGE} | ({"page_token": token} if token else {})
            page = self._get(f"{API}/{what}", query, kind)
            yield from page.items
            token = page.next_page_token or None

    def _get(self, path: str, asked: dict[str, Any], kind: type[Read]) -> Read:
        def get(url: str, left: float) -> Answer:
            return self._caller.call("GET", url, left, params=asked)

        return self._read(path, kind, get)

    def _read(self, path: str, kind: type[Read], call: Callable[[str, float], Answer]) -> Read:
        """Answer of a path to a call, within the remaining time."""
        answer = self._answer(path, lambda url: call(url, self._deadline - time.monotonic()))
        try:
            return kind.model_validate_json(answer.content)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(map(str, problem['loc'])) or 'all of it'}: {problem['msg']}"
                for problem in error.errors(include_url=False, include_input=False)[:SHOWN]
            )
            raise Unfit(
                f"{self._uri}{path} does not answer as MLflow does ({wrong}); correct 'uri:', or "
                "repair the server"
            ) from error

    def _answer(self, path: str, get: Callable[[str], Answer]) -> Answer:
        try:
            answer = get(self._uri + path)
        except NoAnswer as error:
            raise RegistryError(
                f"MLflow at {self._uri} gives no answer to {path}: {error}; start or repair the "
                "server, or correct 'uri:'"
            ) from error
        if answer.status in REFUSED:
            raise RegistryError(
                f"MLflow at {self._uri} refuses the credentials (status {answer.status}); "
                f"set {TOKEN}, or {USER} and {PASSWORD}"
            )
        if answer.status != SUCCESS:
            raise Unfit(
                f"MLflow at {self._uri} answers {path} with {answer.status_text}; check 'uri:' and "
                "the server's log"
            )
        return answer

    def _path(self, artefacts: str) -> str:
        parts = urlsplit(artefacts)
        if parts.scheme != "mlflow-artifacts":
            raise Unfit(
                f"artefacts are at {artefacts}, which only MLflow's client can open; let the "
                "server serve them (mlflow server --artifacts-destination)"
            )
        return unquote(parts.path).lstrip("/")


def _local(artefacts: str) -> Path | None:
    """Folder on this machine that an address means, if it means one."""
    parts = urlsplit(artefacts)
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None
