"""Factual and counterfactual inputs, paired and identified by their content."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import WORD_BITS, feature_words
from decaf.data.coded import first_rows, json_piece
from decaf.data.frames import FrameSchema
from decaf.data.inputs import InputColumns, InputSet
from decaf.data.pair_block import PairBlock
from decaf.data.pair_columns import NOWHERE, PairColumns, Rows
from decaf.data.records import Input, Pair
from decaf.data.texts import (
    Piece,
    Texts,
    check_names,
    join_texts,
    keep_where,
    list_sha256,
    parts_of,
)
from decaf.errors import DataError
from decaf.foundation.digests import json_sha256, json_text
from decaf.foundation.names import fault_of, quote

__all__ = ["ALL", "Input", "InputSet", "Pair", "PairBlock", "PairSet", "Rows"]

ColumnProxies = Mapping[str, Mapping[str, Sequence[str]]]
"""Proxies of changed columns, which do not change: by pair type and changed column."""
ALL = "all"
"""Default split of pairs."""
RESERVED_GROUPS = ("class", "split", "factual", "counterfactual")
"""Columns that always divide pairs, so groups of pairs must have other names."""
MOST_GROUP_VALUES = 200
"""Largest number of values of a group; each costs a bootstrap."""


@dataclass(frozen=True, init=False)
class PairSet:
    """All pairs of a study over one list of inputs, both held as columns.

    ``construction`` and ``remarks`` have the same meaning as in :class:`InputSet`. ``masks`` mark
    the features: either none, or one mask per input; inputs may share a mask. All inputs of a pair
    have one shape.
    """

    inputs: InputColumns
    pairs: PairColumns
    construction: str
    remarks: tuple[str, ...] = ()
    columns: FrameSchema | None = field(default=None, kw_only=True)
    """Columns of the frame whose rows are the inputs, or None; part of the construction."""
    masks: tuple[Input, ...] = field(default=(), kw_only=True)
    has_labels: bool = field(default=True, kw_only=True)
    """True if classes are true labels; False if they only choose the class that q scores."""
    class_names: tuple[str, ...] = field(default=(), kw_only=True)
    """Display names of classes 0, 1, …; some or all classes may have no name."""
    has_sorted_names: bool = field(default=False, kw_only=True)
    """True if class names have no stated numbers, so decaf numbers the sorted names."""
    changed_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict, kw_only=True)
    """Columns of a table that differ in any pair, by pair type; empty for other data."""
    column_proxies: ColumnProxies = field(default_factory=dict, kw_only=True)
    """Proxies of the changed columns of a table; empty for other data."""

    def __init__(
        self,
        inputs: Iterable[Input],
        pairs: Iterable[Pair],
        construction: str,
        remarks: tuple[str, ...] = (),
        *,
        columns: FrameSchema | None = None,
        masks: tuple[Input, ...] = (),
        has_labels: bool = True,
        class_names: tuple[str, ...] = (),
        has_sorted_names: bool = False,
        changed_columns: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        column_proxies: ColumnProxies = MappingProxyType({}),
    ) -> None:
        self.__dict__.update(
            inputs=InputColumns.of(inputs),
            pairs=PairColumns.of(pairs),
            construction=construction,
            remarks=remarks,
            columns=columns,
            masks=masks,
            has_labels=has_labels,
            class_names=class_names,
            has_sorted_names=has_sorted_names,
            changed_columns=dict(changed_columns),
            column_proxies=dict(column_proxies),
        )
        self._check()

    def _check(self) -> None:
        pairs, inputs = self.pairs, self.inputs
        if not len(pairs):
            raise DataError("the data set has no pairs; nothing can be audited")
        if len(self.masks) not in (0, len(inputs)):
            raise DataError(
                f"there are {len(self.masks)} masks and {len(inputs)} inputs; expected no masks, "
                "or one for each input"
            )
        check_names(
            *(pairs.pair_ids, pairs.sources.values, pairs.pair_types.values, pairs.splits.values),
            *(inputs.image_ids, inputs.variants.values),
        )
        if (doubled := pairs.pair_ids.first_duplicate) is not None:
            raise DataError(f"several pairs have the id {doubled!r}; give each pair its own id")
        unusable = np.flatnonzero(~((pairs.weights > 0) & (pairs.weights < inf)))
        if unusable.size:
            pair = pairs[unusable[0]]
            raise DataError(
                f"pair {pair.pair_id!r} has the weight {pair.weight}; expected a finite number "
                "above 0: remove the pair if it should not count"
            )
        self._check_groups()
        if inputs.shapes is not None:
            self._check_shapes(inputs.shapes.codes)

    def _check_groups(self) -> None:
        values_by_group: dict[str, dict[str, None]] = {}
        for groups in self.pairs.groups.values:
            for name, value in groups:
                values_by_group.setdefault(name, {})[value] = None
        for name, values in values_by_group.items():
            if problem := fault_of(name):
                raise DataError(f"the name {quote(name)} of a group of pairs {problem}")
            for value in values:
                if problem := fault_of(value):
                    raise DataError(
                        f"the value {quote(value)} of the group {quote(name)} of pairs {problem}"
                    )
            if name in RESERVED_GROUPS:
                raise DataError(f"a group of pairs has the reserved name {name!r}; rename it")
            if len(values) > MOST_GROUP_VALUES:
                raise DataError(
                    f"the group {name!r} of the pairs has {len(values)} values; expected "
                    f"{MOST_GROUP_VALUES} at most: merge values, for example ages into decades"
                )

    def _check_shapes(self, codes: NDArray[np.int32]) -> None:
        positions = self.pairs.positions()
        differs = (codes[positions] != codes[positions[:, :1]]) & (positions != NOWHERE)
        if differs.any():
            row, place = np.argwhere(differs)[0].tolist()
            first, second = (self.inputs[positions[row, number]] for number in (0, place))
            names = [image.location if image.file else image.image_id for image in (first, second)]
            raise DataError(
                f"pair {self.pairs.pair_ids[row]}: {names[0]} has shape {first.shape} and "
                f"{names[1]} has {second.shape}; expected one shape: bring both to one size"
            )

    @cached_property
    def digest(self) -> str:
        """Digest of everything in the pairs that scores depend on."""
        return self.block_digest(np.arange(len(self.pairs)))

    @cached_property
    def unscored_properties(self) -> list[Any]:
        """Properties of pairs that enter no score: weights, splits, groups, missing labels."""
        pairs, columns = self.pairs, list[Any]()
        if (pairs.weights != 1).any():
            columns.append(pairs.weights.tolist())
        if pairs.splits.values.to_list() != [ALL]:
            columns.append(pairs.splits.to_list())
        if pairs.groups.values != ((),):
            columns.append(pairs.groups.to_list())
        return columns if self.has_labels else [*columns, "no labels"]

    @cached_property
    def means_digest(self) -> str:
        """Digest of all that means depend on: :attr:`digest` and the weights.

        Runs with equal digests have comparable means.
        """
        weights = self.pairs.weights
        return json_sha256([self.digest, weights.tolist()]) if (weights != 1).any() else self.digest

    @cached_property
    def analysed_digest(self) -> str:
        """Digest of pairs and :attr:`unscored_properties`; :attr:`digest` if there are none."""
        return (
            json_sha256([self.digest, *self.unscored_properties])
            if self.unscored_properties
            else self.digest
        )

    @cached_property
    def input_set(self) -> InputSet:
        """The inputs, without the pairs."""
        return InputSet(self.inputs, self.construction)

    @cached_property
    def mask_set(self) -> InputSet:
        """Every mask once, even if inputs share it; empty for data without masks."""
        return InputSet(dict.fromkeys(self.masks), f"features of {self.construction}")

    @property
    def stored_sets(self) -> tuple[InputSet, ...]:
        """Sets that a run stores: the inputs, and the masks if the data have any."""
        return (self.input_set, *([self.mask_set] if self.masks else []))

    @cached_property
    def mask_numbers(self) -> NDArray[np.int64]:
        """(n_inputs,) number of each input's mask among :attr:`mask_set`; empty without masks."""
        number_of = {mask: number for number, mask in enumerate(dict.fromkeys(self.masks))}
        return np.array([number_of[mask] for mask in self.masks], np.int64)

    def block_digest(self, rows: "Rows | Sequence[int]") -> str:
        """Digest of some pairs: ids, sources, types, classes, features, their inputs and masks."""
        row_numbers = np.asarray(rows, np.int64)
        parts = map(self._json_pieces, parts_of(row_numbers))
        return list_sha256(f"[{json_text(self.construction)},[", parts, "]]")

    def _json_pieces(self, rows: Rows) -> Iterator[Piece]:
        """Pieces of the JSON that is digested for some rows."""
        pairs, digests = self.pairs, self.inputs.digests
        # Compute the cached properties here; ``take`` passes them on to the parts.
        _ = digests.is_plain, pairs.pair_ids.is_plain
        yield "["
        yield pairs.pair_ids.take(rows)
        yield ","
        yield json_piece(pairs.sources, rows)
        yield ","
        yield json_piece(pairs.pair_types, rows)
        for numbers in (pairs.class_ids, pairs.features):
            yield ","
            yield Texts.numbers(numbers[rows]).arrow
        for positions in (pairs.plus, pairs.minus):
            yield ","
            yield digests.take(positions[rows])
        if pairs.contexts is not None:
            yield self._json_of_contexts(pairs.contexts[rows])
        if self.masks:
            yield ","
            yield self.mask_set.inputs.digests.take(self.mask_numbers[pairs.plus[rows]])
        yield "]"

    def _json_of_contexts(self, contexts: NDArray[np.int64]) -> Piece:
        """JSON of two more digests for each pair with a context; empty for other pairs."""
        has_context = contexts[:, 0] != NOWHERE
        positions = np.where(has_context[:, None], contexts, 0)
        first, second = (
            Texts(self.inputs.digests.take(context_positions).json)
            for context_positions in positions.T
        )
        return keep_where(has_context, join_texts(",", first, ",", second)).arrow

    def blocks(self, source_count: int) -> list[Rows]:
        """Rows of the pairs of ``source_count`` sources at a time, in the order of source names."""
        order = self.pairs.source_order
        starts = range(source_count, order.size, source_count)
        return self.pairs.rows_of_sources(np.split(order, starts))

    def split_by_shape(self, rows: "Rows | Sequence[int]") -> list[Rows]:
        """Rows of a block by the shape of their inputs, in the order of each shape's first row."""
        row_numbers = np.asarray(rows, np.int64)
        if self.inputs.shapes is None or not row_numbers.size:
            return [row_numbers] if row_numbers.size else []
        codes = self.inputs.shapes.codes[self.pairs.plus[row_numbers]]
        first = first_rows(codes, len(self.inputs.shapes.values))
        shapes = np.argsort(first, kind="stable")[: np.count_nonzero(first < codes.size)]
        return [row_numbers[codes == shape] for shape in shapes]

    def block(self, rows: "Rows | Sequence[int]") -> PairBlock:
        """Some pairs, whose inputs have one shape, with only the inputs that they use."""
        pairs, row_numbers = self.pairs, np.asarray(rows, np.int64)
        positions = pairs.positions(row_numbers)
        used = np.unique(positions[positions != NOWHERE])
        local = np.where(positions == NOWHERE, NOWHERE, np.searchsorted(used, positions))
        sources, features = pairs.sources.take(row_numbers), pairs.features[row_numbers]
        masks = self.mask_numbers[used] if self.masks else None
        has_contexts = local.shape[1] > 2 and bool((local[:, 2:] != NOWHERE).any())
        return PairBlock(
            pair_ids=tuple(pairs.pair_ids.take(row_numbers)),
            source_ids=tuple(sources.values),
            image_ids=tuple(self.inputs.image_ids.take(used)),
            input_positions=self.input_set.places[used],
            shape=self.input_set.shape_of(int(used[0])),
            plus=local[:, 0],
            minus=local[:, 1],
            source=sources.codes.astype(np.int64),
            class_id=pairs.class_ids[row_numbers],
            feature=features,
            context=local[:, 2:] if has_contexts else None,
            regions=self._regions(used.size) if features.any() else None,
            mask_positions=None if masks is None else self.mask_set.places[masks],
            mask_shape=None if masks is None else self.mask_set.shape_of(int(masks[0])),
            pair_types=tuple(pairs.pair_types.take(row_numbers).to_list()),
        )

    def _regions(self, count: int) -> NDArray[np.uint64] | None:
        """(n_inputs, width) bit of the column that each value belongs to; 0 beyond the 64th."""
        if self.columns is None:
            return None
        numbers = self.columns.regions
        words = feature_words(np.where(numbers > WORD_BITS, 0, numbers))
        return np.broadcast_to(words, (count, self.columns.width))
