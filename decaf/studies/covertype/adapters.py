"""Covertype under two contexts: the effect of one binary factor on rows of a table.

The model scores each test row with the factor at +1 and at -1, in the context of the endpoint and
in the other context: four valid inputs, equal for all models (paper, section 5, appendix I).
"""

import hashlib
from functools import cached_property
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.factual import FactualRows
from decaf.data.pairs import Input, Pair, PairSet
from decaf.studies.covertype.channels import (
    ALTERNATE,
    CONTEXT,
    ENDPOINT,
    FACTOR,
    Channels,
    with_channels,
)
from decaf.studies.covertype.recipes import CovertypeClassifier
from decaf.studies.covertype.splits import CovertypeTable

INPUTS = "covertype 1: 54 standardised features, context, factor"
"""Names how inputs are made; changes when a change here changes them."""
SPLIT: Final = "test"
COVERS = ("spruce or fir", "lodgepole pine")
"""Cover types 1 and 2, by label."""

QUERIES = {
    "endpoint_plus": (ENDPOINT, 1),
    "endpoint_minus": (ENDPOINT, -1),
    "alternate_plus": (ALTERNATE, 1),
    "alternate_minus": (ALTERNATE, -1),
}
"""Context and factor of the four legal inputs of a row, by variant."""


class Covertype(Adapter):
    """Pairs of a test row with the factor at +1 and at -1, and the same under the other context."""

    shared_with_recipes: ClassVar = {"table": "so rows of its training may be audited"}
    adapter: Literal["covertype"]
    table: CovertypeTable = Field(
        description="mapping of `file` and `drawn_per_class`, as in the models' recipes"
    )
    audited_per_class: int | None = Field(
        None,
        gt=0,
        le=1_000_000,
        description="number of test rows of each class, the first in the file; all when absent",
    )

    def pair_set(self) -> PairSet:
        """One pair for each test row, for a context path: the positions of all four inputs."""
        part = self.table.part(SPLIT)
        places = part.lowest(self.audited_per_class)
        images, pairs = [], []
        for number, place in enumerate(places.tolist()):
            source = f"row-{part.row[place]:06d}"
            images += [
                Input(
                    image_id=f"{source}/{variant}",
                    variant=variant,
                    digest=hashlib.sha256(self._inputs[position, place]).hexdigest(),
                    location=f"{position}/{place}",
                )
                for position, variant in enumerate(QUERIES)
            ]
            first = len(QUERIES) * number
            pairs.append(
                Pair(
                    pair_id=f"{source}__factor",
                    source_id=source,
                    pair_type="factor",
                    class_id=int(part.label[place]),
                    split=SPLIT,
                    plus=first,
                    minus=first + 1,
                    context=(first + 2, first + 3),
                )
            )
        drawn = f"table: {self.table.drawn_per_class:,} rows drawn of each of cover types 1 and 2"
        return PairSet(tuple(images), tuple(pairs), INPUTS, (drawn,), class_names=COVERS)

    def verify(self, pairs: PairSet) -> None:
        """Accept: all inputs are rows of one table."""

    def describe(self, pairs: PairSet, pair: Pair) -> str:
        """The cover of the row, its number in the table, and what changes in it."""
        row = int(pair.source_id.removeprefix("row-"))
        return f"{COVERS[pair.class_id]}, row {row:,}: factor +1 → −1"

    def read_input(self, image: Input) -> NDArray[np.float32]:
        """(56,) natural features, context and factor of one input."""
        position, place = map(int, image.location.split("/"))
        return self._inputs[position, place]

    def factual_rows(self, recipe: CovertypeClassifier) -> FactualRows:
        """The audited rows with the channels that a model's recipe draws for their split."""
        inputs, label = recipe.rows(SPLIT, self.audited_per_class)
        return FactualRows(inputs, label, CONTEXT, FACTOR)

    @cached_property
    def _inputs(self) -> NDArray[np.float32]:
        """(4, n, 56) every test row under every query; computed once for all reads."""
        features = self.table.part(SPLIT).features
        channels = (np.full((2, len(features)), [[c], [f]]) for c, f in QUERIES.values())
        return np.stack([with_channels(features, Channels(*columns)) for columns in channels])
