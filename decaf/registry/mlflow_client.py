"""Ask an MLflow tracking server, over its REST interface, for registered models and artefacts.

MLflow's own package is not needed: what is read here are six requests of its documented interface.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import httpx

from decaf.errors import RegistryError
from decaf.foundation.files import open_file, refusals_as

API = "/api/2.0/mlflow"
ARTEFACTS = "/api/2.0/mlflow-artifacts/artifacts"
PAGE = 200
REFUSED = (401, 403)
UNREADABLE = "mount the folder of the server's artefacts here, or let the server hand them out"
TOKEN, USER, PASSWORD = (
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_TRACKING_USERNAME",
    "MLFLOW_TRACKING_PASSWORD",
)
"""Where MLflow itself looks for credentials."""


class MlflowServer:
    """One tracking server; credentials come from MLflow's own environment variables."""

    def __init__(self, uri: str, timeout_seconds: float) -> None:
        self._uri = uri.rstrip("/")
        token, user = os.environ.get(TOKEN), os.environ.get(USER)
        self._client = httpx.Client(
            timeout=timeout_seconds,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            auth=(user, os.environ.get(PASSWORD, "")) if user and not token else None,
        )

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def pages(self, what: str, key: str) -> Iterator[dict[str, Any]]:
        """All items of a search, as of ``registered-models/search`` the ``registered_models``."""
        token = ""
        while True:
            asked = {"max_results": PAGE} | ({"page_token": token} if token else {})
            answer = self._json(f"{API}/{what}", asked)
            yield from answer.get(key, [])
            if not (token := answer.get("next_page_token", "")):
                return

    def artefacts_of(self, name: str, version: str) -> str:
        """Address of the files of a version, as ``mlflow-artifacts:/1/ab/artifacts/model``."""
        asked = {"name": name, "version": version}
        return self._json(f"{API}/model-versions/get-download-uri", asked)["artifact_uri"]

    def listed(self, artefacts: str, folder: str = "") -> dict[str, int | None]:
        """Names in a folder of artefacts with their sizes in bytes; None is a folder.

        Raises RegistryError when the server does not hand out these artefacts, or names one that is
        no name.
        """
        if (local := _local(artefacts)) is not None:
            place = local / folder
            with refusals_as(RegistryError, f"{place} cannot be read", UNREADABLE):
                return {
                    path.name: None if path.is_dir() else path.stat().st_size
                    for path in sorted(place.iterdir())
                }
        path = str(PurePosixPath(self._path(artefacts)) / folder)
        files = self._json(ARTEFACTS, {"path": path}).get("files", [])
        found = {}
        for file in files:
            name = PurePosixPath(str(file["path"])).name
            if name in ("", "..") or str(file["path"]).startswith(("/", "..")):
                raise RegistryError(f"{self._uri} lists {file['path']!r}, which is no name")
            found[name] = None if file.get("is_dir") else int(file.get("file_size") or 0)
        return found

    def download(self, artefacts: str, name: str, target: Path) -> None:
        """Write one artefact to a file.

        Raises RegistryError when it is not there, or the connection breaks.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        if (local := _local(artefacts)) is not None:
            refused = refusals_as(RegistryError, f"{local / name} cannot be read", UNREADABLE)
            with refused, open_file(local / name) as file, target.open("wb") as copy:
                shutil.copyfileobj(file, copy)
            return
        path = f"{self._uri}{ARTEFACTS}/{quote(self._path(artefacts))}/{quote(name)}"
        try:
            with self._client.stream("GET", path) as answer, target.open("wb") as file:
                self._check(answer, path)
                for part in answer.iter_bytes():
                    file.write(part)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error

    def _json(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._client.get(self._uri + path, params=asked)
            self._check(answer, path)
            given = answer.json()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        except ValueError as error:
            raise RegistryError(
                f"{self._uri}{path} does not answer with JSON; expected an MLflow tracking "
                "server: correct 'uri:'"
            ) from error
        if not isinstance(given, dict):
            raise RegistryError(f"{self._uri}{path} answers with something else than MLflow does")
        return given

    def _check(self, answer: httpx.Response, path: str) -> None:
        if answer.status_code in REFUSED:
            raise RegistryError(
                f"MLflow at {self._uri} refuses the credentials (status {answer.status_code}); "
                f"set {TOKEN}, or {USER} and {PASSWORD}"
            )
        if answer.status_code != httpx.codes.OK:
            raise RegistryError(
                f"MLflow at {self._uri} answers {path} with status {answer.status_code}; check "
                "'uri:' and the server's log"
            )

    def _unreachable(self, error: httpx.HTTPError) -> RegistryError:
        return RegistryError(
            f"MLflow at {self._uri} cannot be reached: {type(error).__name__}; start the server, "
            "or correct 'uri:'"
        )

    def _path(self, artefacts: str) -> str:
        parts = urlsplit(artefacts)
        if parts.scheme != "mlflow-artifacts":
            raise RegistryError(
                f"artefacts lie at {artefacts}, which only MLflow's client can open; let the "
                "server hand them out (mlflow server --artifacts-destination)"
            )
        return unquote(parts.path).lstrip("/")


def _local(artefacts: str) -> Path | None:
    """Folder on this machine that an address means, if it means one."""
    parts = urlsplit(artefacts)
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None
