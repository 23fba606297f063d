"""Base class of registries: a registry lists entries, each a model in the form of ``models:``."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import Field

from decaf.errors import ConfigError, RegistryError, suggestion
from decaf.foundation.files import describe_link, is_inside
from decaf.foundation.place import Place
from decaf.foundation.settings import Settings, fault
from decaf.foundation.yaml_source import plain_mapping
from decaf.models.card import ModelCard

CARD_FILE = "decaf.yaml"
"""Name of the file with an entry's model card, where entries are folders of files."""
LATEST = "latest"
"""Name of the newest version of a model in ``follow:``."""

LAST_PASSED, PREVIOUS = "last_passed", "previous"
COMPARISONS = (LAST_PASSED, PREVIOUS)
"""Values of `compare_with:`, besides an alias."""


@dataclass(frozen=True)
class Entry:
    """One entry of a registry, listed without downloading files or opening a model."""

    name: str
    version: str
    digest: str
    """Digest of the listing; it changes whenever the entry may have changed."""
    place: str
    """Place in the registry, for messages and for :meth:`Registry.fetch`."""
    alias: str = ""
    """Alias under which the version was found, or its number if it is incomplete or ``--entry``
    names it; empty for the newest."""
    problem: str = ""
    """Why the entry cannot be audited, as far as the registry can tell."""
    is_followed: bool = True
    """False for a version that ``--entry`` names by its number."""

    @property
    def label(self) -> str:
        """Name of the entry across audits: ``name``, or ``name@alias``."""
        return f"{self.name}@{self.alias}" if self.alias else self.name


class Fetched(NamedTuple):
    """An entry with all its files on this machine."""

    model: ModelCard | dict[str, Any]
    """The model as an entry of ``models:``, without ``id``."""
    folder: Path | None = None
    """Folder that relative paths of the card start from and cannot leave; None for a card that the
    study's configuration has itself."""
    trusted: tuple[str, ...] | None = ()
    """Modules whose functions and types the card may name; None for a card under ``cards:`` of the
    configuration, which may name all."""


class Described(NamedTuple):
    """Description of an entry without a card."""

    folder: Path
    """With its `MLmodel`, if it has one."""
    tags: dict[str, str]


class Answer(NamedTuple):
    """Outcome of one version of an entry."""

    verdict: str = ""
    """Worst verdict of the version; `accepted` if a user accepted it; `not audited` if it could not
    be audited; empty without gates."""
    accepted: str = ""
    """For a failed or accepted version: who accepted it, when and why, or `no`."""
    failed_gates: str = ""
    """For a failed or accepted version: each failed gate with the value found and its limit."""


class VersionResult(NamedTuple):
    """Result of a re-audit of one version of an entry, for a registry that stores it."""

    name: str
    version: str
    answer: Answer
    values: dict[str, tuple[float, float | None, float | None]]
    """Means of M, E, C and F by column, with their 95 % interval; `evidence`, or
    `evidence.PATH.PAIR_TYPE` where several are audited."""


class Registry(Settings, ABC):
    """A registry of models; one settings class for each kind, found by its module."""

    place: ClassVar[Place] = Place("registry", room="decaf.registry.kinds", tag="kind")

    @abstractmethod
    def entries(self) -> list[Entry]:
        """List the followed entries, in a fixed order; imports no torch.

        Raises RegistryError when the registry cannot be reached, refuses, or lists something else.
        """

    @abstractmethod
    def fetch(self, entry: Entry, workspace: Path) -> Fetched:
        """Bring one entry to this machine; downloads go into the workspace of the study.

        Raises BadInput when the entry has no card, or has changed since it was listed.
        """

    def list_unfinished(self) -> list[tuple[str, str]]:
        """Remarks on new versions that are still being copied, each after the name of its model.

        :meth:`entries` leaves these versions out. A re-audit that finds some does not end with 0.
        """
        return []

    @property
    def keeps_results(self) -> bool:
        """True if decaf shall call :meth:`keep` and :meth:`keep_answers`."""
        return False

    def keep(self, reaudit_id: str, report: str, results: Sequence[VersionResult]) -> None:
        """Write back the results of a re-audit; repeated calls have the same effect.

        ``report`` is an address. Raises RegistryError when that cannot be done now.
        """

    def keep_answers(self, results: Sequence[VersionResult]) -> None:
        """Write back only the acceptances, for versions whose results were kept.

        Raises RegistryError when that cannot be done now.
        """


