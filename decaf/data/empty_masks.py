"""Masks without a pixel: such a feature cannot be removed, and its evidence is 0."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.cells import feature_words
from decaf.data.input_store import unusable_error
from decaf.data.pairs import Input, PairSet, Rows
from decaf.errors import DataError, abridge

ReadMask = Callable[[Input], NDArray[Any]]
Words = Mapping[Input, int]
"""Bits of the features that a mask shows, by mask."""


def read_words(pairs: PairSet, read_mask: ReadMask) -> Words:
    """Read every mask of a pair set once.

    Raises DataError, naming masks that cannot be read.
    """
    words: dict[Input, int] = {}
    faults: dict[str, None] = {}
    for mask in pairs.mask_set.inputs:
        try:
            words[mask] = int(np.bitwise_or.reduce(read_mask(mask), None))
        except DataError as error:
            faults[str(error)] = None
    if faults:
        raise unusable_error(faults, "masks")
    return words


def rows_without_feature(pairs: PairSet, words: Words) -> Rows:
    """Rows of the pairs whose feature has no pixel in their input."""
    features = pairs.pairs.features
    if not pairs.masks:
        return np.empty(0, np.int64)
    mask_words = np.array([words[mask] for mask in dict.fromkeys(pairs.masks)], np.uint64)
    pair_words = mask_words[pairs.mask_numbers[pairs.pairs.plus]]
    return np.flatnonzero((features > 0) & ((pair_words & feature_words(features)) == 0))


def check_features_show(pairs: PairSet, words: Words) -> tuple[str, ...]:
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
    remark = f"features without a pixel in some images: {abridge([*counts.values()])}"
    return (remark,) if counts else ()
