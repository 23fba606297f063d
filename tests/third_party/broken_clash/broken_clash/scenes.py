"""Takes the name of a data set of decaf's."""

from typing import Literal

from decaf.data.adapters.base import Adapter


class Scenes(Adapter):
    """Other scenes."""

    adapter: Literal["shapes3d"]

    def pair_set(self):
        """Nothing."""

    def verify(self, pairs):
        """Nothing."""

    def read_input(self, image):
        """Nothing."""
