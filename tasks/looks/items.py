"""Drawn items in their order, sources or blocks, with their weights and counts for each rule."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from decaf.data.block_order import sources_in_order
from decaf.data.pairs import PairSet
from decaf.plan.study import Study

SOURCES = "source_id"
COUNTS = ("row_count", "compared_count", "weight")


class Group(NamedTuple):
    """Subject of a rule: pairs of a type on a path, or clean images of a kind."""

    pair_type: str | None
    path: str | None
    variant: str | None


class Items(NamedTuple):
    """Drawn items with pairs or images of a group, in the drawn order."""

    place: NDArray[np.int64]
    """(n_sources,) item of every source of the study; -1 for a source outside the group."""
    block: NDArray[np.int64]
    """(n_items,) block in which the item is scored."""
    weight: NDArray[np.float64]
    """(n_items,) sum of the weights of the item's trajectories, or number of its images."""
    row_count: NDArray[np.int64]
    """(n_items,) number of trajectories or images."""
    source_count: NDArray[np.int64]
    """(n_items,) number of sources."""


class DrawnSources:
    """Sources of a study in the drawn order."""

    def __init__(self, study: Study, pairs: PairSet) -> None:
        self.study, self.pairs = study, pairs
        blocks = sources_in_order(pairs, study.blocks(pairs))
        self.place_of = {name: n for n, name in enumerate(s for block in blocks for s in block)}
        self._place_of_code = np.array([self.place_of[name] for name in pairs.pairs.sources.values])
        self.block = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])

    @property
    def source_count(self) -> int:
        """Number of sources of the study."""
        return len(self.place_of)

    def sources_before(self, block: int) -> int:
        """Number of sources in the blocks before ``block``."""
        return int(np.searchsorted(self.block, block))

    def of_trajectories(self) -> dict[Group, Items]:
        """Items of trajectories by pair type and path."""
        pairs = self.pairs.pairs
        source, weight = self._place_of_code[pairs.sources.codes], pairs.weights
        groups = {}
        for code, pair_type in enumerate(pairs.pair_types.values):
            is_of_type = pairs.pair_types.codes == code
            for name, path in self.study.paths.items():
                if path.pair_types is None or pair_type in path.pair_types:
                    numbers = source[is_of_type], weight[is_of_type]
                    group = Group(pair_type, name, None)
                    groups[group] = self._items(*numbers, path.repetitions)
        return groups

    def of_images(self) -> dict[Group, Items]:
        """Items of clean images by kind; an image belongs to its first source by name."""
        pairs, inputs = self.pairs.pairs, self.pairs.inputs
        rank = np.argsort(pairs.source_order)[pairs.sources.codes]
        first = np.full(len(inputs), len(self.place_of))
        for position in (pairs.plus, pairs.minus):
            np.minimum.at(first, position, rank)
        is_used = first < len(self.place_of)
        source = self._place_of_code[pairs.source_order[first[is_used]]]
        variants = inputs.variants.take(np.flatnonzero(is_used))
        return {
            Group(None, None, variant): self._items(source[variants.codes == code])
            for code, variant in enumerate(variants.values)
        }

    def _items(
        self,
        source: NDArray[np.int64],
        weight: NDArray[np.float64] | None = None,
        repetitions: int = 1,
    ) -> Items:
        weight = np.ones(source.size) if weight is None else weight
        count = self.source_count
        item = self.block if self.study.stop and self.study.stop.by_class else np.arange(count)
        of_source = np.bincount(source, minlength=count)
        items, place = np.unique(item[of_source > 0], return_inverse=True)
        place_of_source = np.full(count, -1)
        place_of_source[of_source > 0] = place
        item_of_row = place_of_source[source]
        block = np.zeros(items.size, np.int64)
        block[place] = self.block[of_source > 0]
        return Items(
            place_of_source,
            block,
            np.bincount(item_of_row, weight, minlength=items.size) * repetitions,
            np.bincount(item_of_row, minlength=items.size) * repetitions,
            np.bincount(place, minlength=items.size),
        )

    def sum_items(
        self, sums: pa.Table, items: Items, columns: Iterable[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Sum columns over the sources of each item; (n_items,) by column, 0 without sources.

        ``sums`` has a row for each scored source.
        """
        sources = sums[SOURCES].to_pylist()
        place = items.place[[self.place_of[name] for name in sources]] if sources else []
        item_of_row = np.asarray(place, np.int64)
        is_known = item_of_row >= 0
        return {
            name: np.bincount(
                item_of_row[is_known],
                np.nan_to_num(sums[name].to_numpy().astype(np.float64))[is_known],
                minlength=items.block.size,
            )
            for name in (*COUNTS, *columns)
        }
