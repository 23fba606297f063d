"""Factual and counterfactual inputs, paired and identified by their content."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf, prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import WORD_BITS, feature_words
from decaf.data.frames import FrameSchema
from decaf.errors import DataError
from decaf.foundation.digests import json_sha256
from decaf.foundation.names import fault_of, shown

ALL = "all"
"""Split of pairs of which nothing says one."""
GROUPINGS = ("class", "split", "factual", "counterfactual")
"""What pairs are divided by in any case; their own groups have other names."""
MOST_MEMBERS = 200
"""Values of a group: each is bootstrapped."""


@dataclass(frozen=True)
class Input:
    """One clean input of a data set: its name, kind, and the digest of what it is made from.

    ``location`` is where the adapter finds it, and ``file`` which file of the data set that is,
    wherever it lies, or None; ``shape`` is that of the array which is read, said of all inputs of
    data whose inputs may differ in it, or of none. None of these is part of its identity.
    """

    image_id: str
    variant: str
    digest: str
    location: str
    file: str | None = None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class InputSet:
    """Clean inputs and how they are made: equal digests and equal geometry are equal inputs."""

    inputs: tuple[Input, ...]
    geometry: str
    """How inputs are made from what the digests identify: resize, crop, renderer."""
    remarks: tuple[str, ...] = ()
    """What of the data is not used, in words; no part of its identity."""

    @cached_property
    def digest(self) -> str:
        """Digest of the inputs."""
        return json_sha256([self.geometry, [image.digest for image in self.inputs]])

    @cached_property
    def shapes(self) -> dict[tuple[int, ...], int]:
        """Shapes in which inputs differ, smallest first, and an input of each; else empty."""
        first: dict[Any, int] = {}
        for number, image in enumerate(self.inputs):
            first.setdefault(image.shape, number)
        if len(first) < 2:
            return {}
        if None in first:
            raise DataError(
                f"input {self.inputs[first[None]].image_id!r} has no shape, and others have; "
                "expected the shape of every input, or of none where all have the same"
            )
        return {shape: first[shape] for shape in sorted(first, key=lambda one: (prod(one), one))}

    @cached_property
    def extremes(self) -> tuple[int, ...]:
        """Numbers of a smallest and a largest input; the first where all have one shape."""
        numbers = [*self.shapes.values()] or [0]
        return tuple(dict.fromkeys((numbers[0], numbers[-1])))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """(n_inputs,) where each lies in their file: its number, or its first value by shape."""
        if not self.shapes:
            return np.arange(len(self.inputs))
        sizes = [prod(image.shape or ()) for image in self.inputs]
        return np.cumsum([0, *sizes[:-1]])

    def shape_of(self, number: int) -> tuple[int, ...] | None:
        """Shape of an input where inputs differ in it, else None."""
        return self.inputs[number].shape if self.shapes else None


@dataclass(frozen=True)
class Pair:
    """One factual and counterfactual input that differ by a controlled change.

    ``plus`` and ``minus`` are positions in the inputs of the pair set. Pairs of one ``source_id``
    (a foreground, a scene) share inputs and are resampled together.

    Where the pair is about a feature of the factual input, ``feature`` counts from 1; both
    positions are the same where a path removes it, others where an input without it is given.
    ``context`` are the positions of the same two inputs under a swapped context, for paths that
    need them. ``weight`` is how much the pair counts in means over pairs, finite and above 0, and
    ``groups`` what else is said of the pair, as names and values that a report divides pairs by;
    nothing that is scored depends on either.
    """

    pair_id: str
    source_id: str
    pair_type: str
    class_id: int
    split: str
    plus: int
    minus: int
    feature: int = 0
    context: tuple[int, int] | None = None
    weight: float = 1.0
    groups: tuple[tuple[str, str], ...] = ()

    @property
    def positions(self) -> tuple[int, ...]:
        """Inputs that the pair uses, factual and counterfactual first."""
        return (self.plus, self.minus, *(self.context or ()))


@dataclass(frozen=True)
class PairSet:
    """All pairs of a study over one list of inputs.

    Geometry and remarks are those of :class:`InputSet`. ``masks`` say what the features of the data
    are: none, or one for each input, which inputs may share. All inputs of a pair have one shape.
    """

    inputs: tuple[Input, ...]
    pairs: tuple[Pair, ...]
    geometry: str
    remarks: tuple[str, ...] = ()
    columns: FrameSchema | None = field(default=None, kw_only=True)
    """What the values of a row stand for, where inputs are rows of a frame; part of geometry."""
    masks: tuple[Input, ...] = field(default=(), kw_only=True)
    has_labels: bool = field(default=True, kw_only=True)
    """Whether classes are true ones; else they only say of which class q is the score."""
    class_names: tuple[str, ...] = field(default=(), kw_only=True)
    """Of classes 0, 1, …, for people; none, or fewer than there are, where some have no name."""
    has_sorted_names: bool = field(default=False, kw_only=True)
    """True if nothing states the numbers of the class names, so that sorting numbers them."""

    def __post_init__(self) -> None:
        if not self.pairs:
            raise DataError("the data set has no pairs; nothing can be audited")
        if len(self.masks) not in (0, len(self.inputs)):
            raise DataError(
                f"there are {len(self.masks)} masks and {len(self.inputs)} inputs; expected none, "
                "or one for each input"
            )
        of_pairs = ((p.pair_id, p.source_id, p.pair_type, p.split) for p in self.pairs)
        of_inputs = ((image.image_id, image.variant) for image in self.inputs)
        for name in {name for names in chain(of_pairs, of_inputs) for name in names}:
            if problem := fault_of(name):
                raise DataError(f"the name {shown(name)} of the data {problem}")
        seen: set[str] = set()
        for pair in self.pairs:
            if pair.pair_id in seen:
                raise DataError(f"pair {pair.pair_id!r} occurs twice; pair ids must be unique")
            seen.add(pair.pair_id)
            if not 0 < pair.weight < inf:
                raise DataError(
                    f"pair {pair.pair_id!r} has the weight {pair.weight}; expected a finite number "
                    "above 0: leave out a pair that is not to count"
                )

        self._check_groups()
        if any(image.shape for image in self.inputs):
            self._check_shapes()

    def _check_groups(self) -> None:
        members: dict[str, set[str]] = {}
        for name, member in chain.from_iterable(pair.groups for pair in self.pairs):
            members.setdefault(name, set()).add(member)
        for name, own in members.items():
            for one in (name, *own):
                if problem := fault_of(one):
                    raise DataError(f"the name {shown(one)} of a group of pairs {problem}")
            if name in GROUPINGS:
                raise DataError(
                    f"a group of pairs is called {name!r}, which all pairs are divided by; give it "
                    "another name"
                )
            if len(own) > MOST_MEMBERS:
                raise DataError(
                    f"the group {name!r} of the pairs has {len(own)} values; expected "
                    f"{MOST_MEMBERS} at most: put values together, such as ages to decades"
                )

    def _check_shapes(self) -> None:
        for pair in self.pairs:
            first, *others = (self.inputs[place] for place in pair.positions)
            for other in others:
                if first.shape != other.shape:
                    raise DataError(
                        f"pair {pair.pair_id}: {first.image_id} comes out as {first.shape} and "
                        f"{other.image_id} as {other.shape}; expected one shape: bring both to "
                        "one size"
                    )

    @cached_property
    def digest(self) -> str:
        """Digest of every pair and its content, as far as scores depend on them."""
        return self.block_digest(range(len(self.pairs)))

    @cached_property
    def analysed_by(self) -> list[Any]:
        """What of the pairs enters no score: weights not all 1, splits, groups, missing labels."""
        said: tuple[tuple[list[Any], Any], ...] = (
            ([pair.weight for pair in self.pairs], 1),
            ([pair.split for pair in self.pairs], ALL),
            ([pair.groups for pair in self.pairs], ()),
        )
        columns = [values for values, unsaid in said if set(values) != {unsaid}]
        return columns if self.has_labels else [*columns, "no labels"]

    @cached_property
    def analysed_digest(self) -> str:
        """Digest of every pair and :attr:`analysed_by`; :attr:`digest` where that is nothing."""
        return json_sha256([self.digest, *self.analysed_by]) if self.analysed_by else self.digest

    @cached_property
    def input_set(self) -> InputSet:
        """The inputs, whatever the pairs."""
        return InputSet(self.inputs, self.geometry)

    @cached_property
    def mask_set(self) -> InputSet:
        """Every mask once, whatever inputs have it; empty where the data have none."""
        return InputSet(tuple(dict.fromkeys(self.masks)), f"features of {self.geometry}")

    @property
    def stored_sets(self) -> tuple[InputSet, ...]:
        """What a run stores: the inputs, and the masks where the data have some."""
        return (self.input_set, *([self.mask_set] if self.masks else []))

    @cached_property
    def _place_of_mask(self) -> dict[Input, int]:
        return {mask: place for place, mask in enumerate(self.mask_set.inputs)}

    def block_digest(self, rows: "range | tuple[int, ...]") -> str:
        """Digest of some pairs: ids, classes, content of both inputs, and masks of features."""
        described = [
            [
                pair.pair_id,
                pair.source_id,
                pair.pair_type,
                pair.class_id,
                pair.feature,
                *(self.inputs[position].digest for position in pair.positions),
                *(mask.digest for mask in self.masks[pair.plus : pair.plus + 1]),
            ]
            for pair in (self.pairs[row] for row in rows)
        ]
        return json_sha256([self.geometry, described])

    def blocks(self, source_count: int) -> list[tuple[int, ...]]:
        """Rows of the pairs, ``source_count`` sources at a time, in the order of their names."""
        by_source: dict[str, list[int]] = {}
        for row, pair in enumerate(self.pairs):
            by_source.setdefault(pair.source_id, []).append(row)
        sources = sorted(by_source)
        return [
            tuple(
                row for source in sources[start : start + source_count] for row in by_source[source]
            )
            for start in range(0, len(sources), source_count)
        ]

    def parts(self, rows: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Rows of a block by the shape of their inputs, in the order in which shapes come first."""
        by_shape: dict[Any, list[int]] = {}
        for row in rows:
            by_shape.setdefault(self.inputs[self.pairs[row].plus].shape, []).append(row)
        return [*map(tuple, by_shape.values())]

    def block(self, rows: tuple[int, ...]) -> "PairBlock":
        """Some pairs, whose inputs have one shape, with only the inputs that they use."""
        pairs = [self.pairs[row] for row in rows]
        used = sorted({position for pair in pairs for position in pair.positions})
        local = {position: index for index, position in enumerate(used)}
        sources = {
            name: index for index, name in enumerate(dict.fromkeys(p.source_id for p in pairs))
        }
        masks = [self._place_of_mask[self.masks[position]] for position in used if self.masks]
        contexts = [
            [local[p] for p in pair.context] if pair.context else [-1, -1] for pair in pairs
        ]
        return PairBlock(
            pair_ids=tuple(pair.pair_id for pair in pairs),
            source_ids=tuple(sources),
            image_ids=tuple(self.inputs[position].image_id for position in used),
            input_positions=self.input_set.places[used],
            shape=self.input_set.shape_of(used[0]),
            plus=np.array([local[pair.plus] for pair in pairs]),
            minus=np.array([local[pair.minus] for pair in pairs]),
            source=np.array([sources[pair.source_id] for pair in pairs]),
            class_id=np.array([pair.class_id for pair in pairs]),
            feature=np.array([pair.feature for pair in pairs]),
            context=np.array(contexts) if any(pair.context for pair in pairs) else None,
            regions=self._regions(len(used)) if any(pair.feature for pair in pairs) else None,
            mask_positions=self.mask_set.places[masks] if masks else None,
            mask_shape=self.mask_set.shape_of(masks[0]) if masks else None,
            pair_types=tuple(pair.pair_type for pair in pairs),
        )

    def _regions(self, count: int) -> NDArray[np.uint64] | None:
        """(n_inputs, width) which column, up to the 64th, each value of a row stands for."""
        if self.columns is None:
            return None
        numbers = self.columns.regions
        words = feature_words(np.where(numbers > WORD_BITS, 0, numbers))
        return np.broadcast_to(words, (count, self.columns.width))


