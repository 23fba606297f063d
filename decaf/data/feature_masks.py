"""Where features lie in images: cells of a grid, mask files, label maps, COCO annotations.

Every kind names the features of all images, numbered from 1, and gives an image a mask: a word for
every pixel, whose bit k - 1 is set where feature k lies. Features may overlap, and lie nowhere.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.cells import WORD_BITS, cell_map, feature_words
from decaf.data.coco_files import read_coco
from decaf.data.coco_masks import mask_of
from decaf.data.pairs import Input
from decaf.data.photo_files import read_levels, upright_size
from decaf.data.table_files import read_table
from decaf.errors import DataError, suggestion
from decaf.foundation.digests import file_sha256, json_sha256
from decaf.foundation.files import describe_link, is_inside, refusals_as
from decaf.foundation.names import shown
from decaf.foundation.settings import PlacedPath, Settings, ShownName, fault, require_keys

IMAGE, FEATURE = "{image}", "{feature}"
"""Places in a pattern: of an image's path below its folder, without suffix, and of a feature."""
Words = NDArray[np.unsignedinteger]


class Image(NamedTuple):
    """An image that may have features."""

    name: str
    """Its path below the folder of the images."""
    size: tuple[int, int] | None
    """Width and height of what is audited of it, px, where a kind asks for it."""


class Masked(NamedTuple):
    """The features of one image."""

    numbers: list[int]
    """Of its features among those of all images; some may lie nowhere."""
    mask: Input


class Named(NamedTuple):
    """The features of all images."""

    names: list[str]
    of_image: list[Masked | None]
    """None for an image that has none."""


class Features(Settings, ABC):
    """What the kinds have in common; the location of a mask is JSON of what it is read from."""

    of_whole_file: ClassVar[bool] = True
    """Whether a mask has the size of the image's file, and is cropped as that is."""
    needed: ClassVar[str] = "a feature"
    """What an image is left out without."""

    @abstractmethod
    def of(self, images: Sequence[Image]) -> Named:
        """Name and digest the features of images; decode nothing.

        Raises DataError when files are missing or cannot be used.
        """

    @abstractmethod
    def words(self, given: Any) -> Words:
        """(height, width) uint64 mask of an image, from what its location says.

        Raises DataError when it cannot be read.
        """

    def sizes(self, given: Any) -> dict[str, tuple[int, int]]:
        """Width and height, by name, of what must have the size of the image's file, px."""
        return {}


class Grid(Features):
    """Cells of every image as it is cropped, row by row."""

    kind: Literal["grid"]
    side: int = Field(4, ge=1, le=8, description="cells a side")
    of_whole_file: ClassVar[bool] = False

    def of(self, images: Sequence[Image]) -> Named:
        """Cells ``r1c1``, ``r1c2`` …; images of one size share a mask."""
        places = range(1, self.side + 1)
        names = [f"r{row}c{column}" for row in places for column in places]
        numbers = list(range(1, len(names) + 1))
        sizes = {image.name: cast("tuple[int, int]", image.size) for image in images}
        for image in images:
            width, height = sizes[image.name]
            if min(width, height) < self.side:
                raise DataError(
                    f"image {image.name} has {width} x {height} pixels; a grid of "
                    f"{self.side} cells a side needs as many"
                )
        masks = {size: mask_input("grid", [*size, self.side]) for size in sizes.values()}
        return Named(names, [Masked(numbers, masks[sizes[image.name]]) for image in images])

    def words(self, given: Any) -> Words:
        """Cells of an image of a width and height."""
        width, height, side = given
        return feature_words(cell_map((height, width), side) + 1)


