"""Masks of the parts of a bird, by the colours of its part map (FunnyBirds)."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.adapters.image_files import Folder
from decaf.data.features import AnnotatedFeatures, Image, Masked, Named, mask_input
from decaf.data.photo_files import Header, read_header, read_photo
from decaf.data.upright_masks import turned_upright
from decaf.studies.attribution.operators import dilate_region

COLOURS = {
    "beak": (0xFFFF00,),
    "eye": (0xFFFFFD, 0xFFFFFE),
    "foot": (0xFF0001, 0xFF0002),
    "tail": (0x0000FF,),
    "wing": (0x00FF01, 0x00FF02),
}
"""RGB of the pixels of each part, left and right; others are body, background or in between."""


class PartMaps(AnnotatedFeatures):
    """One file for every image, under the name of the image."""

    folder: Path
    dilate: int
    """Px by which each part reaches further, along both axes."""
    counts_hidden: bool
    """True if a part without visible pixels counts as a part of the image."""

    def name_features(self, images: Sequence[Image]) -> Named:
        """The five parts; decodes the maps where hidden ones do not count.

        Raises DataError when a map is missing or, where it is decoded, is no picture.
        """
        folder, numbers = Folder(self.folder), list(range(1, len(COLOURS) + 1))
        masked_images: list[Masked | None] = []
        for image in images:
            digest, file = folder.file(image.name)
            shown = numbers if self.counts_hidden else _visible(file, digest)
            mask = mask_input(image.name, [file, self.dilate], [digest, self.dilate])
            masked_images.append(Masked(shown, mask) if shown else None)
        return Named(list(COLOURS), masked_images)

    def decode_mask(self, location: Any, turn: int = 1) -> NDArray[np.unsignedinteger]:
        """The parts of a map by their exact colours, left and right together, then dilated."""
        file, dilate = location
        masks = [
            dilate_region(part, dilate) * np.uint64(1 << number)
            for number, part in enumerate(_parts(file))
        ]
        has_own = turn != 1 and read_header(Path(file)).orientation is not None
        return turned_upright(np.bitwise_or.reduce(masks), 1 if has_own else turn)

    def headers(self, location: Any) -> dict[str, Header]:
        """Size and orientation of the file."""
        return {location[0]: read_header(Path(location[0]))}


@cache
def _visible(file: str, digest: str) -> list[int]:
    """Numbers of the parts that show somewhere; the digest is that of the file."""
    return [number for number, part in enumerate(_parts(file), 1) if part.any()]


def _parts(file: str) -> list[NDArray[np.bool_]]:
    """(height, width) visible pixels of each part."""
    red, green, blue = np.asarray(read_photo(Path(file))).astype(np.uint32).transpose(2, 0, 1)
    return [np.isin(red << 16 | green << 8 | blue, codes) for codes in COLOURS.values()]
