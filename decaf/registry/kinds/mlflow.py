"""Registered models of an MLflow tracking server."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from decaf.errors import ConfigError
from decaf.foundation.addresses import Address
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.settings import LONGEST_WAIT
from decaf.foundation.yaml_source import plain_mapping
from decaf.registry.entries import (
    CARD_FILE,
    LATEST,
    CardRegistry,
    Entry,
    Fetched,
    texts_in,
    version_order,
)
from decaf.registry.mlflow_client import MlflowServer

READY = "READY"


class Mlflow(CardRegistry):
    """Registered models of an MLflow server; a version holds `decaf.yaml` and the files it names.

    Credentials come from `MLFLOW_TRACKING_TOKEN`, or `MLFLOW_TRACKING_USERNAME` and
    `MLFLOW_TRACKING_PASSWORD`.
    """

    kind: Literal["mlflow"]
    uri: Address = Field(description="address of the tracking server, as `http://host:5000`")
    names: tuple[str, ...] = Field(
        (), description="registered models that are followed; all of them if none is named"
    )
    timeout_seconds: float = Field(
        60.0, gt=0, le=LONGEST_WAIT, description="longest silence of the server, s"
    )

    def entries(self) -> list[Entry]:
        """Entries by name; a digest is that of the version and of its listed files.

        The files themselves are downloaded once a version is new, so their content cannot be part
        of it: MLflow never changes the files of a version.
        """
        with closing(MlflowServer(self.uri, self.timeout_seconds)) as server:
            models = {
                str(model["name"]): model
                for model in server.pages("registered-models/search", "registered_models")
            }
            versions: dict[str, dict[str, dict[str, Any]]] = {}
            for version in server.pages("model-versions/search", "model_versions"):
                versions.setdefault(str(version["name"]), {})[str(version["version"])] = version
            listed = []
            for name in sorted(self.names or models):
                if name not in models:
                    problem = f"MLflow at {self.uri} has no registered model {name!r}"
                    listed.append(Entry(name, "none", "", self.uri, problem=problem))
                    continue
                aliases = {
                    str(given["alias"]): str(given["version"])
                    for given in models[name].get("aliases", [])
                }
                listed += self._followed(server, name, versions.get(name, {}), aliases)
        return listed

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Download the card and the files that it names, unless they are here already."""
        folder = (workspace / "registry" / short(entry.digest)).absolute()
        if not folder.exists():
            arriving = folder.with_name(f"{folder.name}.tmp")
            shutil.rmtree(arriving, ignore_errors=True)
            with closing(MlflowServer(self.uri, self.timeout_seconds)) as server:
                self._download(server, entry, arriving)
            arriving.replace(folder)
        return self.card_in(folder)

    def _followed(
        self,
        server: MlflowServer,
        name: str,
        versions: dict[str, dict[str, Any]],
        aliases: dict[str, str],
    ) -> Iterator[Entry]:
        for followed in self.follow:
            alias = "" if followed == LATEST else followed
            version = aliases.get(alias) if alias else max(versions, key=version_order, default="")
            if not version:
                continue
            known = versions[version]
            if known.get("status", READY) != READY:
                problem = f"version {version} of {name} is {known['status']}, not {READY}"
                yield Entry(name, version, "", self.uri, alias, problem)
                continue
            place = server.artefacts_of(name, version)
            said = [name, version, known.get("creation_timestamp"), place, server.listed(place)]
            yield Entry(name, version, json_sha256(said), place, alias)

    def _download(self, server: MlflowServer, entry: Entry, folder: Path) -> None:
        if CARD_FILE not in server.listed(entry.place):
            raise ConfigError(
                f"version {entry.version} of {entry.name} has no card: expected {CARD_FILE} among "
                f"the files at {entry.place}; log it with the weights, as docs/reaudit.md says"
            )
        server.download(entry.place, CARD_FILE, folder / CARD_FILE)
        for name in _files_of(server, entry.place, plain_mapping(folder / CARD_FILE)):
            server.download(entry.place, name, folder / name)


def _files_of(server: MlflowServer, place: str, card: dict[str, Any]) -> list[str]:
    """Artefacts that a card names: nothing else is downloaded, least of all a pickle."""
    words = set(texts_in(card))
    found, folders = [], [""]
    while folders:
        folder = folders.pop()
        for name, size in server.listed(place, folder).items():
            path = f"{folder}/{name}" if folder else name
            if size is None and any(word.startswith(f"{path}/") for word in words):
                folders.append(path)
            elif size is not None and path in words and path != CARD_FILE:
                found.append(path)
    return found
