"""A made-up table in the format of Covertype."""

import gzip

import numpy as np


def made_up(per_class, seed=0):
    """Rows of cover types 1 to 3, in turns; the elevation tells type 1 from type 2 a little."""
    rng = np.random.default_rng(seed)
    cover = np.tile([1, 2, 3], per_class)
    quantities = rng.integers(0, 200, (cover.size, 10))
    quantities[:, 0] += 2500 + 60 * cover
    flags = np.zeros((cover.size, 44), int)
    rows = np.arange(cover.size)
    flags[rows, rng.integers(0, 4, cover.size)] = 1
    flags[rows, 4 + rng.integers(0, 40, cover.size)] = 1
    return np.column_stack([quantities, flags, cover])


def write(path, table):
    """As the official file has it: no header, whole numbers, gzip where the name says so."""
    text = "\n".join(",".join(map(str, row)) for row in table) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path
