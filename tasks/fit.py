"""Fit what reveal paths take from the clean inputs of a study."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decaf.arrays import as_taken
from decaf.data.pixels import open_pixels
from decaf.pairs import PairSet
from decaf.shards import fitted_paths
from decaf.study import Study

IMAGES_AT_ONCE = 1024


def fit_paths(study: Study, pairs: PairSet, pixels: Path) -> None:
    """Fit the paths that need it, over all clean inputs.

    Reads the pixel file; writes one file per need under the workspace. A file that is there is not
    made again.

    Raises
    ------
    DataError
        When the inputs are not what a path can be fitted to.
    """
    for path in fitted_paths(study, pairs).values():
        path.fit(_inputs(pixels))


def _inputs(pixels: Path) -> Iterator[NDArray[np.float32]]:
    """All clean inputs as models take them, a batch at a time."""
    images = open_pixels(pixels)
    for first in range(0, len(images), IMAGES_AT_ONCE):
        yield as_taken(images[first : first + IMAGES_AT_ONCE].transpose(0, 3, 1, 2))
