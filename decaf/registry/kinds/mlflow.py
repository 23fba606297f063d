"""Registered models of an MLflow tracking server."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast

from pydantic import Field

from decaf.errors import ConfigError, abridge
from decaf.foundation.addresses import Address
from decaf.foundation.digests import json_sha256, short
from decaf.foundation.settings import LONGEST_WAIT
from decaf.foundation.yaml_source import plain_mapping
from decaf.models.mlflow_model import MLMODEL
from decaf.registry.entries import (
    CARD_FILE,
    LATEST,
    CardRegistry,
    Described,
    Entry,
    Fetched,
    VersionResult,
    texts_in,
    version_order,
)
from decaf.registry.mlflow_client import READY, MlflowServer, ModelVersion, Unfit
from decaf.registry.write_back import WriteBack

FILE_KEYS = {"file", "weights"}
"""Keys of cards that name one file."""


class Mlflow(CardRegistry):
    """Registered models of an MLflow server; a version holds the files that its card names.

    The card is `decaf.yaml` among these files, or the configuration's own. Credentials come from
    `MLFLOW_TRACKING_TOKEN`, or `MLFLOW_TRACKING_USERNAME` and `MLFLOW_TRACKING_PASSWORD`.
    """

    kind: Literal["mlflow"]
    uri: Address = Field(description="address of the tracking server, as `http://host:5000`")
    names: tuple[str, ...] = Field((), description="registered models to follow; all by default")
    timeout_seconds: float = Field(
        60.0, gt=0, le=LONGEST_WAIT, description="longest silence of the server, s"
    )
    deadline_seconds: float = Field(
        600.0,
        gt=0,
        le=LONGEST_WAIT,
        description="longest time to list the models, or to download one file, plus a second for "
        "each MB of the file, s",
    )
    write_back: WriteBack | None = Field(
        None, description="write verdict, E, C and F to the server"
    )

    def entries(self) -> list[Entry]:
        """Entries by name; a digest is that of the version and of its listed files.

        The digest covers names and sizes, not content, because files are downloaded only for new
        versions: MLflow never changes the files of a version.
        """
        with closing(self._server()) as server:
            models = {model.name: model for model in server.models()}
            versions: dict[str, dict[str, ModelVersion]] = {}
            for version in server.versions():
                versions.setdefault(version.name, {})[version.version] = version
            entries = []
            for name in sorted(self.names or models):
                if name not in models:
                    problem = f"MLflow at {self.uri} has no registered model {name!r}"
                    entries.append(Entry(name, "none", "", self.uri, problem=problem))
                    continue
                aliases = {alias.alias: alias.version for alias in models[name].aliases}
                entries += self._entries_of_model(server, name, versions.get(name, {}), aliases)
        return entries

    def version_of(self, name: str, version: str) -> Entry | None:
        """Entry of a version, or the reason why it cannot be audited."""
        with closing(self._server()) as server:
            versions = {
                listed.version: listed for listed in server.versions() if listed.name == name
            }
            if version not in versions:
                return None
            digest, place, problem = "", self.uri, ""
            try:
                digest, place = self._digest_and_place(server, name, version, versions)
            except Unfit as unfit:
                problem = str(unfit)
            return Entry(name, version, digest, place, version, problem, is_followed=False)

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Download the card and the files that it names, unless they are here already."""
        folder = (workspace / "registry" / short(entry.digest)).absolute()
        if not folder.exists():
            arriving = folder.with_name(f"{folder.name}.tmp")
            shutil.rmtree(arriving, ignore_errors=True)
            arriving.mkdir(parents=True)
            with closing(self._server()) as server:
                self._download(server, entry, arriving)
            arriving.replace(folder)
        return self.card_in(folder, entry.name)

    def describe_entry(self, entry: Entry, workspace: Path) -> Described:
        """Download the `MLmodel` of an entry, and ask for its tags."""
        folder = (workspace / "registry" / f"{short(entry.digest)}.described").absolute()
        folder.mkdir(parents=True, exist_ok=True)
        with closing(self._server()) as server:
            if (size := server.list_files(entry.place).get(MLMODEL)) is not None:
                server.download(entry.place, MLMODEL, size, folder / MLMODEL)
            return Described(folder, server.tags(entry.name, entry.version))

    @property
    def keeps_results(self) -> bool:
        """True if the configuration has a `write_back:`."""
        return self.write_back is not None

    def keep(self, reaudit_id: str, report: str, results: Sequence[VersionResult]) -> None:
        """Write tags of versions that exist, and a run of metrics for each."""
        with closing(self._server()) as server:
            existing = _select_existing(server, results)
            cast("WriteBack", self.write_back).write(server, reaudit_id, report, existing)

    def keep_answers(self, results: Sequence[VersionResult]) -> None:
        """Write the tags of verdicts, and of who accepted them."""
        with closing(self._server()) as server:
            existing = _select_existing(server, results)
            cast("WriteBack", self.write_back).write_answers(server, existing)

    def _server(self) -> MlflowServer:
        return MlflowServer(self.uri, self.timeout_seconds, self.deadline_seconds)

    def _entries_of_model(
        self,
        server: MlflowServer,
        name: str,
        versions: dict[str, ModelVersion],
        aliases: dict[str, str],
    ) -> Iterator[Entry]:
        for followed in self.follow:
            alias = "" if followed == LATEST else followed
            version = aliases.get(alias) if alias else max(versions, key=version_order, default="")
            if not version:
                continue
            try:
                digest, place = self._digest_and_place(server, name, version, versions)
                yield Entry(name, version, digest, place, alias)
            except Unfit as problem:
                yield Entry(name, version, "", self.uri, alias, str(problem))

    def _digest_and_place(
        self, server: MlflowServer, name: str, version: str, versions: dict[str, ModelVersion]
    ) -> tuple[str, str]:
        """Digest and place of a version; raises Unfit if it cannot be audited."""
        listed_version = versions.get(version)
        if listed_version is None:
            raise Unfit(
                f"MLflow at {self.uri} has no version {version!r} of {name}; it lists "
                f"{abridge(sorted(versions, key=version_order)) or 'none'}: set the alias again"
            )
        if listed_version.status != READY:
            raise Unfit(f"version {version} of {name} is {listed_version.status}, not {READY}")
        place = server.artefacts_of(name, version)
        parts = [name, version, listed_version.creation_timestamp, place, server.list_files(place)]
        return json_sha256(parts), place

    def _download(self, server: MlflowServer, entry: Entry, folder: Path) -> None:
        card = self.cards.get(entry.name)
        if card is None:
            size = server.list_files(entry.place).get(CARD_FILE)
            if size is None:
                raise ConfigError(
                    f"version {entry.version} of {entry.name} has no card: expected {CARD_FILE} "
                    f"among the files at {entry.place}, or a card under 'cards:' of the registry: "
                    f"decaf card {entry.label} -c CONFIG proposes one"
                )
            server.download(entry.place, CARD_FILE, size, folder / CARD_FILE)
            card = plain_mapping(folder / CARD_FILE, "settings")
        sizes = _files_of(server, entry.place, card)
        for key in FILE_KEYS & card.keys():
            if isinstance(card[key], str) and card[key] not in sizes:
                names = abridge(sorted(server.list_files(entry.place)))
                raise ConfigError(
                    f"version {entry.version} of {entry.name} has no {card[key]}, which '{key}' of "
                    f"its card names; it has {names or 'no file'}: correct the card"
                )
        for name, size in sizes.items():
            server.download(entry.place, name, size, folder / name)


def _select_existing(server: MlflowServer, results: Sequence[VersionResult]) -> list[VersionResult]:
    """Select results of versions that the server has: an alias may name another one."""
    versions = {(listed.name, listed.version) for listed in server.versions()} if results else ()
    return [result for result in results if (result.name, result.version) in versions]


def _files_of(server: MlflowServer, place: str, card: dict[str, Any]) -> dict[str, int]:
    """Artefacts that a card names, and their bytes: nothing else is downloaded, least a pickle.

    A folder that it names, as `.`, means everything in it.
    """
    words = set(texts_in(card))
    sizes, folders = {}, [""]
    while folders:
        folder = folders.pop()
        for name, size in server.list_files(place, folder).items():
            path = PurePosixPath(folder, name)
            is_named = not words.isdisjoint(map(str, (path, *path.parents)))
            if size is None:
                if is_named or any(word.startswith(f"{path}/") for word in words):
                    folders.append(str(path))
            elif is_named and str(path) != CARD_FILE:
                sizes[str(path)] = size
    return sizes
