"""Pairs of a data set as columns, to plan studies of millions of pairs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from decaf.data.coded import Coded, code_texts, code_values
from decaf.data.records import Pair
from decaf.data.texts import Texts

Rows = NDArray[np.int64]
"""Row numbers of pairs, in a stated order."""
Groups = tuple[tuple[str, str], ...]
"""(name, value) of each group of a pair."""
NOWHERE = -1
"""Position that stands for a missing context."""


@dataclass(frozen=True, eq=False)
class PairColumns(Sequence[Pair]):
    """(n,) pairs, column by column; indexing returns a :class:`Pair`.

    Fields are those of :class:`Pair`; ``plus``, ``minus`` and ``contexts`` are positions of inputs.
    """

    pair_ids: Texts
    sources: Coded[Texts]
    pair_types: Coded[Texts]
    class_ids: NDArray[np.int64]
    splits: Coded[Texts]
    plus: NDArray[np.int64]
    minus: NDArray[np.int64]
    features: NDArray[np.int64]
    contexts: NDArray[np.int64] | None
    """(n, 2) positions, -1 for a pair without a context; None if no pair has one."""
    weights: NDArray[np.float64]
    groups: Coded[tuple[Groups, ...]]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> "PairColumns":
        """Columns of pairs; columns are returned unchanged.

        Raises DataError for a name that is not Unicode.
        """
        if isinstance(pairs, cls):
            return pairs
        all_pairs = [*pairs]
        contexts = [pair.context or (NOWHERE, NOWHERE) for pair in all_pairs]
        return cls(
            Texts(pair.pair_id for pair in all_pairs),
            code_texts(pair.source_id for pair in all_pairs),
            code_texts(pair.pair_type for pair in all_pairs),
            np.array([pair.class_id for pair in all_pairs], np.int64),
            code_texts(pair.split for pair in all_pairs),
            np.array([pair.plus for pair in all_pairs], np.int64),
            np.array([pair.minus for pair in all_pairs], np.int64),
            np.array([pair.feature for pair in all_pairs], np.int64),
            np.array(contexts, np.int64) if any(pair.context for pair in all_pairs) else None,
            np.array([pair.weight for pair in all_pairs], np.float64),
            code_values(pair.groups for pair in all_pairs),
        )

    def __len__(self) -> int:
        return len(self.pair_ids)

    @overload
    def __getitem__(self, row: int) -> Pair: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, row: int | slice) -> Pair | tuple[Pair, ...]:
        if isinstance(row, slice):
            return tuple(self[number] for number in range(*row.indices(len(self))))
        return Pair(
            pair_id=self.pair_ids[row],
            source_id=self.sources[row],
            pair_type=self.pair_types[row],
            class_id=int(self.class_ids[row]),
            split=self.splits[row],
            plus=int(self.plus[row]),
            minus=int(self.minus[row]),
            feature=int(self.features[row]),
            context=self._context(row),
            weight=float(self.weights[row]),
            groups=self.groups[row],
        )

    def __iter__(self) -> Iterator[Pair]:
        positions = np.full((len(self), 2), NOWHERE) if self.contexts is None else self.contexts
        contexts = (
            None if first == NOWHERE else (first, last) for first, last in positions.tolist()
        )
        columns = (
            *(self.pair_ids, self.sources.to_list(), self.pair_types.to_list()),
            *(self.class_ids.tolist(), self.splits.to_list(), self.plus.tolist()),
            *(self.minus.tolist(), self.features.tolist(), contexts),
            *(self.weights.tolist(), self.groups.to_list()),
        )
        return (Pair(*values) for values in zip(*columns, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PairColumns):
            return NotImplemented
        columns = (
            (getattr(self, field_.name), getattr(other, field_.name)) for field_ in fields(self)
        )
        return all(
            np.array_equal(own_column, other_column)
            if isinstance(own_column, np.ndarray)
            else own_column == other_column
            for own_column, other_column in columns
        )

    __hash__ = None  # type: ignore[assignment]

    def _context(self, row: int) -> tuple[int, int] | None:
        if self.contexts is None or self.contexts[row, 0] == NOWHERE:
            return None
        first, second = self.contexts[row].tolist()
        return first, second

    def positions(self, rows: Rows | slice = slice(None)) -> NDArray[np.int64]:
        """(n, 2 or 4) positions of the inputs of pairs; -1 for a missing context.

        The columns are the factual input, the counterfactual, then both contexts.
        """
        both = np.stack([self.plus[rows], self.minus[rows]], axis=1)
        return both if self.contexts is None else np.hstack([both, self.contexts[rows]])

    def are_of_types(self, pair_types: Iterable[str]) -> NDArray[np.bool_]:
        """(n,) True for pairs of the given types."""
        return np.isin(self.pair_types.values.to_list(), [*pair_types])[self.pair_types.codes]

    @cached_property
    def source_order(self) -> NDArray[np.int64]:
        """(n_sources,) codes of the sources in the order of their names."""
        return self.sources.values.order()

    def rows_of_sources(self, parts: Sequence[NDArray[np.int64]]) -> list[Rows]:
        """Row numbers of the pairs of each part, source by source.

        A part is an array of source codes; every source must be in exactly one part.
        """
        codes = np.concatenate(parts)
        rank = np.empty(codes.size, np.int32)
        rank[codes] = np.arange(codes.size)
        rows = np.argsort(rank[self.sources.codes], kind="stable")
        counts = np.bincount(self.sources.codes, minlength=codes.size)[codes]
        ends = np.cumsum(counts)[np.cumsum([part.size for part in parts]) - 1]
        return np.split(rows, ends[:-1])
