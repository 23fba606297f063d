"""Kinds of features: cells of a grid, mask files, label maps, and COCO annotations."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import Field, model_validator

from decaf.data.cells import cell_map, feature_words
from decaf.data.coco_features import CocoMasks
from decaf.data.features import (
    AnnotatedFeatures,
    BitMask,
    Features,
    Image,
    Masked,
    Named,
    mask_input,
)
from decaf.data.photo_files import Header, read_header, read_levels, remark_on_grey_masks
from decaf.data.same_names import match_names, other_suffixes, remarks_on_matches
from decaf.data.table_files import read_table
from decaf.errors import DataError, abridge, number_of
from decaf.foundation.digests import file_sha256
from decaf.foundation.files import convert_os_errors, describe_link, is_inside
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath, ShownName, fault, require_keys

IMAGE, FEATURE = "{image}", "{feature}"
"""Placeholders in a pattern: an image's path below its folder, without suffix; and a feature."""
VOID = 255
"""Number that label maps use for pixels without a label."""


class Grid(Features):
    """Cells of every image as it is cropped, row by row."""

    kind: Literal["grid"]
    side: int = Field(4, ge=1, le=8, description="cells a side")

    def name_features(self, images: Sequence[Image]) -> Named:
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
                    f"{self.side} cells per side needs at least {self.side} x {self.side}"
                )
        masks = {size: mask_input("grid", [*size, self.side]) for size in sizes.values()}
        return Named(names, [Masked(numbers, masks[sizes[image.name]]) for image in images])

    def decode_mask(self, location: Any, turn: int = 1) -> BitMask:
        """Cells of an image of a width and height, which is turned before it is divided."""
        width, height, side = location
        return feature_words(cell_map((height, width), side) + 1)


