"""Features from COCO annotations: segmentations, and boxes if the study sets ``boxes``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from decaf.data.coco_files import Annotated, Annotation, read_coco
from decaf.data.coco_masks import (
    check_segmentation,
    encloses_nothing,
    mask_of,
    rectangle_of,
    valid_polygons,
)
from decaf.data.features import AnnotatedFeatures, Image, Masked, Named, Words, mask_input
from decaf.data.input_store import unusable
from decaf.data.photo_files import Header
from decaf.data.same_names import match_names, remarks_on_matches
from decaf.data.upright_masks import turned_upright
from decaf.errors import DataError, abridge, number_of, suggestion
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath, ShownName

NOTHING = Annotated((0, 0), [])
"""Annotations of an image that the file does not list."""


@dataclass
class Findings:
    """Annotations of the audited images without a usable mask."""

    faults: dict[str, None] = field(default_factory=dict)
    boxes: list[str] = field(default_factory=list)
    """Annotations with a box and no segmentation."""
    skipped: list[str] = field(default_factory=list)


class CocoMasks(AnnotatedFeatures):
    """Segmentations of COCO annotations; an image has the features that are annotated in it."""

    kind: Literal["coco"]
    file: PlacedPath = Field(description="COCO annotations, JSON")
    by: Literal["category", "supercategory"] = Field(
        "category", description="level of COCO's categories that makes a feature"
    )
    groups: dict[ShownName, tuple[str, ...]] = Field(
        {},
        description="features of several of them, by name, as in `{head: [dog head, cat head]}`; "
        "by default, each is a feature",
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
    has_keys: ClassVar[bool] = True
    """True if a study sets the keys above; boxes without segmentation are then refused."""

    def feature_name(self, category: str, supercategory: str) -> str:
        """Name of a feature without a group."""
        return category if self.by == "category" else supercategory

    def select_polygons(self, segmentation: Any) -> Any:
        """Segmentation with the polygons to decode, by default all polygons."""
        return segmentation

    def of(self, images: Sequence[Image]) -> Named:
        """Features of images; the file names images by path, or by file name if that is unique."""
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
            key: [place for place, members in enumerate(groups.values(), 1) if name in members]
            for key, name in names.items()
        }
        of_image: list[Masked | None] = []
        findings = Findings(skipped=[*coco.skipped])
        matches = match_names([image.name for image in images], coco.images, str(self.file))
        for image in images:
            annotated = coco.images.get(matches.of_image.get(image.name, ""), NOTHING)
            parts = [
                [place, segmentation]
                for part in annotated.parts
                if numbers_of[part.category]
                for segmentation in self._segmentations(part, annotated, image.name, findings)
                for place in numbers_of[part.category]
            ]
            numbers = sorted({place for place, _ in parts})
            shape = [*annotated.size, parts]
            mask = mask_input(image.name, [str(self.file), image.name, *shape], shape)
            of_image.append(Masked(numbers, mask) if parts else None)
        self._refuse(findings)
        return Named(list(groups), of_image, self._remarks(findings, matches.by_stem))

    def words(self, given: Any, turn: int = 1) -> Words:
        """Decode the segmentations of an image."""
        file, image, width, height, parts = given
        words = np.zeros((height, width), np.uint64)
        for place, segmentation in parts:
            try:
                mask = mask_of(self.select_polygons(segmentation), height, width)
            except ValueError as error:
                raise DataError(f"annotations {file}, image {image}: {error}") from error
            earlier = np.uint64(0) if self.is_disjoint else words[mask]
            words[mask] = earlier | np.uint64(1 << place - 1)
        return turned_upright(words, turn)

    def headers(self, given: Any) -> dict[str, Header]:
        """Size of the image in the file of annotations."""
        return {given[0]: Header((given[2], given[3]))}

    def _segmentations(
        self, part: Annotation, annotated: Annotated, image: str, findings: Findings
    ) -> list[Any]:
        """Segmentation of an annotation, or of its box; empty if it is skipped or refused."""
        where, (width, height) = f"{part.name} of image {image}", annotated.size
        segmentation = part.segmentation
        try:
            if self.has_keys and encloses_nothing(segmentation):
                rectangle = rectangle_of(part.box)
                if rectangle and not self.boxes:
                    findings.boxes.append(where)
                    return []
                segmentation = [rectangle] if rectangle else segmentation
            check_segmentation(self.select_polygons(segmentation), height, width)
        except ValueError as error:
            if not self.skip_invalid:
                findings.faults[f"{where}: {error}"] = None
                return []
            findings.skipped.append(where)
            polygons = valid_polygons(segmentation)
            return [polygons] if polygons else []
        return [segmentation]

    def _refuse(self, findings: Findings) -> None:
        if findings.boxes:
            raise DataError(
                f"{self.file} has {number_of(len(findings.boxes), 'annotation')} with a box and "
                f"no segmentation ({abridge(findings.boxes)}); add segmentations, or set 'boxes: "
                "as_masks' in 'features:' to use the boxes as masks"
            )
        if findings.faults:
            cure = "; correct them, or set 'skip_invalid: true' in 'features:'" * self.has_keys
            raise unusable(findings.faults, "annotations", f" in {self.file}{cure}")

    def _remarks(self, findings: Findings, by_stem: dict[str, str]) -> tuple[str, ...]:
        remarks = []
        if findings.skipped:
            remarks.append(
                f"annotations or polygons of {self.file} that cannot be used and are left out: "
                f"{len(findings.skipped)} ({abridge(findings.skipped)})"
            )
        return (*remarks, *remarks_on_matches(by_stem, self.file))
