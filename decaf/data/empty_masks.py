"""Masks without a pixel: a feature that lies nowhere cannot be removed, and its evidence is 0."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import unusable
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError, listed

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
        raise unusable(faults, "masks")
    return words


def pairs_without_feature(pairs: PairSet, words: Words) -> Iterator[Pair]:
    """Pairs whose feature lies nowhere in their input."""
    for pair in pairs.pairs if pairs.masks else ():
        if pair.feature and not words[pairs.masks[pair.plus]] >> pair.feature - 1 & 1:
            yield pair


def check_features_show(pairs: PairSet, words: Words) -> tuple[str, ...]:
    """Remark that counts removals of features that lie nowhere in an image, if there are any.

    Raises DataError for a feature whose pairs are all such removals.
    """
    of_feature = Counter(pair.feature for pair in pairs.pairs)
    empty = [pair for pair in pairs_without_feature(pairs, words) if pair.plus == pair.minus]
    without = Counter(pair.feature for pair in empty)
    names = {pair.feature: pair.pair_type for pair in empty}
    counts = {
        name: f"{name} ({without[feature]:,} of {of_feature[feature]:,})"
        for feature, name in names.items()
    }
    absent = [name for feature, name in names.items() if without[feature] == of_feature[feature]]
    if absent:
        raise DataError(
            f"features that lie in no pixel of any image: {listed([counts[n] for n in absent])}; "
            "expected a mask with pixels in an image at least: correct the masks, or leave the "
            "features out (from 'names:' or the table, by 'ignore:' of a label map, by 'groups:')"
        )
    remark = f"features that lie in no pixel of some images: {listed([*counts.values()])}"
    return (remark,) if counts else ()
