"""Masks that show nothing, everything, or a background in place of their feature."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import feature_words
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input, PairSet, Rows
from decaf.errors import MOST_KNOWN, DataError, abridge

ReadMask = Callable[[Input], NDArray[Any]]
FEWEST_FILLED = 3
"""Fewest images that a feature must fill, in all images that show it, to be an error."""


class MaskWords(NamedTuple):
    """Bits of the features of a mask."""

    shown: int
    """Features that have a pixel."""
    filled: int
    """Features that cover every pixel."""
    framed: int
    """Features that cover more than half of the pixels, and touch all four edges."""


Words = Mapping[Input, MaskWords]
"""Bits of features, by mask."""


class Coverage(NamedTuple):
    """Name of a feature, and the images of a pair set in which its mask has a property."""

    name: str
    shown: int
    filled: int
    framed: int
    """Without the filled ones."""

    @property
    def is_filled(self) -> bool:
        """True if the feature fills so many images, and no less of any, that masks are wrong."""
        return self.filled >= FEWEST_FILLED and self.filled == self.shown


def read_words(pairs: PairSet, read_mask: ReadMask) -> Words:
    """Read every mask of a pair set once.

    Raises DataError, naming masks that cannot be read.
    """
    words: dict[Input, MaskWords] = {}
    faults: dict[str, None] = {}
    for mask in pairs.mask_set.inputs:
        try:
            words[mask] = _words_of(read_mask(mask))
        except DataError as error:
            faults[str(error)] = None
    if faults:
        raise unusable_error(faults, "masks")
    return words


def _words_of(mask: NDArray[Any]) -> MaskWords:
    shown = int(np.bitwise_or.reduce(mask, None))
    edges = shown
    for edge in (mask[0], mask[-1], mask[..., 0], mask[..., -1]):
        edges &= int(np.bitwise_or.reduce(np.atleast_1d(edge), None))
    large = (
        bit
        for bit in (1 << place for place in range(edges.bit_length()))
        if edges & bit and 2 * np.count_nonzero(mask & mask.dtype.type(bit)) > mask.size
    )
    return MaskWords(shown, int(np.bitwise_and.reduce(mask, None)), sum(large))


def rows_without_feature(pairs: PairSet, words: Words) -> Rows:
    """Rows of the pairs whose feature has no pixel in their input."""
    features = pairs.pairs.features
    if not pairs.masks:
        return np.empty(0, np.int64)
    pair_words = _word_columns(pairs, words)[pairs.mask_numbers[pairs.pairs.plus], 0]
    return np.flatnonzero((features > 0) & ((pair_words & feature_words(features)) == 0))


def check_coverage(pairs: PairSet, words: Words) -> tuple[str, ...]:
    """Remark on features that have no pixel, cover every pixel, or look like a background.

    Raises DataError for a feature whose pairs all remove nothing, or whose masks are all filled.
    """
    remarks = [*_remark_empty(pairs, words)]
    measured = _measure_coverage(pairs, words)
    filled = [f"{f.name} ({f.filled:,} of {f.shown:,})" for f in measured if f.is_filled]
    if filled:
        raise DataError(
            f"features that cover every pixel of all their images: {abridge(filled, MOST_KNOWN)}; "
            "expected masks with 0 outside of the feature: correct the masks (a background must "
            "be 0, not 1 or another number), or remove the features"
        )
    partly = [f"{f.name} ({f.filled:,} of {f.shown:,})" for f in measured if f.filled]
    if partly:
        remarks.append(f"features that cover every pixel of some images: {abridge(partly)}")
    framed = [f"{f.name} ({f.framed:,} of {f.shown:,})" for f in measured if 2 * f.framed > f.shown]
    if framed:
        remarks.append(
            "features that cover more than half of most images and touch all four edges, as a "
            f"background does: {abridge(framed)}; if they are objects, their masks are inverted: "
            "expected 0 outside of the object"
        )
    return tuple(remarks)


def _remark_empty(pairs: PairSet, words: Words) -> Iterator[str]:
    """Remark that counts removals of features without a pixel in their image, if there are any.

    Raises DataError for a feature whose pairs are all such removals.
    """
    pair_counts = np.bincount(pairs.pairs.features)
    rows = (pairs.pairs[row] for row in rows_without_feature(pairs, words))
    empty = [pair for pair in rows if pair.plus == pair.minus]
    without = Counter(pair.feature for pair in empty)
    names = {pair.feature: pair.pair_type for pair in empty}
    counts = {
        name: f"{name} ({without[feature]:,} of {pair_counts[feature]:,})"
        for feature, name in names.items()
    }
    absent = [name for feature, name in names.items() if without[feature] == pair_counts[feature]]
    if absent:
        raise DataError(
            f"features without a pixel in any image: {abridge([counts[n] for n in absent])}; "
            "expected pixels in at least one image: correct the masks, or remove the "
            "features (from 'names:' or the table, by 'ignore:' of a label map, by 'groups:')"
        )
    if counts:
        yield f"features without a pixel in some images: {abridge([*counts.values()])}"


def _measure_coverage(pairs: PairSet, words: Words) -> list[Coverage]:
    """Coverage of every feature in masks of one input each.

    Masks that inputs share are computed, as those of a grid or of channels, and are not wrong.
    """
    if not pairs.masks:
        return []
    columns, mask_numbers = _word_columns(pairs, words), pairs.mask_numbers
    numbers, features = mask_numbers[pairs.pairs.plus], pairs.pairs.features
    is_used = (features > 0) & (np.bincount(mask_numbers)[numbers] == 1)
    rows = np.unique(np.stack([numbers, features], 1)[is_used], axis=0)
    bits = (columns[rows[:, 0]] & feature_words(rows[:, 1])[:, None]) != 0
    first_rows = zip(*np.unique(features, return_index=True), strict=True)
    coverages = []
    for feature, first_row in first_rows:
        shown, filled, framed = bits[rows[:, 1] == feature].sum(0).tolist()
        if shown:
            name = pairs.pairs[int(first_row)].pair_type
            coverages.append(Coverage(name, shown, filled, framed - filled))
    return coverages


def _word_columns(pairs: PairSet, words: Words) -> NDArray[np.uint64]:
    """(n_masks, 3) words of every mask, in the order of their numbers."""
    return np.array([words[mask] for mask in dict.fromkeys(pairs.masks)], np.uint64)
