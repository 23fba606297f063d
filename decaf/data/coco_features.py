"""Features from COCO annotations: segmentations, and boxes if the study sets ``boxes``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.data.coco_files import Annotated, Annotation, read_coco
from decaf.data.coco_masks import (
    check_segmentation,
    is_empty_segmentation,
    mask_of,
    rectangle_of,
    valid_polygons,
)
from decaf.data.features import AnnotatedFeatures, BitMask, Image, Masked, Named, mask_input
from decaf.data.input_store import unusable_error
from decaf.data.photo_files import Header
from decaf.data.same_names import match_names, remarks_on_matches
from decaf.data.upright_masks import turned_upright
from decaf.errors import DataError, abridge, number_of, suggestion
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath, ShownName

NOTHING = Annotated((0, 0), [])
"""Annotations of an image that the file does not list."""


@dataclass
class Unusable:
    """Annotations of the audited images that have no usable mask, or only a part of one."""

    faults: dict[str, None] = field(default_factory=dict)
    """Faults for which the file is refused, in the order of the images."""
    boxes: list[str] = field(default_factory=list)
    """Annotations with a box and no segmentation."""
    skipped: list[str] = field(default_factory=list)
    """Annotations that are left out, or only some of whose polygons are used."""


class CocoMasks(AnnotatedFeatures):
    """Segmentations of COCO annotations; an image has the features that are annotated in it."""

    kind: Literal["coco"]
    file: PlacedPath = Field(description="COCO annotations, JSON")
    by: Literal["category", "supercategory"] = Field(
        "category", description="whether each category or each supercategory is a feature"
    )
    groups: dict[ShownName, tuple[str, ...]] = Field(
        {},
        description="features that join several categories (or supercategories), by name, as in "
        "`{head: [dog head, cat head]}`; by default, each category is a feature of its own",
    )
    boxes: Literal["as_masks"] | None = Field(
        None,
        description="`as_masks` takes the rectangle of a `bbox` as the mask of an annotation "
        "without a segmentation; by default, such annotations are refused",
    )
    skip_invalid: bool = Field(
        False,
        description="leave out annotations and polygons that cannot be used, with a remark, "
        "instead of refusing the file",
    )
    is_disjoint: ClassVar[bool] = False
    """True if a pixel belongs only to its last feature in the file, False if to all of them."""
    is_configurable: ClassVar[bool] = True
    """True if studies can set the keys above; False for subclasses with a fixed format.

    Only a configurable class refuses boxes without a segmentation.
    """

    def feature_name(self, category: str, supercategory: str) -> str:
        """Name of a feature without a group."""
        return category if self.by == "category" else supercategory

    def select_polygons(self, segmentation: Any) -> Any:
        """Segmentation with the polygons to decode, by default all polygons."""
        return segmentation

    def name_features(self, images: Sequence[Image]) -> Named:
        """Name and digest the features of images; decode nothing.

        Images are matched by the path in ``file_name``, or by its last part if that is unique.
        """
        coco = read_coco(self.file, skip_invalid=self.skip_invalid)
        names = {key: self.feature_name(*category) for key, category in coco.categories.items()}
        groups = self.groups or {name: (name,) for name in names.values()}
        for member in (member for members in groups.values() for member in members):
            if member not in names.values():
                raise DataError(
                    f"{self.file} has no {self.by} {quote(member)}"
                    f"{suggestion(member, names.values())}"
                )
        numbers_of = {
            key: [number for number, members in enumerate(groups.values(), 1) if name in members]
            for key, name in names.items()
        }
        of_image: list[Masked | None] = []
        unusable = Unusable(skipped=[*coco.skipped])
        matches = match_names([image.name for image in images], coco.images, str(self.file))
        for image in images:
            annotated = coco.images.get(matches.of_image.get(image.name, ""), NOTHING)
            masks = [
                [number, segmentation]
                for annotation in annotated.parts
                if numbers_of[annotation.category]
                for segmentation in self._segmentations(annotation, annotated, image.name, unusable)
                for number in numbers_of[annotation.category]
            ]
            numbers = sorted({number for number, _ in masks})
            content = [*annotated.size, masks]
            mask = mask_input(image.name, [str(self.file), image.name, *content], content)
            of_image.append(Masked(numbers, mask) if masks else None)
        self._refuse(unusable)
        return Named(list(groups), of_image, self._remarks(unusable, matches.by_stem))

    def decode_mask(self, location: Any, turn: int = 1) -> BitMask:
        """Decode the segmentations of an image."""
        file, image, width, height, masks = location
        features = np.zeros((height, width), np.uint64)
        for number, segmentation in masks:
            try:
                is_inside = mask_of(self.select_polygons(segmentation), height, width)
            except ValueError as error:
                raise DataError(
                    f"annotations {file}, a segmentation of image {image}: {error}"
                ) from error
            earlier = np.uint64(0) if self.is_disjoint else features[is_inside]
            features[is_inside] = earlier | np.uint64(1 << number - 1)
        return turned_upright(features, turn)

    def headers(self, location: Any) -> dict[str, Header]:
        """Image size as stated in the annotation file, by that file."""
        return {location[0]: Header((location[2], location[3]))}

    def _segmentations(
        self, annotation: Annotation, annotated: Annotated, image: str, unusable: Unusable
    ) -> list[Any]:
        """Zero or one segmentation: that of the annotation, or the rectangle of its box.

        Of a skipped annotation, the valid polygons. Empty if none is valid, or if the annotation is
        refused.
        """
        where, (width, height) = f"{annotation.name} of image {image}", annotated.size
        segmentation = annotation.segmentation
        try:
            if self.is_configurable and is_empty_segmentation(segmentation):
                rectangle = rectangle_of(annotation.box)
                if rectangle and not self.boxes:
                    unusable.boxes.append(where)
                    return []
                segmentation = [rectangle] if rectangle else segmentation
            check_segmentation(self.select_polygons(segmentation), height, width)
        except ValueError as error:
            if not self.skip_invalid:
                unusable.faults[f"{where}: {error}"] = None
                return []
            unusable.skipped.append(where)
            polygons = valid_polygons(segmentation)
            return [polygons] if polygons else []
        return [segmentation]

    def _refuse(self, unusable: Unusable) -> None:
        if unusable.boxes:
            raise DataError(
                f"{self.file} has {number_of(len(unusable.boxes), 'annotation')} with a box and "
                f"no segmentation ({abridge(unusable.boxes)}); add segmentations, or set 'boxes: "
                "as_masks' in 'features:' to use the boxes as masks"
            )
        if unusable.faults:
            remedy = "; correct them, or set 'skip_invalid: true' in 'features:'"
            where = f" in {self.file}{remedy if self.is_configurable else ''}"
            raise unusable_error(unusable.faults, "annotations", where)

    def _remarks(self, unusable: Unusable, by_stem: dict[str, str]) -> tuple[str, ...]:
        remarks = []
        if unusable.skipped:
            remarks.append(
                f"annotations or polygons of {self.file} that cannot be used and are left out: "
                f"{len(unusable.skipped)} ({abridge(unusable.skipped)})"
            )
        return (*remarks, *remarks_on_matches(by_stem, self.file))
