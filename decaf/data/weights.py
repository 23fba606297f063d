"""Weights of pairs as people write them."""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decaf.data.coded import Coded, code_values
from decaf.data.texts import Texts
from decaf.errors import DataError
from decaf.foundation.names import quote

NUMBER = re.compile(r"[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
UNSAID = "1"


def weights_of(words: Sequence[str] | Coded[Texts], where: str) -> NDArray[np.float64]:
    """(n,) numbers of a column of weights; :class:`PairSet` rejects 0 and less.

    Raises DataError, with the row number from 1, if a weight is not a number.
    """
    coded = words if isinstance(words, Coded) else code_values(words)
    values = [*coded.values]
    for code, word in enumerate(values):
        if not NUMBER.fullmatch(word):
            row = 1 + int(np.flatnonzero(coded.codes == code)[0])
            raise DataError(f"{where}, row {row}: weight {quote(word)}; expected a number above 0")
    return np.array([*map(float, values)])[coded.codes]