class Masks(Features):
    """A file for every image and feature, which lies where the pixels are not 0."""

    kind: Literal["masks"]
    files: str | None = Field(
        None,
        description="files of the masks, as in `masks/{image}_{feature}.png`; `{image}` is the "
        "path of an image below its folder, without suffix",
    )
    names: tuple[ShownName, ...] = Field((), description="features of every image, for `files`")
    table: PlacedPath | None = Field(
        None,
        description="instead of `files`: table with the columns `image`, `feature` and `mask`, a "
        "file below the table's folder",
    )

    @model_validator(mode="after")
    def _one_way(self) -> "Masks":
        if (self.files is None) == (self.table is None) or bool(self.names) != bool(self.files):
            raise fault("give either 'files' and 'names', or 'table'")
        if self.files is not None:
            _check_pattern(self.files, (IMAGE, FEATURE))
        return self

    def of(self, images: Sequence[Image]) -> Named:
        """All named features of every image, or those that the table has of it."""
        if self.files is not None:
            names = list(self.names)
            files = {
                image.name: {name: _placed(self.files, image, name) for name in names}
                for image in images
            }
        else:
            names, files = self._of_table()
        number = {name: place for place, name in enumerate(names, 1)}
        return Named(names, [self._masked(one, files.get(one.name), number) for one in images])

    def _masked(
        self, image: Image, files: dict[str, Path] | None, number: dict[str, int]
    ) -> Masked | None:
        if files is None:
            return None
        numbers = [number[name] for name in files]
        parts = list(zip(numbers, map(str, files.values()), strict=True))
        digests = list(zip(numbers, map(_digest, files.values()), strict=True))
        return Masked(numbers, mask_input(image.name, parts, digests))

    def words(self, given: Any) -> Words:
        """The masks of an image together."""
        masks = ((read_levels(Path(file)) > 0) * np.uint64(1 << place - 1) for place, file in given)
        return reduce(np.bitwise_or, masks)

    def sizes(self, given: Any) -> dict[str, tuple[int, int]]:
        """Of every file."""
        return {file: upright_size(Path(file)) for _, file in given}

    def _of_table(self) -> tuple[list[str], dict[str, dict[str, Path]]]:
        """Names in their order, and files by image and name."""
        place = cast("Path", self.table)
        table, folder = read_table(place, typed=False), place.parent
        if lacking := [name for name in ("image", "feature", "mask") if name not in table]:
            raise DataError(f"table {self.table} has no column {shown(lacking[0])}")
        files: dict[str, dict[str, Path]] = {}
        rows = zip(table["image"], table["feature"], table["mask"], strict=True)
        for row, (image, feature, mask) in enumerate(rows, 1):
            where = f"table {self.table}, row {row}"
            if not (image and feature and mask):
                raise DataError(f"{where}: a cell is empty; expected image, feature and mask")
            if not is_inside(folder / mask, folder):
                remedy = describe_link(folder / mask, folder) or "put it there"
                raise DataError(f"{where}: {shown(mask)} lies outside of {folder}; {remedy}")
            if feature in files.setdefault(image, {}):
                raise DataError(f"{where}: {shown(image)} has {shown(feature)} twice")
            files[image][feature] = (folder / mask).resolve()
        return sorted(set(table["feature"])), files


class LabelMaps(Features):
    """One file for every image, whose pixels are numbers of features, 0 for none."""

    kind: Literal["label_maps"]
    files: str = Field(description="files of the label maps, as in `parts/{image}.png`")
    names: tuple[ShownName, ...] = Field(
        min_length=1, description="features of every image, those of the numbers 1, 2, …"
    )

    @model_validator(mode="after")
    def _has_a_place(self) -> "LabelMaps":
        _check_pattern(self.files, (IMAGE,))
        return self

    def of(self, images: Sequence[Image]) -> Named:
        """All named features of every image."""
        numbers, count = list(range(1, len(self.names) + 1)), len(self.names)
        files = [str(_placed(self.files, image)) for image in images]
        masks = [
            mask_input(image.name, [file, count], [_digest(Path(file)), count])
            for image, file in zip(images, files, strict=True)
        ]
        return Named(list(self.names), [Masked(numbers, mask) for mask in masks])

    def words(self, given: Any) -> Words:
        """Bits of the numbers; raises DataError for numbers beyond the names."""
        file, count = given
        numbers = read_levels(Path(file))
        if numbers.max() > count:
            raise DataError(
                f"label map {file} has the number {numbers.max()}; expected 0 for no feature, and "
                f"1 to {count}, which have 'names'"
            )
        return feature_words(numbers)

    def sizes(self, given: Any) -> dict[str, tuple[int, int]]:
        """Of the file."""
        return {given[0]: upright_size(Path(given[0]))}


