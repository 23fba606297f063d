"""Find pairs whose two inputs are equal, and pairs that are mostly copies of each other."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from decaf.data.pairs import PairSet
from decaf.data.records import Input, Pair
from decaf.errors import MOST_KNOWN, DataError, abridge, number_of
from decaf.foundation.names import quote

FEWEST_SOURCES = 20
"""Fewest sources of a pair type that get a remark on copies."""


def check_pairs_differ(
    pairs: Sequence[Pair], inputs: Sequence[Input], where: object, expected: str
) -> tuple[str, ...]:
    """Remark on pairs of two inputs with one digest, if there are any.

    A pair of one input and a feature that a path removes is not equal. Raises DataError for a pair
    type without a pair that differs, to which every model would be safe; ``where`` is the place of
    the counterfactual inputs, and ``expected`` says what to give there.
    """
    equal = [
        pair
        for pair in pairs
        if pair.plus != pair.minus and inputs[pair.plus].digest == inputs[pair.minus].digest
    ]
    pair_counts = Counter(pair.pair_type for pair in pairs)
    unchanged = [
        f"{quote(pair_type)} ({number_of(count, 'pair')})"
        for pair_type, count in Counter(pair.pair_type for pair in equal).items()
        if count == pair_counts[pair_type]
    ]
    if unchanged:
        raise DataError(
            f"{where}: pair types whose pairs all have two equal inputs: "
            f"{abridge(unchanged, MOST_KNOWN)}, so no model can respond to them; expected "
            f"{expected}: check what made them, or leave out these pairs"
        )
    remark = (
        f"in {len(equal)} of {len(pairs)} pairs both inputs are equal, so no model can respond "
        f"to them: {abridge([pair.pair_id for pair in equal])}"
    )
    return (remark,) if equal else ()


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
