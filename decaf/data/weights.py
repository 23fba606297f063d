"""Weights of pairs as people write them."""

from collections.abc import Sequence

from decaf.data.table_files import NUMBER
from decaf.errors import DataError
from decaf.foundation.names import shown

UNSAID = "1"


def weights_of(words: Sequence[str], where: str) -> list[float]:
    """Numbers of a column of weights, in its order; the pairs themselves refuse 0 and less.

    Raises DataError, naming the row from 1, where one is no number.
    """
    for row, word in enumerate(words, 1):
        if not NUMBER.fullmatch(word):
            raise DataError(f"{where}, row {row}: weight {shown(word)}; expected a number above 0")
    return [float(word) for word in words]
