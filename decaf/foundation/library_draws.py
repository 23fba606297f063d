"""Keep libraries that draw from NumPy's global state from depending on it, or changing it."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def seeded_globally(seed: int) -> Iterator[None]:
    """Seed NumPy's global state; what was there before is there again when the block ends."""
    before = np.random.get_state()  # noqa: NPY002 - the libraries know no other generator
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002
