"""Images with features: each image against itself without one of them (paper, section 7)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.class_ids import class_ids
from decaf.data.feature_masks import AnyFeatures, Image, check_count
from decaf.data.input_store import unusable
from decaf.data.pairs import Input, Pair, PairSet
from decaf.data.photo_files import (
    central_crop,
    central_crop_of_mask,
    fitted_size,
    read_photo,
    upright_size,
)
from decaf.data.table_files import read_table
from decaf.errors import DataError, listed
from decaf.foundation.digests import file_sha256
from decaf.foundation.files import is_inside, refusals_as
from decaf.foundation.names import shown
from decaf.foundation.settings import PlacedPath, require_keys

LARGEST_SIDE = 4096
LIST = ".txt"


class Row(NamedTuple):
    """What is said of one image."""

    image: str
    """Its path below the folder of the images."""
    label: str
    """Empty where nothing says it."""
    source: str
    split: str


class ImageFeatures(Adapter):
    """Pairs of an image with itself without one of its features, for `kind: removal`."""

    adapter: Literal["image_features"]
    images: PlacedPath = Field(
        description="folder of the images; an image in a folder in it has its name as label"
    )
    table: PlacedPath | None = Field(
        None,
        description="images to audit, by their paths below the folder: `.txt`, one a line, or "
        "`.csv`, `.parquet` or `.jsonl` with the column `image` and, where there are such, "
        "`label`, `source`, `split`; all when absent",
    )
    features: AnyFeatures = Field(
        description="where the features lie, by `kind:` `grid`, `masks`, `label_maps` or `coco` "
        "([keys of each](data.md#images-with-features))"
    )
    classes: tuple[int | str, ...] = Field(
        (),
        description="names of classes 0, 1, … among the labels; when absent, labels that are whole "
        "numbers are class numbers, and others are counted in the order of their sorted names",
    )
    resize: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="the shorter side of every image is resized to it, px, bilinear",
    )
    crop: int | None = Field(
        None,
        gt=0,
        le=LARGEST_SIDE,
        description="side of the central square that is kept, px; the whole image when absent",
    )

    @model_validator(mode="after")
    def _crop_fits(self) -> "ImageFeatures":
        fits = self.crop is None or self.resize is None or self.crop <= self.resize
        require_keys([("crop", fits, f"'resize' of at least {self.crop}")])
        return self

    def pair_set(self) -> PairSet:
        """List images, digest them and the masks of their features; decode none.

        Raises DataError when files are missing or cannot be used, no image has a feature, or there
        are more than 64 features.
        """
        rows = list(self._rows())
        files = {row.image: self._file(row.image) for row in rows}
        digests = {name: _digest(file) for name, file in files.items()}
        named = self.features.of([self._image(name, file) for name, file in files.items()])
        check_count(named.names)
        classes = class_ids([row.label or "0" for row in rows], self.classes)
        found = [one for one in zip(rows, classes.ids, named.of_image, strict=True) if one[2]]
        inputs, masks, pairs = [], [], []
        for place, (row, class_id, masked) in enumerate(found):
            file = files[row.image]
            inputs.append(Input(row.image, "image", digests[row.image], str(file), row.image))
            location = f"{len(named.names)} {masked.mask.location}"
            masks.append(replace(masked.mask, location=location))
            for number in masked.numbers:
                name = named.names[number - 1]
                pair = Pair(
                    pair_id=f"{row.image}__{name}",
                    source_id=row.source,
                    pair_type=name,
                    class_id=class_id,
                    split=row.split,
                    plus=place,
                    minus=place,
                    feature=number,
                )
                pairs.append(pair)
        resized = "as stored" if self.resize is None else f"bilinear {self.resize}"
        geometry = f"pillow {resized}" + (f" crop {self.crop}" if self.crop else "")
        bare = [row.image for row, one in zip(rows, named.of_image, strict=True) if one is None]
        remarks = (*classes.remarks, *self._remarks(rows, bare))
        return PairSet(tuple(inputs), tuple(pairs), geometry, remarks, masks=tuple(masks))

    def _remarks(self, rows: list[Row], bare: list[str]) -> Iterator[str]:
        """What is left out, or not said; raises DataError where that is everything, or unequal."""
        if len(bare) == len(rows):
            raise DataError(f"none of the {len(rows)} images of {self.images} has a feature")
        if bare:
            count = f"{len(bare)} of {len(rows)} images"
            yield f"{count} have no feature and are left out: {listed(bare)}"
        labelled = [row for row in rows if row.label]
        if not labelled:
            yield "images have no labels: all count as class 0, unless the score has a 'target:'"
        elif len(labelled) < len(rows):
            unsaid = next(row.image for row in rows if not row.label)
            raise DataError(f"image {unsaid} has no label, and others have; expected all, or none")

    def verify(self, pairs: PairSet) -> None:
        """Check from their headers that masks fit their images, and images come out of one size.

        Raises DataError, naming images and masks that differ or are refused.
        """
        faults: dict[str, None] = {}
        first: tuple[tuple[int, int], str] | None = None
        for image, mask in zip(pairs.inputs, pairs.masks, strict=True):
            try:
                size = upright_size(Path(image.location))
                own = self._fitted(image.location, size)
                masks = self.features.sizes(_given(mask)[1])
            except DataError as error:
                faults[str(error)] = None
                continue
            first = first or (own, image.location)
            if own != first[0]:
                faults[
                    f"{image.location} comes out with {own[0]} x {own[1]} pixels; expected "
                    f"{first[0][0]} x {first[0][1]}, as {first[1]}: set 'resize:' and 'crop:'"
                ] = None
            for name, found in masks.items():
                if found != size:
                    faults[
                        f"{name} has {found[0]} x {found[1]} pixels, and its image "
                        f"{image.location} {size[0]} x {size[1]}; expected one size"
                    ] = None
        if faults:
            raise unusable(faults, "images or masks")

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Decode, turn upright, resize and crop as the settings say: (height, width, 3)."""
        photo = read_photo(Path(image.location))
        self._fitted(image.location, photo.size)
        return central_crop(photo, self.resize, self.crop)

    def read_mask(self, mask: Input) -> NDArray[np.unsignedinteger]:
        """Read the features of an image, resized to nearest pixels and cropped as that is."""
        count, given = _given(mask)
        words = self.features.words(given)
        if self.features.of_whole_file:
            words = central_crop_of_mask(words, self.resize, self.crop)
        return words.astype(np.min_scalar_type(2**count - 1))

    def _rows(self) -> Iterator[Row]:
        """Images by the table, or all in the folder, in the order of their paths."""
        if self.table is None:
            if not self.images.is_dir():
                raise DataError(f"{self.images} is no folder; expected one of images")
            for file in sorted(self.images.rglob("*")):
                below = file.relative_to(self.images)
                if not file.is_dir() and not any(part.startswith(".") for part in below.parts):
                    yield _row(below.as_posix())
            return
        table = self._listed() if self.table.suffix == LIST else read_table(self.table, typed=False)
        if "image" not in table:
            raise DataError(f"table {self.table} has no column 'image', of paths below the folder")
        seen = set()
        columns = {name: table[name] for name in Row._fields if name in table}
        for number, values in enumerate(zip(*columns.values(), strict=True), 1):
            said = dict(zip(columns, values, strict=True))
            if not all(values) or said["image"] in seen:
                raise DataError(
                    f"table {self.table}, row {number}: {shown(str(said['image']))} is there "
                    "twice, or a cell is empty; expected every image once, and no empty cell"
                )
            seen.add(said["image"])
            yield _row(**said)

    def _listed(self) -> dict[str, list[Any]]:
        remedy = "give a text file with one image a line"
        with refusals_as(DataError, f"list {self.table} cannot be read", remedy):
            try:
                lines = self.table.read_text(encoding="utf-8").splitlines()
            except UnicodeDecodeError as error:
                raise DataError(f"list {self.table} is not UTF-8; {remedy}") from error
        return {"image": [line.strip() for line in lines if line.strip()]}

    def _file(self, name: str) -> Path:
        if not is_inside(self.images / name, self.images):
            raise DataError(f"image {shown(name)} lies outside of {self.images}; put it there")
        return (self.images / name).resolve()

    def _image(self, name: str, file: Path) -> Image:
        """An image with what is kept of it, where features are made from that."""
        if self.features.of_whole_file:
            return Image(name, None)
        return Image(name, (self.crop, self.crop) if self.crop else self._fitted(file))

    def _fitted(self, file: Path | str, size: tuple[int, int] | None = None) -> tuple[int, int]:
        """Width and height that an image comes out with."""
        try:
            fitted = fitted_size(size or upright_size(Path(file)), self.resize, self.crop)
        except DataError as error:
            raise DataError(f"{file} cannot be used: {error}") from error
        return (self.crop, self.crop) if self.crop else fitted


def _row(image: str, label: str = "", source: str = "", split: str = "all") -> Row:
    """What is said of an image, or follows from its path."""
    folder = Path(image).parent.as_posix()
    return Row(image, label or folder.removeprefix("."), source or image, split)


def _given(mask: Input) -> tuple[int, Any]:
    """Number of all features, and what the mask is read from."""
    count, _, given = mask.location.partition(" ")
    return int(count), json.loads(given)


def _digest(file: Path) -> str:
    with refusals_as(
        DataError, f"image {file} cannot be read", "put it there, or correct its name"
    ):
        return file_sha256(file)
