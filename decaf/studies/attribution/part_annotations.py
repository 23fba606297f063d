"""Masks of the parts of objects, from annotations in the form of PartImageNet."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from decaf.data.coco_features import CocoMasks
from decaf.data.coco_files import read_coco
from decaf.data.features import Image, Masked, Named, check_count
from decaf.foundation.digests import json_sha256

FEWEST, MOST = 2, 8
"""Parts of an image: one has no ranking, and exact Shapley values take eight."""
RULE = "the last part of a pixel"
"""Rule for overlapping parts; it is part of the digest of a mask."""


class PartAnnotations(CocoMasks):
    """Parts by the names that all kinds of objects share; a pixel belongs to only one part."""

    kind: Literal["coco"] = "coco"
    is_disjoint: ClassVar[bool] = True
    is_configurable: ClassVar[bool] = False
    condition: ClassVar[str] = f"{FEWEST} to {MOST} parts that show"

    def feature_name(self, category: str, supercategory: str) -> str:
        """``foot`` of the category ``Bird Foot`` in ``Bird``, and of ``Reptile Foot``, too."""
        return (category.removeprefix(supercategory).strip() or category).lower()

    def name_features(self, images: Sequence[Image]) -> Named:
        """Decode the visible parts of each image; none if an image has too few or too many."""
        named = super().name_features(images)
        check_count(named.names)
        return named._replace(
            of_image=[masked and self._visible_parts(masked) for masked in named.of_image]
        )

    def select_polygons(self, segmentation: Any) -> Any:
        """Segmentation without polygons of one or two points, which PartImageNet has."""
        if not isinstance(segmentation, list):
            return segmentation
        return [
            polygon
            for polygon in segmentation
            if not (isinstance(polygon, list) and len(polygon) in (2, 4))
        ]

    def part_counts(self) -> dict[str, int]:
        """Number of parts of every image of the file, visible or not, by its ``file_name``."""
        coco = read_coco(self.file)
        return {
            name: len({self.feature_name(*coco.categories[part.category]) for part in image.parts})
            for name, image in coco.images.items()
        }

    def _visible_parts(self, one: Masked) -> Masked | None:
        shown = int(
            np.bitwise_or.reduce(self.decode_mask(json.loads(one.mask.location)), axis=None)
        )
        numbers = [number for number in one.numbers if shown >> number - 1 & 1]
        if not FEWEST <= len(numbers) <= MOST:
            return None
        return Masked(numbers, replace(one.mask, digest=json_sha256([RULE, one.mask.digest])))
