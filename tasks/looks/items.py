"""What is drawn, in its order: sources, or blocks, with what each has of every rule's pairs."""

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
    """What a rule is about: pairs of a type on a path, or clean images of a kind."""

    pair_type: str | None
    path: str | None
    variant: str | None


class Items(NamedTuple):
    """What is drawn and has anything of a group, in the drawn order."""

    place: NDArray[np.int64]
    """(n_sources,) item of every source of the study; -1 of one that has nothing of the group."""
    block: NDArray[np.int64]
    """(n_items,) block in which it is scored."""
    weight: NDArray[np.float64]
    """(n_items,) sum of the weights of its trajectories, or number of its images."""
    row_count: NDArray[np.int64]
    """(n_items,) its trajectories or images."""
    source_count: NDArray[np.int64]
    """(n_items,) its sources."""


class DrawnSources:
    """Sources of a study in the order that is drawn."""

    def __init__(self, study: Study, pairs: PairSet) -> None:
        self.study, self.pairs = study, pairs
        blocks = sources_in_order(pairs, study.blocks(pairs))
        self.place_of = {name: n for n, name in enumerate(s for block in blocks for s in block)}
        self._place_of_code = np.array([self.place_of[name] for name in pairs.pairs.sources.values])
        self.block = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])

    @property
    def source_count(self) -> int:
        """Sources of the study."""
        return len(self.place_of)

    def sources_before(self, block: int) -> int:
        """Sources of the blocks before one."""
        return int(np.searchsorted(self.block, block))

    def of_trajectories(self) -> dict[Group, Items]:
        """By pair type and path: trajectories of every item."""
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
        """By kind of clean image: images of every item, each with the source first by name."""
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
        own = place_of_source[source]
        block = np.zeros(items.size, np.int64)
        block[place] = self.block[of_source > 0]
        return Items(
            place_of_source,
            block,
            np.bincount(own, weight, minlength=items.size) * repetitions,
            np.bincount(own, minlength=items.size) * repetitions,
            np.bincount(place, minlength=items.size),
        )

    def summed(
        self, sums: pa.Table, items: Items, columns: Iterable[str]
    ) -> dict[str, NDArray[np.float64]]:
        """(n_items,) sums of what the sources of each item have, by column; 0 where there is none.

        ``sums`` has a row for each source that was scored.
        """
        sources = sums[SOURCES].to_pylist()
        place = items.place[[self.place_of[name] for name in sources]] if sources else []
        own = np.asarray(place, np.int64)
        is_known = own >= 0
        return {
            name: np.bincount(
                own[is_known],
                np.nan_to_num(sums[name].to_numpy().astype(np.float64))[is_known],
                minlength=items.block.size,
            )
            for name in (*COUNTS, *columns)
        }