class Masks(AnnotatedFeatures):
    """One mask file for each image and feature; pixels other than 0 belong to the feature."""

    kind: Literal["masks"]
    files: str | None = Field(
        None,
        description="files of the masks, as in `masks/{image}_{feature}.png`; `{image}` is the "
        "path of an image below its folder, without suffix; with one name, `{feature}` may be "
        "absent",
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
            keys = ", ".join(
                f"'{key}'" for key in ("files", "names", "table") if getattr(self, key)
            )
            raise fault(
                f"found {keys or 'no key for masks'}; give either 'files' and 'names', or 'table'"
            )
        if self.files is not None:
            _check_pattern(self.files, (IMAGE, FEATURE) if len(self.names) > 1 else (IMAGE,))
        return self

    def name_features(self, images: Sequence[Image]) -> Named:
        """All named features of each image, or the features that the table lists for the image."""
        if self.files is not None:
            names = list(self.names)
            files = {
                image.name: {name: _find_file(self.files, image, name) for name in names}
                for image in images
            }
            placed = [file for by_feature in files.values() for file in by_feature.values()]
            remarks = _remarks_on_files(images, placed, self.files)
        else:
            names, of_table = self._of_table()
            matches = match_names(
                [image.name for image in images], of_table, str(self.table), has_paths=True
            )
            files = {image: of_table[name] for image, name in matches.of_image.items()}
            remarks = remarks_on_matches(matches.by_stem, self.table)
            placed = [file for by_feature in files.values() for file in by_feature.values()]
        number = {name: feature for feature, name in enumerate(names, 1)}
        masked = [self._make_mask(image, files.get(image.name), number) for image in images]
        grey = remark_on_grey_masks(placed)
        return Named(names, masked, (*remarks, grey) if grey else remarks)

    def _make_mask(
        self, image: Image, files: dict[str, Path] | None, number: dict[str, int]
    ) -> Masked | None:
        if files is None:
            return None
        numbers = [number[name] for name in files]
        parts = list(zip(numbers, map(str, files.values()), strict=True))
        digests = list(zip(numbers, map(_digest, files.values()), strict=True))
        return Masked(numbers, mask_input(image.name, parts, digests))

    def decode_mask(self, location: Any, turn: int = 1) -> BitMask:
        """Join the masks of an image."""
        levels = ((feature, read_levels(Path(file), turn)) for feature, file in location)
        return reduce(np.bitwise_or, ((mask > 0) * np.uint64(1 << k - 1) for k, mask in levels))

    def headers(self, location: Any) -> dict[str, Header]:
        """Size and orientation of every file."""
        return {file: read_header(Path(file)) for _, file in location}

    def _of_table(self) -> tuple[list[str], dict[str, dict[str, Path]]]:
        """Names in their order, and files by image and name."""
        place = cast("Path", self.table)
        table, folder = read_table(place), place.parent
        if lacking := [name for name in ("image", "feature", "mask") if name not in table]:
            raise DataError(f"table {self.table} has no column {quote(lacking[0])}")
        files: dict[str, dict[str, Path]] = {}
        rows = zip(table["image"], table["feature"], table["mask"], strict=True)
        for row, (image, feature, mask) in enumerate(rows, 1):
            where = f"table {self.table}, row {row}"
            if not (image and feature and mask):
                raise DataError(f"{where}: a cell is empty; expected image, feature and mask")
            if not is_inside(folder / mask, folder):
                remedy = describe_link(folder / mask, folder) or "put it there"
                raise DataError(f"{where}: {quote(mask)} lies outside of {folder}; {remedy}")
            if feature in files.setdefault(image, {}):
                raise DataError(f"{where}: {quote(image)} has {quote(feature)} twice")
            files[image][feature] = (folder / mask).resolve()
        return sorted({name for by_name in files.values() for name in by_name}), files


class LabelMaps(AnnotatedFeatures):
    """One file for every image, whose pixels are numbers of features, 0 for none."""

    kind: Literal["label_maps"]
    files: str = Field(description="files of the label maps, as in `parts/{image}.png`")
    names: tuple[ShownName, ...] = Field(
        min_length=1, description="features of every image, those of the numbers 1, 2, …"
    )
    ignore: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = Field(
        (),
        description="numbers of pixels without a feature, as `[255]` for void; a name whose number "
        "is ignored is not audited",
    )

    @model_validator(mode="after")
    def _has_a_place(self) -> "LabelMaps":
        _check_pattern(self.files, (IMAGE,))
        return self

    def name_features(self, images: Sequence[Image]) -> Named:
        """Named features of every image, without those whose numbers are ignored."""
        count = len(self.names)
        numbers = [number for number in range(1, count + 1) if number not in self.ignore]
        ignored = [sorted({*self.ignore})] if self.ignore else []
        masks = []
        files = {image.name: _find_file(self.files, image) for image in images}
        for image, file in files.items():
            content = [_digest(file), count, *ignored]
            masks.append(mask_input(image, [str(file), count, *ignored], content))
        remarks = _remarks_on_files(images, files.values(), self.files)
        return Named(list(self.names), [Masked(numbers, mask) for mask in masks], remarks)

    def decode_mask(self, location: Any, turn: int = 1) -> BitMask:
        """Bits of the numbers; raises DataError for numbers beyond the names."""
        file, count, *ignored = location
        numbers = read_levels(Path(file), turn)
        if ignored:
            numbers[np.isin(numbers, ignored[0])] = 0
        if (last := int(numbers.max())) > count:
            raise DataError(
                f"label map {file} has the number {last}; expected 0 for no feature, and 1 to "
                f"{count}, which have 'names'{_advice(last)}"
            )
        return feature_words(numbers)

    def headers(self, location: Any) -> dict[str, Header]:
        """Size and orientation of the file."""
        return {location[0]: read_header(Path(location[0]))}


AnyFeatures = Annotated[Grid | Masks | LabelMaps | CocoMasks, Field(discriminator="kind")]


def _check_pattern(pattern: str, places: tuple[str, ...]) -> None:
    require_keys(
        ("files", place in pattern, f"{place} in it, as in parts/{place}.png") for place in places
    )


def _find_file(pattern: str, image: Image, feature: str = "") -> Path:
    """Path that a pattern names, or the only file that differs from it in the suffix's case."""
    name = str(Path(image.name).with_suffix(""))
    file = Path(pattern.replace(FEATURE, feature).replace(IMAGE, name)).absolute()
    if file.exists():
        return file
    alike = [near for near in other_suffixes(file) if near.suffix.lower() == file.suffix.lower()]
    return alike[0] if len(alike) == 1 else file


def _remarks_on_files(
    images: Sequence[Image], files: Iterable[Path], pattern: str
) -> tuple[str, ...]:
    """Remarks that list masks with a suffix in other capitals, and images that share masks."""
    suffix, remarks = Path(pattern).suffix, []
    different = [f.name for f in files if f.suffix != suffix and f.suffix.lower() == suffix.lower()]
    if different:
        remarks.append(
            f"{number_of(len(different), 'mask')} used although the case of the suffix differs "
            f"from 'files: {pattern}': {abridge(different)}"
        )
    of_stem = Counter(Path(image.name).with_suffix("") for image in images)
    shared = [
        shared_image.name
        for shared_image in images
        if of_stem[Path(shared_image.name).with_suffix("")] > 1
    ]
    if shared:
        remarks.append(f"images that differ only in the suffix, so share masks: {abridge(shared)}")
    return tuple(remarks)


def _digest(file: Path) -> str:
    names = [near.name for near in other_suffixes(file)] if not file.exists() else []
    advice = f"there is {abridge(names)}; correct 'files', or " if names else ""
    remedy = f"{advice}save an empty mask for a hidden feature, or correct 'files'"
    with convert_os_errors(DataError, f"mask {file} cannot be read", remedy):
        return file_sha256(file)


def _advice(number: int) -> str:
    custom = " (usually void)" * (number == VOID)
    return f"; if {number}{custom} is not a feature, add 'ignore: [{number}]' to 'features:'"
