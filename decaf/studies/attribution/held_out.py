"""Images with parts replaced by operators that no path uses, to benchmark attributions.

Each pair is an image and a changed copy, of a type such as ``telea__beak``. No path names these
types, so decaf scores only the two clean inputs.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.image_features import FeaturedImages, Row, rows_of
from decaf.data.cells import feature_words
from decaf.data.features import Lie
from decaf.data.inputs import InputColumns
from decaf.data.pair_columns import PairColumns
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.digests import hashed_word, json_sha256
from decaf.foundation.extras import Installed
from decaf.foundation.settings import PlacedPath, require_keys
from decaf.studies.attribution.operators import CODE, Operator, remove_part


class Without(NamedTuple):
    """An image after an operator removed one of its features."""

    removal: Pair
    """The pair of that image with itself."""
    means: str
    """Name of the operator that removed the feature."""
    digest: str
    location: str
    file: str | None


def with_endpoints(given: PairSet, made: Iterable[Without]) -> PairSet:
    """Add a pair of each image and its copy without a feature; both share the mask."""
    inputs, pairs, masks = list(given.inputs), list(given.pairs), list(given.masks)
    for endpoint in made:
        plus, name = endpoint.removal.plus, f"{endpoint.means}__{endpoint.removal.pair_type}"
        pair_id = f"{given.inputs[plus].image_id}__{name}"
        pairs.append(replace(endpoint.removal, pair_id=pair_id, pair_type=name, minus=len(inputs)))
        shape = given.inputs[plus].shape
        inputs.append(
            Input(pair_id, name, endpoint.digest, endpoint.location, endpoint.file, shape)
        )
        masks.append(given.masks[plus])
    return replace(
        given, inputs=InputColumns.of(inputs), pairs=PairColumns.of(pairs), masks=tuple(masks)
    )


class HeldOut(FeaturedImages, ABC):
    """Images whose features are also replaced by operators."""

    images: Annotated[int, Field(ge=1, le=1_000_000)] | PlacedPath | None = Field(
        None,
        description="images to audit: their number, drawn by hash, or a file of their paths in the "
        "folder of the split: `.txt`, one a line, or a table with the column `image`; all when "
        "absent",
    )
    operators: tuple[Operator, ...] = Field(
        (),
        description="also replace each part ([how](studies/attribution.md#operators))",
    )

    annotations: Lie | None = Field(
        None,
        description="as `annotations:` of [images with features](data.md#images-with-features)",
    )

    @model_validator(mode="after")
    def _operators_fit(self) -> "HeldOut":
        fits = not self.operators or self.channels == 3
        require_keys([("operators", fits, "'channels: 3', since operators replace colours")])
        return self

    def pair_set(self) -> PairSet:
        """Pair images with themselves, then with the result of each operator; decodes no image.

        Raises DataError as for any images with features, and MissingPackage without OpenCV.
        """
        if "telea" in self.operators:
            Installed("cv2")()
        all_pairs = super().pair_set()
        return with_endpoints(
            all_pairs,
            (self._remove_part(all_pairs, p, o) for p in all_pairs.pairs for o in self.operators),
        )

    @abstractmethod
    def _every(self) -> tuple[list[Row], tuple[str, ...]]:
        """All images that can be drawn, in the order of their paths, and remarks."""

    def _rows(self) -> tuple[list[Row], tuple[str, ...]]:
        folder = self._places()[0]
        if isinstance(self.images, Path):
            return rows_of(folder, self.images)
        rows, remarks = self._every()
        count = len(rows) if self.images is None else self.images
        if len(rows) < count:
            raise DataError(
                f"{folder} has {len(rows)} images to draw from, and the study asks for {count}; "
                "ask for fewer in 'images:'"
            )
        drawn = sorted(rows, key=lambda row: hashed_word(f"{self.adapter}|{row.image}"))
        return sorted(drawn[:count]), remarks

    def _remove_part(self, given: PairSet, removal: Pair, operator: Operator) -> Without:
        image, mask = given.inputs[removal.plus], given.masks[removal.plus]
        made_of = [operator, CODE, image.digest, mask.digest, removal.feature, image.image_id]
        location = json.dumps(
            [operator, image.location, mask.location, removal.feature, image.image_id]
        )
        return Without(removal, operator, json_sha256(made_of), location, None)

    def read_input(self, image: Input) -> NDArray[np.uint8]:
        """Read an image; if an operator made it, replace the part of the original photo."""
        if image.file is not None:
            return super().read_input(image)
        operator, photo, mask, feature, name = json.loads(image.location)
        words = self.read_mask(replace(image, location=mask))
        part = words & feature_words(np.array(feature)) > 0
        clean = super().read_input(replace(image, location=photo))
        return remove_part(operator, clean, part, words > 0, f"{name}|{feature}")
