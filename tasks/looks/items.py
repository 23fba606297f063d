"""Items that early stopping draws, in the drawn order, with their weights and counts.

An item is a source, or a block if the study has ``stop: by_class``.
"""

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


class Subject(NamedTuple):
    """Pairs of one type on one path, or clean images of one variant.

    ``variant`` is None for pairs; the other fields are None for images.
    """

    pair_type: str | None
    path: str | None
    variant: str | None


class Items(NamedTuple):
    """Drawn items with pairs or images of a subject, in the drawn order."""

    item_of_source: NDArray[np.int64]
    """(n_sources,) item of every source, in the drawn order; -1 for one without the subject."""
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
        self.rank_of = {name: n for n, name in enumerate(s for block in blocks for s in block)}
        """Position of each source in the drawn order, by name."""
        self._rank_of_code = np.array([self.rank_of[name] for name in pairs.pairs.sources.values])
        self.block_of_rank = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        """(n_sources,) block of every source, in the drawn order."""

    @property
    def source_count(self) -> int:
        """Number of sources of the study."""
        return len(self.rank_of)

    def sources_before(self, block: int) -> int:
        """Number of sources in the blocks before ``block``."""
        return int(np.searchsorted(self.block_of_rank, block))

    def trajectory_items(self) -> dict[Subject, Items]:
        """Items of trajectories by pair type and path."""
        pairs = self.pairs.pairs
        source, weight = self._rank_of_code[pairs.sources.codes], pairs.weights
        items = {}
        for code, pair_type in enumerate(pairs.pair_types.values):
            is_of_type = pairs.pair_types.codes == code
            for name, path in self.study.paths.items():
                if path.pair_types is None or pair_type in path.pair_types:
                    items[Subject(pair_type, name, None)] = self._items(
                        source[is_of_type], weight[is_of_type], path.repetitions
                    )
        return items

    def image_items(self) -> dict[Subject, Items]:
        """Items of clean images by variant.

        An image that several sources share is counted for the source whose name sorts first.
        """
        pairs, inputs = self.pairs.pairs, self.pairs.inputs
        name_rank = np.argsort(pairs.source_order)[pairs.sources.codes]
        first = np.full(len(inputs), self.source_count)
        for position in (pairs.plus, pairs.minus):
            np.minimum.at(first, position, name_rank)
        is_used = first < self.source_count
        source = self._rank_of_code[pairs.source_order[first[is_used]]]
        variants = inputs.variants.take(np.flatnonzero(is_used))
        return {
            Subject(None, None, variant): self._items(source[variants.codes == code])
            for code, variant in enumerate(variants.values)
        }

    def _items(
        self,
        source: NDArray[np.int64],
        weight: NDArray[np.float64] | None = None,
        repetitions: int = 1,
    ) -> Items:
        """Items with some rows; the arguments are the rank of each row's source, and its weight.

        Blocks are drawn as a whole if the study has ``stop: by_class``, else sources are.
        """
        weight = np.ones(source.size) if weight is None else weight
        count = self.source_count
        is_by_class = self.study.stop and self.study.stop.by_class
        drawn_unit = self.block_of_rank if is_by_class else np.arange(count)
        has_rows = np.bincount(source, minlength=count) > 0
        items, item = np.unique(drawn_unit[has_rows], return_inverse=True)
        item_of_source = np.full(count, -1)
        item_of_source[has_rows] = item
        item_of_row = item_of_source[source]
        block = np.zeros(items.size, np.int64)
        block[item] = self.block_of_rank[has_rows]
        return Items(
            item_of_source,
            block,
            np.bincount(item_of_row, weight, minlength=items.size) * repetitions,
            np.bincount(item_of_row, minlength=items.size) * repetitions,
            np.bincount(item, minlength=items.size),
        )

    def sum_items(
        self, sums: pa.Table, items: Items, columns: Iterable[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Sum :data:`COUNTS` and ``columns`` over the sources of each item; (n_items,) by column.

        ``sums`` has a row for each scored source. A sum without sources is 0.
        """
        ranks = np.array([self.rank_of[name] for name in sums[SOURCES].to_pylist()], np.int64)
        item_of_row = items.item_of_source[ranks]
        has_item = item_of_row >= 0
        return {
            name: np.bincount(
                item_of_row[has_item],
                np.nan_to_num(sums[name].to_numpy().astype(np.float64))[has_item],
                minlength=items.block.size,
            )
            for name in (*COUNTS, *columns)
        }
