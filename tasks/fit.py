"""Fit what reveal paths take from the clean inputs of a study."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decaf.data.input_store import channels_first, open_inputs
from decaf.data.pairs import PairSet
from decaf.foundation.arrays import as_taken
from decaf.plan.preparation import fitted_paths
from decaf.plan.study import Study

INPUTS_AT_ONCE = 1024


def fit_paths(study: Study, pairs: PairSet, inputs: Path) -> None:
    """Fit the paths that need it, over all clean inputs.

    Reads clean inputs; writes one file per need under the workspace. A file that is there is not
    made again.

    Raises
    ------
    DataError
        When the inputs are not what a path can be fitted to.
    """
    for path in fitted_paths(study, pairs).values():
        path.fit(_batches(inputs))


def _batches(inputs: Path) -> Iterator[NDArray[np.floating]]:
    """All clean inputs as models take them, a batch at a time."""
    stored = open_inputs(inputs)
    for first in range(0, len(stored), INPUTS_AT_ONCE):
        yield as_taken(channels_first(stored[first : first + INPUTS_AT_ONCE]))
