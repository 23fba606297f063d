"""Find pairs whose two inputs are equal, and pairs that are mostly copies of each other."""

from collections.abc import Iterator, Sequence

import numpy as np

from decaf.data.pairs import PairSet
from decaf.data.records import Input, Pair
from decaf.errors import abridge
from decaf.foundation.names import quote

FEWEST_SOURCES = 20
"""Fewest sources of a pair type that get a remark on copies."""


def remark_equal_pairs(
    pairs: Sequence[Pair], inputs: Sequence[Input], expected: str
) -> Iterator[str]:
    """Remark on pairs of two inputs with one digest, if there are any.

    ``expected`` says, in the remark, what to give if all pairs are equal. A pair of one input and
    a feature that a path removes is not equal.
    """
    equal = [
        pair.pair_id
        for pair in pairs
        if pair.plus != pair.minus and inputs[pair.plus].digest == inputs[pair.minus].digest
    ]
    if equal and len(equal) == len(pairs):
        yield (
            f"in all {len(pairs)} pairs both inputs are equal, so no model can respond to them; "
            f"expected {expected}"
        )
    elif equal:
        yield (
            f"in {len(equal)} of {len(pairs)} pairs both inputs are equal, so no model can respond "
            f"to them: {abridge(equal)}"
        )


def remark_copies(pair_set: PairSet) -> Iterator[str]:
    """Remark on each pair type with less than half as many factual inputs as sources.

    Inputs with one digest count once.
    """
    pairs = pair_set.pairs
    for code, pair_type in enumerate(pairs.pair_types.values):
        rows = np.flatnonzero(pairs.pair_types.codes == code)
        source_count = np.unique(pairs.sources.codes[rows]).size
        if source_count < FEWEST_SOURCES:
            continue
        digests = pair_set.inputs.digests.take(np.unique(pairs.plus[rows]))
        input_count = digests.count_distinct()
        if 2 * input_count < source_count:
            yield (
                f"pair type {quote(pair_type)} has {source_count:,} sources, but only "
                f"{input_count:,} different factual inputs; if these are copies, its means are of "
                "few cases and its intervals too narrow: leave copies out, or name a column that "
                "copies share under 'source:'"
            )
