"""A folder of checkpoints with model cards."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from decaf.errors import BadInput, RegistryError
from decaf.foundation.digests import folder_sha256
from decaf.foundation.files import refusals_as
from decaf.foundation.settings import PlacedPath
from decaf.foundation.yaml_source import plain_mapping
from decaf.registry.entries import (
    CARD_FILE,
    LATEST,
    CardRegistry,
    Described,
    Entry,
    Fetched,
    version_order,
)

ALIASES_FILE = "aliases.yaml"
UNKNOWN = "unknown"
"""Version of what cannot be read."""


class Folder(CardRegistry):
    """A folder with one folder per model: `decaf.yaml` and its files, or one folder per version."""

    kind: Literal["folder"]
    root: PlacedPath = Field(
        description="the folder. `root/NAME/decaf.yaml` is a model, `root/NAME/VERSION/decaf.yaml` "
        "a version of one; `root/NAME/aliases.yaml` maps aliases to versions"
    )

    def entries(self) -> list[Entry]:
        """Entries in the order of names; a digest is that of all files in the entry's folder."""
        remedy = "correct 'root:', or put the folder there"
        with refusals_as(RegistryError, f"registry {self.root} cannot be read", remedy):
            folders = sorted(path for path in self.root.iterdir() if _is_shown(path))
        return [
            entry
            for folder in folders
            for followed in self.follow
            for entry in self._followed(folder, "" if followed == LATEST else followed)
        ]

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Read the card; files are used where they are."""
        return self.card_in(Path(entry.place), entry.name)

    def described(self, entry: Entry, workspace: Path) -> Described:
        """Where the entry is; a folder has no tags."""
        return Described(Path(entry.place), {})

    def _followed(self, folder: Path, alias: str) -> list[Entry]:
        """The entry under an alias, or the newest one; none where a model has no such alias."""
        name = os.fsencode(folder.name).decode(errors="backslashreplace")
        try:
            if name != folder.name:
                raise RegistryError(f"{name} is not UTF-8; give the folder another name")
            return list(_found(folder, alias))
        except BadInput as error:  # of this entry; the others go on
            return [Entry(name, UNKNOWN, "", name, alias, str(error))]


def _found(folder: Path, alias: str) -> Iterator[Entry]:
    with refusals_as(RegistryError, f"{folder} cannot be read", "make it readable"):
        versions = {path.name: path for path in folder.iterdir() if _is_shown(path)}
    if not versions or (folder / CARD_FILE).exists():
        # Without folders of versions there is one, which has no number and no alias.
        if not alias:
            digest = folder_sha256(folder, RegistryError)
            yield Entry(folder.name, digest[:12], digest, str(folder))
        return
    version = _aliases(folder).get(alias) if alias else max(versions, key=version_order)
    if version in versions:
        place = versions[version]
        yield Entry(folder.name, version, folder_sha256(place, RegistryError), str(place), alias)
    elif version is not None:
        known = ", ".join(sorted(versions, key=version_order))
        problem = f"{folder / ALIASES_FILE}: {alias} is version {version}; known: {known}"
        yield Entry(folder.name, version, "", str(folder), alias, problem)


def _is_shown(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _aliases(folder: Path) -> dict[str, str]:
    path = folder / ALIASES_FILE
    if not path.exists():
        return {}
    return {str(alias): str(version) for alias, version in plain_mapping(path).items()}
