"""A model that sleeps instead of computing, so that more workers than cores can work at once."""

import os
import time

import numpy as np
from numpy.typing import NDArray

SECONDS = "SLEEP_SECONDS"
"""Variable that says how long every batch takes."""


def answer(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """(n, columns) → (n,) sums, after a while."""
    time.sleep(float(os.environ.get(SECONDS, "0")))
    return rows.sum(axis=1, dtype=float)