@dataclass(frozen=True)
class PairBlock:
    """A block of pairs as arrays: what a worker scores at once.

    ``plus`` and ``minus`` (n_pairs,) index the images of the block, ``input_positions`` are the
    places of these images in the input store, ``source`` numbers the sources from 0. ``shape`` is
    that of each stored image, and ``mask_shape`` that of its mask, where the store has several.
    ``feature`` (n_pairs,) is the feature that the pair is about, 0 for none, and ``context``
    (n_pairs, 2) both inputs under the swapped context, -1 where a pair has none, or None where no
    pair has any.
    ``regions`` (n_images, …) are the features of every pixel or column, bit k - 1 for feature k,
    where the data have features; ``mask_positions`` (n_images,) are the places of these masks in
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
    """(n_pairs,) which change makes the counterfactual; empty where pairs have no types."""

    @property
    def pair_count(self) -> int:
        """Pairs of the block."""
        return len(self.pair_ids)

    def removed(self) -> NDArray[np.bool_]:
        """(n_pairs, …) pixels or columns of the factual input where the removed feature lies."""
        regions = cast("NDArray[np.unsignedinteger]", self.regions)
        words = feature_words(self.feature).reshape(-1, *[1] * (regions.ndim - 1))
        return (regions[self.plus] & words) > 0

    def rows_of_types(self, pair_types: Sequence[str] | None) -> NDArray[np.int64]:
        """Rows of the pairs of some types, of all pairs where the types are None.

        Raises DataError when the pairs have no types.
        """
        if pair_types is None:
            return np.arange(self.pair_count)
        if not self.pair_types:
            raise DataError(
                f"these pairs have no types, and a path is for those of {', '.join(pair_types)}: "
                "leave 'pair_types' out"
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
