"""Description of an open place; imports nothing of decaf, so that every base class can use it."""

from typing import ClassVar, NamedTuple, Protocol


class Place(NamedTuple):
    """Location of the members of a base class, and their display name."""

    name: str
    """One word for a member; the entry points of packages begin with it."""
    room: str
    """Package of the general members; its last part names the module of a study's own."""
    tag: str
    """Key of a configuration section that names a member."""


class Placed(Protocol):
    """Attributes of the base class of a place, and of every member."""

    place: ClassVar[Place]
