"""Images with features: each image against itself without one feature (paper, section 7)."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.image_files import (
    Folder,
    ImageFiles,
    cells_by_role,
    label_of,
)
from decaf.data.class_ids import class_ids
from decaf.data.feature_masks import AnyFeatures
from decaf.data.features import AnnotatedFeatures, Features, Image, check_count
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input, Pair, PairSet
from decaf.data.photo_files import central_crop_of_mask, read_header
from decaf.data.table_files import read_table, unused_columns
from decaf.data.upright_masks import AnnotatedPhoto, Turns, find_turns, unequal_sizes
from decaf.data.weights import UNSAID, weights_of
from decaf.errors import DataError, abridge
from decaf.foundation.digests import json_sha256
from decaf.foundation.files import convert_os_errors
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath

LIST = ".txt"


class Row(NamedTuple):
    """Table row of one image."""

    image: str
    """Its path below the folder of the images."""
    label: str
    """Empty if it is not stated."""
    source: str
    split: str
    weight: float
    """Weight of each of its pairs."""


class FeaturedImages(ImageFiles, ABC):
    """Base class of data sets of images with features, from any source of features."""

    @abstractmethod
    def _rows(self) -> tuple[list[Row], tuple[str, ...]]:
        """Images in the order of their paths, and remarks."""

    @abstractmethod
    def _places(self) -> tuple[Path, Features]:
        """Folder of the images, and the kind of their features."""

    def pair_set(self) -> PairSet:
        """List images, digest them and the masks of their features; decode none.

        Raises DataError when files are missing or cannot be used, no image has a feature, or there
        are more than 64 features.
        """
        rows, unused = self._rows()
        root, features = self._places()
        folder = Folder(root)
        files = {row.image: folder.file(row.image) for row in rows}
        named = features.name_features(
            [self._image(name, file) for name, (_, file) in files.items()]
        )
        check_count(named.names)
        classes = class_ids([row.label for row in rows], self.classes, [row.image for row in rows])
        labelled = zip(rows, classes.ids, named.of_image, strict=True)
        featured = [(row, row_class, masked) for row, row_class, masked in labelled if masked]
        inputs = self.with_shapes(
            Input(row.image, "image", *files[row.image], row.image) for row, *_ in featured
        )
        turns = self._turns(inputs, [masked.mask for *_, masked in featured])
        masks, pairs = [], []
        for place, (row, class_id, masked) in enumerate(featured):
            turn = turns.of_photo.get(row.image, 1)
            shape = (inputs[place].shape or ())[:2] or None
            masks.append(_placed_mask(masked.mask, len(named.names), turn, shape))
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
                    weight=row.weight,
                )
                pairs.append(pair)
        bare = [
            row.image
            for row, masked_image in zip(rows, named.of_image, strict=True)
            if masked_image is None
        ]
        remarks = [*unused, *classes.remarks, *self._remarks(rows, bare)]
        remarks += [*named.remarks, *turns.remarks]
        shown_somewhere = {pair.pair_type for pair in pairs}
        if absent := [name for name in named.names if name not in shown_somewhere]:
            remarks.append(f"features that no image has: {abridge(absent)}")
        return PairSet(
            inputs,
            tuple(pairs),
            self.construction,
            tuple(remarks),
            masks=tuple(masks),
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
        )

    def _remarks(self, rows: list[Row], bare: list[str]) -> Iterator[str]:
        """Remarks on images that are left out; raises DataError if no image is left."""
        root, features = self._places()
        if len(bare) == len(rows):
            raise DataError(f"none of the {len(rows)} images of {root} has {features.condition}")
        if bare:
            count = f"{len(bare)} of {len(rows)} images"
            yield f"{count} do not have {features.condition} and are left out: {abridge(bare)}"

    def verify(self, pairs: PairSet) -> None:
        """Check from their headers that masks fit their images.

        Raises DataError, naming images and masks that differ or are refused.
        """
        faults: dict[str, None] = {}
        features = self._places()[1]
        stored = [
            stored_pair
            for stored_pair in zip(pairs.inputs, pairs.masks, strict=True)
            if stored_pair[0].file
        ]
        headers = self.headers((image for image, _ in stored), faults)
        for image, mask in stored:
            header = headers.get(image.location)
            if header is None or not isinstance(features, AnnotatedFeatures):
                continue
            _, turn, entries = _parse_location(mask)
            try:
                annotations = features.headers(entries)
            except DataError as error:
                faults[str(error)] = None
                continue
            for name, annotation in annotations.items():
                if annotation.upright(turn) != header.upright():
                    faults[unequal_sizes(name, annotation, image.location, header)] = None
        if faults:
            raise unusable_error(faults, "images or masks")

    def read_mask(self, mask: Input) -> NDArray[np.unsignedinteger]:
        """Read the mask of an image, resized to nearest pixels and cropped like the image."""
        count, turn, entries = _parse_location(mask)
        features = self._places()[1]
        decoded = features.decode_mask(entries, turn)
        if isinstance(features, AnnotatedFeatures):
            decoded = central_crop_of_mask(decoded, self.resize, self.crop)
        return decoded.astype(np.min_scalar_type(2**count - 1))

    def _turns(self, photos: Sequence[Input], masks: Sequence[Input]) -> Turns:
        """Orientations by which masks are turned; reads headers of photos, and of turned masks."""
        features = self._places()[1]
        if not isinstance(features, AnnotatedFeatures):
            return Turns({}, ())
        faults: dict[str, None] = {}
        headers = self.headers(photos, faults)
        annotated = []
        for photo, mask in zip(photos, masks, strict=True):
            header = headers.get(photo.location)
            if header is None or (header.orientation or 1) == 1:
                continue  # a photo that cannot be read is named when sizes are compared
            annotations = features.headers(json.loads(mask.location))
            annotated.append(AnnotatedPhoto(photo.image_id, header, [*annotations.values()]))
        return find_turns(annotated, features.annotations)

    def _image(self, name: str, file: str) -> Image:
        """Image with the size of its audited part, if features are made from that part."""
        if isinstance(self._places()[1], AnnotatedFeatures):
            return Image(name, None)
        cropped = (self.crop, self.crop) if self.crop else None
        return Image(name, cropped or self.final_size(file, read_header(Path(file)).upright()))


class ImageFeatures(FeaturedImages):
    """Pairs of an image with itself without one of its features, for `kind: removal`."""

    adapter: Literal["image_features"]
    images: PlacedPath = Field(
        description="folder of the images; the names of its subfolders are the labels"
    )
    table: PlacedPath | None = Field(
        None,
        description="images to audit, by their paths below the folder: `.txt`, one a line, or "
        "`.csv`, `.parquet` or `.jsonl` with the column `image` and, optionally, "
        "`label`, `source`, `split`, `weight`; all when absent",
    )
    features: AnyFeatures = Field(
        description="source of the features, by `kind:` `grid`, `masks`, `label_maps` or `coco` "
        "([keys of each](data.md#images-with-features))"
    )

    def _places(self) -> tuple[Path, Features]:
        return self.images, self.features

    def _rows(self) -> tuple[list[Row], tuple[str, ...]]:
        return rows_of(self.images, self.table)


def rows_of(folder: Path, table: Path | None) -> tuple[list[Row], tuple[str, ...]]:
    """Rows of the images in a table, or of all images in a folder, sorted by path; remarks.

    Raises DataError when the table cannot be read, lacks the column ``image``, or repeats an image.
    """
    if table is None:
        return [row_of(name) for name in Folder(folder).files()], ()
    is_list = table.suffix.lower() == LIST
    columns = _read_columns(table) if is_list else read_table(table)
    if "image" not in columns:
        raise DataError(f"table {table} has no column 'image'; add it, with paths below the folder")
    cells = cells_by_role(columns, table, {name: name for name in Row._fields})
    weights = weights_of([values.pop("weight", UNSAID) for values in cells], f"table {table}")
    rows: dict[str, Row] = {}
    for number, (values, weight) in enumerate(zip(cells, weights, strict=True), 1):
        if values["image"] in rows:
            raise DataError(
                f"table {table}, row {number}: {quote(values['image'])} appears twice; "
                "expected every image once"
            )
        rows[values["image"]] = row_of(**values, weight=weight)
    return list(rows.values()), unused_columns(columns, Row._fields)


def _read_columns(file: Path) -> dict[str, list[Any]]:
    remedy = "give a text file with one image a line"
    with convert_os_errors(DataError, f"list {file} cannot be read", remedy):
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"list {file} is not UTF-8; {remedy}") from error
    return {"image": [line.strip() for line in lines if line.strip()]}


def row_of(
    image: str, label: str = "", source: str = "", split: str = "all", weight: float = 1.0
) -> Row:
    """Row of an image; values that the table lacks follow from its path."""
    return Row(image, label or label_of(image), source or image, split, weight)


def _placed_mask(mask: Input, count: int, turn: int, shape: tuple[int, ...] | None) -> Input:
    """Mask that states the number of all features and, if it is turned, the orientation."""
    if turn == 1:
        return replace(mask, location=f"{count} {mask.location}", shape=shape)
    digest = json_sha256([mask.digest, f"turned by {turn}"])
    return replace(mask, digest=digest, location=f"{count}/{turn} {mask.location}", shape=shape)


def _parse_location(mask: Input) -> tuple[int, int, Any]:
    """Number of all features, orientation by which the mask is turned, and its source."""
    numbers, _, entries = mask.location.partition(" ")
    count, _, turn = numbers.partition("/")
    return int(count), int(turn or 1), json.loads(entries)
