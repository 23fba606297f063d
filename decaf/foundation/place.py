"""Where the members of an open place are; needs nothing, so that reveal paths can say it too."""

from typing import NamedTuple


class Place(NamedTuple):
    """Where the members of a base class are, and what people call them."""

    name: str
    """What a member is, in one word; the entry points of packages begin with it."""
    room: str
    """Package of the general members; its last part names the module of a study's own."""
    tag: str
    """Key of a configuration section that names a member."""
