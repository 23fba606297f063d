"""Features of images: their names, their masks, and the base of all kinds.

A mask has a word for every pixel, whose bit k - 1 is set where feature k lies. Features are
numbered from 1 over all images of a data set; they may overlap, or lie nowhere.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.cells import WORD_BITS
from decaf.data.pairs import Input
from decaf.data.photo_files import Header
from decaf.errors import DataError
from decaf.foundation.digests import json_sha256
from decaf.foundation.settings import Settings

BitMask = NDArray[np.unsignedinteger]
"""(height, width) numbers; bit k - 1 is set where feature k lies."""
Lie = Literal["stored", "upright"]
"""Pixels that annotations describe: those in the photo's file, or those that a viewer shows."""


class Image(NamedTuple):
    """An image that may have features."""

    name: str
    """Its path below the folder of the images."""
    size: tuple[int, int] | None
    """Width and height of its audited part, px, for kinds that need them."""


class Masked(NamedTuple):
    """The features of one image."""

    numbers: list[int]
    """Numbers of its features among the features of all images; some may have no pixel."""
    mask: Input


class Named(NamedTuple):
    """The features of all images."""

    names: list[str]
    of_image: list[Masked | None]
    """In the order of the images; None for an image without features."""
    remarks: tuple[str, ...] = ()


class Features(Settings, ABC):
    """Base of all kinds of features; the location of a mask is JSON of its source."""

    condition: ClassVar[str] = "a feature"
    """Condition in words for an image to be audited."""

    @abstractmethod
    def name_features(self, images: Sequence[Image]) -> Named:
        """Name and digest the features of images; decode nothing.

        Raises DataError when files are missing or cannot be used.
        """

    @abstractmethod
    def decode_mask(self, location: Any, turn: int = 1) -> BitMask:
        """(height, width) uint64 mask of an image; bit k - 1 is set where feature k lies.

        ``location`` is that of the mask, read from JSON. ``turn`` is the EXIF orientation by which
        the mask is turned, unless its file has one.
        Raises DataError when it cannot be read.
        """


class AnnotatedFeatures(Features, ABC):
    """Features whose masks have the size of an image's file, and are cropped like the image."""

    annotations: Lie | None = Field(
        None,
        description="pixels that annotations of a photo with an EXIF orientation describe, if "
        "sizes do not show it: `stored` in the file, or `upright` as viewers show them; `stored` "
        "when absent, unless sizes of further photos show `upright`",
    )

    @abstractmethod
    def headers(self, location: Any) -> dict[str, Header]:
        """Size and orientation, by name, of each file that a mask is made from.

        Raises DataError when a file cannot be read.
        """


def mask_input(image: str, given: Any, content: Any = None) -> Input:
    """Mask with a source, from which it is read, and the content that decides its digest."""
    digest = json_sha256(given if content is None else content)
    return Input(f"features of {image}", "features", digest, json.dumps(given))


def check_count(names: Sequence[str]) -> None:
    """Refuse more features than a word has bits."""
    if len(names) > WORD_BITS:
        raise DataError(
            f"there are {len(names)} features; expected {WORD_BITS} at most: name fewer, or group "
            "them"
        )