class CardRegistry(Registry, ABC):
    """A registry whose entries are folders of files, one of them the model card."""

    follow: tuple[str, ...] = Field(
        (LATEST,),
        min_length=1,
        description="versions that are audited: `latest` is the newest of every model, any other "
        "word is an alias, as `champion`; decaf skips a model without the alias",
    )
    trusted: tuple[str, ...] = Field(
        ("decaf.models.networks",),
        description="modules whose functions (`factory:`, `function:`) and types cards may name; "
        "decaf rejects cards that name others",
    )

    cards: dict[str, dict[str, Any]] = Field(
        {},
        description="model cards by the name of the entry, instead of its `decaf.yaml`: keys of an "
        "entry of `models:` without `id`, paths from the entry's own folder. `decaf card NAME` "
        "proposes one",
    )
    trust: tuple[str, ...] = Field(
        (),
        description="names of entries whose pickles decaf opens if their card has `unpickle: "
        "true`; a pickle can run any code with your rights",
    )

    def version_of(self, name: str, version: str) -> Entry | None:
        """Entry of a version, with the number as its alias; None if there is no such version.

        Raises RegistryError when the registry cannot be asked.
        """
        raise RegistryError(f"version {version!r} not found: this kind of registry has no versions")

    def describe_entry(self, entry: Entry, workspace: Path) -> Described:
        """Description of an entry from which a card can be proposed.

        Raises RegistryError when the entry cannot be read.
        """
        raise RegistryError(
            f"no card can be proposed for {entry.label}: registries of this kind do not describe "
            "models; write the card by hand"
        )

    def remarks(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Remarks on a listing: names under `cards:` and `trust:` that no entry has."""
        entry_names = sorted({entry.name for entry in entries})
        for key, names in {"cards": self.cards, "trust": self.trust}.items():
            for name in names:
                if name not in entry_names:
                    yield (
                        f"{key!r} of the registry names {name!r}, which is none of the entries "
                        f"that are followed{suggestion(name, entry_names)}"
                    )

    def card_in(self, folder: Path, name: str) -> Fetched:
        """Fetched of an entry by its name, whose files are in a folder.

        Raises ConfigError when there is no card, it is not plain YAML, or a link to elsewhere.
        """
        if name in self.cards:
            return Fetched(self.cards[name], folder, None)
        card = folder / CARD_FILE
        if not is_inside(card, folder):
            link = describe_link(card, folder)
            raise ConfigError(f"{card} is a link that leads out of its folder: {link}")
        if not card.exists():
            raise ConfigError(
                f"{folder} has no card; expected {CARD_FILE} there, with the keys of an entry of "
                f"'models:' except 'id', or a card under 'cards:' of the registry: decaf card "
                f"{name} -c CONFIG proposes one"
            )
        return Fetched(plain_mapping(card, "settings"), folder, self.trusted)


def check_comparison(registry: Registry | None, compare_with: str) -> None:
    """Refuse to compare with an alias that is not followed, or that no entry could have.

    Raises ValueError, for the validation of a study.
    """
    if compare_with in COMPARISONS:
        return
    aliases = [name for name in getattr(registry, "follow", ()) if name != LATEST]
    if compare_with not in aliases:
        raise fault(
            f"'compare_with': {compare_with!r} is neither {' nor '.join(COMPARISONS)} nor an "
            "alias that the registry follows"
            f"{suggestion(compare_with, [*COMPARISONS, *aliases])}; put an alias "
            "into 'follow:' (only registries with versions have aliases)",
            "compare_with",
        )


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, except keys."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)


def version_order(version: str) -> tuple[tuple[tuple[int, int | str], ...], str]:
    """Sort key of versions: numbers count as numbers, and the case of letters does not count.

    >>> max(["v2", "V10", "v9"], key=version_order)
    'V10'
    """
    parts = re.split(r"(\d+)", version.casefold())
    return tuple(
        (0, int(part)) if part.isdecimal() else (1, part) for part in parts if part
    ), version


def group_by_prefix(versions: Iterable[str]) -> list[list[str]]:
    """Versions with the same text before their first number, in their order.

    Versions without a number are one group. Versions of several groups have no common order.

    >>> group_by_prefix(["2", "10", "old", "V1", "v2"])
    [['2', '10'], ['old'], ['V1', 'v2']]
    """
    groups: dict[str | None, list[str]] = {}
    for version in sorted(versions, key=version_order):
        number = re.search(r"\d", version)
        prefix = version[: number.start()].casefold() if number else None
        groups.setdefault(prefix, []).append(version)
    return list(groups.values())
