"""Where the members of an open place are; needs nothing, so that reveal paths can say it too."""

from typing import ClassVar, NamedTuple, Protocol


class Place(NamedTuple):
    """Where the members of a base class are, and what people call them."""

    name: str
    """What a member is, in one word; the entry points of packages begin with it."""
    room: str
    """Package of the general members; its last part names the module of a study's own."""
    tag: str
    """Key of a configuration section that names a member."""


class Placed(Protocol):
    """What the base class of a place, and every member, says of itself."""

    place: ClassVar[Place]
