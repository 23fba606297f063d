"""Rows of a table as they were drawn, each with its own context and factor."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class FactualRows(NamedTuple):
    """Labelled rows with a binary context and a binary factor, both -1 or +1."""

    inputs: NDArray[np.float32]
    """(n, p) rows as the model takes them, the two channels among the columns."""
    label: NDArray[np.int64]
    """(n,) 0 or 1."""
    context: int
    """Column of the context."""
    factor: int
    """Column of the factor."""

    def at(self, context: int | None, factor: int) -> NDArray[np.float32]:
        """(n, p) all rows with the factor, and unless it is None the context, set to a value."""
        changed = self.inputs.copy()
        changed[:, self.factor] = factor
        if context is not None:
            changed[:, self.context] = context
        return changed

    def in_context(self, context: int) -> NDArray[np.bool_]:
        """(n,) True for rows that were drawn under a context."""
        return self.inputs[:, self.context] == context

    def spread(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Places of ``count`` random rows, balanced over contexts and labels.

        All places, ascending, if there are at most ``count`` rows.
        """
        total = len(self.label)
        if count >= total:
            return np.arange(total)
        stratum = 2 * (self.inputs[:, self.context] > 0) + self.label
        turn = np.empty(total, np.int64)
        for number in np.unique(stratum):
            places = np.flatnonzero(stratum == number)
            turn[rng.permutation(places)] = np.arange(places.size)
        # One row of every stratum, then another of every stratum, until there are enough.
        return np.sort(np.lexsort((stratum, turn))[:count])