class CocoMasks(Features):
    """Segmentations of COCO annotations; an image has the features that are annotated in it."""

    kind: Literal["coco"]
    file: PlacedPath = Field(description="COCO annotations, JSON")
    by: Literal["category", "supercategory"] = Field("category", description="what a feature is")
    groups: dict[ShownName, tuple[str, ...]] = Field(
        {},
        description="features of several of them, by name, as in `{head: [dog head, cat head]}`; "
        "each of them is a feature when absent",
    )
    is_disjoint: ClassVar[bool] = False
    """Whether a pixel is of its last feature in the file alone, instead of all that lie there."""

    def named(self, category: str, supercategory: str) -> str:
        """What a feature is called that has no group."""
        return category if self.by == "category" else supercategory

    def of(self, images: Sequence[Image]) -> Named:
        """Features of the images that the file names by their path or, where it is one, name."""
        coco = read_coco(self.file)
        own = {name: self.named(name, parent) for name, parent in coco.supercategory.items()}
        known = dict.fromkeys(own.values())
        groups = self.groups or {name: (name,) for name in known}
        for one in (one for members in groups.values() for one in members):
            if one not in known:
                raise DataError(
                    f"{self.file} has no {self.by} {shown(one)}{suggestion(one, known)}"
                )
        numbers_of = {
            name: [place for place, members in enumerate(groups.values(), 1) if one in members]
            for name, one in own.items()
        }
        found: list[Masked | None] = []
        file_names = _by_name(coco.images, [image.name for image in images])
        for image in images:
            said = coco.images.get(file_names.get(image.name, ""))
            parts = [
                [place, segmentation]
                for category, segmentation in (said.parts if said else ())
                for place in numbers_of[category]
            ]
            numbers = sorted({place for place, _ in parts})
            shape = [*said.size, parts] if said else []
            given = [str(self.file), image.name, *shape]
            found.append(Masked(numbers, mask_input(image.name, given, shape)) if parts else None)
        return Named(list(groups), found)

    def words(self, given: Any) -> Words:
        """Decode the segmentations of an image."""
        file, image, width, height, parts = given
        words = np.zeros((height, width), np.uint64)
        for place, segmentation in parts:
            try:
                mask = mask_of(segmentation, height, width)
            except ValueError as error:
                raise DataError(f"annotations {file}, image {image}: {error}") from error
            kept = np.uint64(0) if self.is_disjoint else words[mask]
            words[mask] = kept | np.uint64(1 << place - 1)
        return words

    def sizes(self, given: Any) -> dict[str, tuple[int, int]]:
        """As the file says."""
        return {given[0]: (given[2], given[3])}


AnyFeatures = Annotated[Grid | Masks | LabelMaps | CocoMasks, Field(discriminator="kind")]


def mask_input(image: str, given: Any, content: Any = None) -> Input:
    """A mask that is read from what is given; what it holds is a function of the content."""
    digest = json_sha256(given if content is None else content)
    return Input(f"features of {image}", "features", digest, json.dumps(given))


def check_count(names: Sequence[str]) -> None:
    """Refuse more features than a word has bits."""
    if len(names) > WORD_BITS:
        raise DataError(
            f"there are {len(names)} features; expected {WORD_BITS} at most: name fewer, or group "
            "them"
        )


def _check_pattern(pattern: str, places: tuple[str, ...]) -> None:
    require_keys(
        ("files", place in pattern, f"{place} in it, as in parts/{place}.png") for place in places
    )


def _placed(pattern: str, image: Image, feature: str = "") -> Path:
    name = str(Path(image.name).with_suffix(""))
    return Path(pattern.replace(FEATURE, feature).replace(IMAGE, name)).absolute()


def _digest(file: Path) -> str:
    remedy = "save an empty one for a feature that does not show, or correct 'files'"
    with refusals_as(DataError, f"mask {file} cannot be read", remedy):
        return file_sha256(file)


def _by_name(said: dict[str, Any], names: Sequence[str]) -> dict[str, str]:
    """What the file calls each image: its path below the folder, or its last part alone."""
    last: dict[str, list[str]] = {}
    for name in names:
        last.setdefault(Path(name).name, []).append(name)
    found = {}
    for name in said:
        same = last.get(Path(name).name, [])
        if name in same or len(same) == 1:
            found[name if name in same else same[0]] = name
    return found
