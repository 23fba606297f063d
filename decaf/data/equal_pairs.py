"""Find pairs whose two inputs are equal, so that no model can respond to their change."""

from collections.abc import Iterator, Sequence

from decaf.data.records import Input, Pair
from decaf.errors import abridge


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
