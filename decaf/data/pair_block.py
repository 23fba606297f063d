"""A block of pairs as arrays: the pairs that a worker scores at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import feature_words
from decaf.errors import DataError


@dataclass(frozen=True)
class PairBlock:
    """A block of pairs as arrays: the pairs that a worker scores at once.

    ``plus`` and ``minus`` (n_pairs,) index the images of the block, ``input_positions`` are the
    places of these images in the input store, ``source`` numbers the sources from 0. ``shape`` is
    that of each stored image, and ``mask_shape`` that of its mask, if the store has several.
    ``feature`` (n_pairs,) is the feature that the pair is about, 0 for none, and ``context``
    (n_pairs, 2) both inputs under the swapped context, -1 for a pair without one, or None if no
    pair has one.
    ``regions`` (n_images, …) are the features of every pixel or column, bit k - 1 for feature k,
    if the data have features; ``mask_positions`` (n_images,) are the places of these masks in
    the store.
    """

    pair_ids: tuple[str, ...]
    source_ids: tuple[str, ...]
    image_ids: tuple[str, ...]
    input_positions: NDArray[np.int64]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    source: NDArray[np.int64]
    class_id: NDArray[np.int64]
    feature: NDArray[np.int64]
    context: NDArray[np.int64] | None = None
    mask_positions: NDArray[np.int64] | None = None
    regions: NDArray[np.unsignedinteger] | None = None
    shape: tuple[int, ...] | None = None
    mask_shape: tuple[int, ...] | None = None
    pair_types: tuple[str, ...] = ()
    """(n_pairs,) the change that makes the counterfactual; empty if pairs have no types."""

    @property
    def pair_count(self) -> int:
        """Pairs of the block."""
        return len(self.pair_ids)

    def removed_region(self) -> NDArray[np.bool_]:
        """(n_pairs, …) pixels or columns of the factual input where the removed feature lies."""
        regions = cast("NDArray[np.unsignedinteger]", self.regions)
        words = feature_words(self.feature).reshape(-1, *[1] * (regions.ndim - 1))
        return (regions[self.plus] & words) > 0

    def rows_of_types(self, pair_types: Sequence[str] | None) -> NDArray[np.int64]:
        """Rows of the pairs of some types; of all pairs for None.

        Raises DataError when the pairs have no types.
        """
        if pair_types is None:
            return np.arange(self.pair_count)
        if not self.pair_types:
            raise DataError(
                f"a path has 'pair_types: {', '.join(pair_types)}', and these pairs have no types; "
                "remove 'pair_types:'"
            )
        return np.flatnonzero(np.isin(self.pair_types, list(pair_types)))

    def of_rows(self, rows: NDArray[np.int64]) -> "PairBlock":
        """Some of the pairs, with the inputs and sources of all of them."""
        return replace(
            self,
            pair_ids=tuple(self.pair_ids[row] for row in rows),
            plus=self.plus[rows],
            minus=self.minus[rows],
            source=self.source[rows],
            class_id=self.class_id[rows],
            feature=self.feature[rows],
            context=None if self.context is None else self.context[rows],
            pair_types=tuple(self.pair_types[row] for row in rows) if self.pair_types else (),
        )
