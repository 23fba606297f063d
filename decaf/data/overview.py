"""What a data set holds, in counts and a few of its pairs: to be looked at before it is audited."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError

SHOWN_VALUES = 4
"""Numbers of an input that has no file, in a line of text."""


class ShownPair(NamedTuple):
    """A pair with its clean inputs."""

    pair: Pair
    factual: Input
    counterfactual: Input
    plus: NDArray[Any]
    """(…) as the data set reads it: (height, width, 3) uint8, or floats of any shape."""
    minus: NDArray[Any]


def some_pairs(
    pairs: PairSet, read: Callable[[Input], NDArray[Any]], count: int = 10
) -> list[ShownPair]:
    """Read ``count`` pairs, evenly spread over the set; all where there are no more.

    Raises DataError when an input cannot be read, or those of a pair differ in shape or type.
    """
    spread = np.linspace(0, len(pairs.pairs) - 1, count).astype(int)
    shown = []
    for row in np.unique(spread):
        pair = pairs.pairs[row]
        both = pairs.inputs[pair.plus], pairs.inputs[pair.minus]
        plus, minus = map(read, both)
        if (plus.shape, plus.dtype) != (minus.shape, minus.dtype):
            raise DataError(
                f"pair {pair.pair_id}: its inputs are {size_of(plus)} and {size_of(minus)}; "
                "expected one size and type"
            )
        shown.append(ShownPair(pair, *both, plus, minus))
    return shown


def counts(pairs: PairSet) -> dict[str, Any]:
    """Pairs, sources, pair types, splits, classes and inputs in numbers, as JSON has them.

    ``shared`` are inputs that several pairs use, ``contents`` how many inputs differ in what they
    are made from.
    """
    uses = Counter(place for pair in pairs.pairs for place in set(pair.positions))
    return {
        "pairs": len(pairs.pairs),
        "sources": len({pair.source_id for pair in pairs.pairs}),
        "pair_types": _counted(pair.pair_type for pair in pairs.pairs),
        "splits": _counted(pair.split for pair in pairs.pairs),
        "classes": _counted(pair.class_id for pair in pairs.pairs),
        "inputs": len(pairs.inputs),
        "contents": len({image.digest for image in pairs.inputs}),
        "shared": sum(count > 1 for count in uses.values()),
    }


def described(shown: ShownPair) -> dict[str, Any]:
    """One pair in words and numbers, as JSON has them."""
    pair = shown.pair
    return {
        "pair_id": pair.pair_id,
        "pair_type": pair.pair_type,
        "source_id": pair.source_id,
        "split": pair.split,
        "class_id": pair.class_id,
        "factual": in_a_line(shown.factual, shown.plus),
        "counterfactual": in_a_line(shown.counterfactual, shown.minus),
        "size": size_of(shown.plus),
    }


def in_a_line(image: Input, read: NDArray[Any]) -> str:
    """File of an input, else its first numbers, else its name."""
    if image.file is not None or read.dtype == np.uint8:
        return image.file or image.image_id
    more = ", …" if read.size > SHOWN_VALUES else ""
    return ", ".join(f"{value:.4g}" for value in read.flat[:SHOWN_VALUES]) + more


def size_of(read: NDArray[Any]) -> str:
    """Size of an image, or shape and type of other inputs."""
    if read.dtype == np.uint8:
        return f"{read.shape[1]} x {read.shape[0]} px"
    return f"{' x '.join(map(str, read.shape))} {read.dtype}"


def _counted(values: Iterable[Any]) -> dict[str, int]:
    return {str(value): count for value, count in sorted(Counter(values).items())}
