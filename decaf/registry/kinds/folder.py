"""A folder of checkpoints with model cards."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from decaf.errors import BadInput, RegistryError, abridge
from decaf.foundation.digests import folder_sha256
from decaf.foundation.files import convert_os_errors
from decaf.foundation.names import printable
from decaf.foundation.settings import PlacedPath
from decaf.foundation.yaml_source import plain_mapping
from decaf.registry.entries import (
    CARD_FILE,
    LATEST,
    CardRegistry,
    Described,
    Entry,
    Fetched,
    group_by_prefix,
    version_order,
)

ALIASES_FILE = "aliases.yaml"
UNFINISHED_SECONDS = 600
"""Time since the last change after which an incomplete version is an error, s."""
UNKNOWN = "unknown"
"""Version of an entry that cannot be read."""


class Folder(CardRegistry):
    """A folder with one folder per model: `decaf.yaml` and its files, or one folder per version."""

    kind: Literal["folder"]
    root: PlacedPath = Field(
        description="folder of models: `root/NAME/decaf.yaml` is a model, "
        "`root/NAME/VERSION/decaf.yaml` a version of one; `root/NAME/aliases.yaml` maps aliases "
        "to versions"
    )

    def entries(self) -> list[Entry]:
        """Entries in the order of names; a digest is that of all files in the entry's folder."""
        return [
            entry
            for folder in self._folders()
            for followed in self.follow
            for entry in self._entries_of_alias(folder, "" if followed == LATEST else followed)
        ]

    def list_unfinished(self) -> list[tuple[str, str]]:
        """Incomplete newer versions in whose folders something changed a few minutes ago."""
        places: list[Path] = []
        for folder in self._folders() if LATEST in self.follow else ():
            try:
                versions = _versions(folder)
                newer = [versions[version] for version in self._incomplete(versions)]
                places += filter(_is_recent, newer)
            except RegistryError:  # entries() has an entry with this problem
                continue
        return [
            (
                place.parent.name,
                f"{printable(str(place))} is not audited: {self._lacking(place)}, and it changed "
                f"in the last {UNFINISHED_SECONDS // 60} minutes, so it counts as being copied; "
                "audit again once it is complete",
            )
            for place in places
        ]

    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Read the card; files are used where they are."""
        return self.card_in(Path(entry.place), entry.name)

    def version_of(self, name: str, version: str) -> Entry | None:
        """Entry of a version, with the number as its alias; None if it has no folder."""
        place = self.root / name / version
        if not _is_shown(self.root / name) or place not in _versions(self.root / name).values():
            return None
        digest = folder_sha256(place, RegistryError)
        return Entry(name, version, digest, str(place), version, is_followed=False)

    def describe_entry(self, entry: Entry, workspace: Path) -> Described:
        """Description with the entry's folder; a folder has no tags."""
        return Described(Path(entry.place), {})

    def _folders(self) -> list[Path]:
        """Folders of models, sorted."""
        remedy = "correct 'root:', or put the folder there"
        with convert_os_errors(RegistryError, f"registry {self.root} cannot be read", remedy):
            return sorted(path for path in self.root.iterdir() if _is_shown(path))

    def _entries_of_alias(self, folder: Path, alias: str) -> list[Entry]:
        """The entry under an alias, or the newest one; none where a model has no such alias."""
        name = os.fsencode(folder.name).decode(errors="backslashreplace")
        try:
            if name != folder.name:
                raise RegistryError(f"{name} is not UTF-8; give the folder another name")
            return list(self._resolve_alias(folder, alias))
        except BadInput as error:  # concerns only this entry
            return [Entry(name, UNKNOWN, "", name, alias, str(error))]

    def _resolve_alias(self, folder: Path, alias: str) -> Iterator[Entry]:
        versions = _versions(folder)
        if not versions:
            # A model without version folders has a single version, without number and alias.
            if not alias:
                digest = folder_sha256(folder, RegistryError)
                yield Entry(folder.name, digest[:12], digest, str(folder))
            return
        if alias:
            version = _aliases(folder).get(alias)
        else:
            version = self._latest(versions)
            yield from self._list_incomplete(folder.name, version, versions)
        if version in versions:
            place = versions[version]
            digest = folder_sha256(place, RegistryError)
            yield Entry(folder.name, version, digest, str(place), alias)
        elif version is not None:
            known_versions = ", ".join(sorted(versions, key=version_order))
            problem = (
                f"{folder / ALIASES_FILE}: {alias} is version {version}; known: {known_versions}"
            )
            yield Entry(folder.name, version, "", str(folder), alias, problem)

    def _latest(self, versions: dict[str, Path]) -> str:
        """The newest version that is whole, or the newest of all where none is.

        Raises RegistryError if the names have no common order.
        """
        groups = group_by_prefix(versions)
        if len(groups) > 1:
            folder, names = versions[groups[0][0]].parent, " or ".join(map(abridge, groups))
            raise RegistryError(
                f"{folder}: the latest version can be {names}; expected the same text before the "
                "first number of each name; rename versions alike, or hide other folders "
                f"with a leading dot, such as .{groups[-1][0]}"
            )
        newest_first = sorted(versions, key=version_order, reverse=True)
        whole = (version for version in newest_first if not self._lacking(versions[version]))
        return next(whole, newest_first[0])

    def _incomplete(self, versions: dict[str, Path]) -> list[str]:
        """Versions newer than the latest whole one, in their order."""
        if not versions:
            return []
        latest = version_order(self._latest(versions))
        newer = (version for version in versions if version_order(version) > latest)
        return sorted(newer, key=version_order)

    def _list_incomplete(
        self, name: str, latest: str, versions: dict[str, Path]
    ) -> Iterator[Entry]:
        """Entries of incomplete versions newer than the latest whole one, with their problems.

        Versions that are still being copied have none; see :meth:`list_unfinished`.
        """
        for version in self._incomplete(versions):
            place = versions[version]
            if version in self.follow or _is_recent(place):
                continue
            problem = (
                f"{place} is not audited, and version {latest} counts as the latest of {name}: "
                f"{self._lacking(place)}; complete or delete it (copy a version to .{version}, and "
                "rename it once it is whole)"
            )
            yield Entry(name, version, "", str(place), version, problem)

    def _lacking(self, place: Path) -> str:
        """Clause that states what an incomplete version lacks; empty if it is complete."""
        file, card = place / CARD_FILE, self.cards.get(place.parent.name)
        try:
            if card is None and file.exists():
                card = plain_mapping(file, "settings")
        except BadInput:  # the card exists, and the audit reports its fault
            return ""
        if card is None:
            return f"it has no {CARD_FILE}"
        named = (card.get(key) for key in ("weights", "file"))
        absent = [
            file_name
            for file_name in named
            if isinstance(file_name, str) and not (place / file_name).exists()
        ]
        return f"its card names {absent[0]}, which is not there" if absent else ""


def _versions(folder: Path) -> dict[str, Path]:
    """Folders of versions by their names; none where the folder is a model itself."""
    with convert_os_errors(RegistryError, f"{folder} cannot be read", "make it readable"):
        versions = {path.name: path for path in folder.iterdir() if _is_shown(path)}
    return {} if (folder / CARD_FILE).exists() else versions


def _is_recent(place: Path) -> bool:
    """True if a file or folder was made, changed or renamed there a few minutes ago.

    Copies may preserve the time of a change, but not that of the inode.
    """
    remedy = "make it readable"
    with convert_os_errors(RegistryError, f"{place} cannot be read", remedy):
        latest = max(path.lstat().st_ctime for path in (place, *place.rglob("*")))
    return time.time() - latest < UNFINISHED_SECONDS


def _is_shown(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _aliases(folder: Path) -> dict[str, str]:
    path = folder / ALIASES_FILE
    if not path.exists():
        return {}
    return {str(alias): str(version) for alias, version in plain_mapping(path, "names").items()}
