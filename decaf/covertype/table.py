"""Read the Covertype table: 54 cartographic features and the type of forest on 30 m squares."""

import gzip
import io
import zlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError

QUANTITIES = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
)
"""The first columns, in the order of the official file; 44 columns of 0 and 1 follow them."""
FEATURE_COUNT = 54
COVER = "Cover_Type"
COVER_TYPES = range(1, 8)
OFFICIAL = ("covtype.data.gz", "covtype.data")
SAMPLES = "covtype*.csv*"
SCIKIT_LEARN_CACHE = ("covertype/samples_py3", "samples_py3")
GZIP_START = b"\x1f\x8b"
EXPECTED = "expected the official covtype.data(.gz), or a CSV file of its columns with a header"


class Table(NamedTuple):
    """All rows of a file, in its order."""

    features: NDArray[np.int32]
    """(n, 54) ten quantities in the units of the file, then 44 columns of 0 and 1."""
    cover: NDArray[np.int32]
    """(n,) cover types from 1 to 7."""


def find_table(place: Path) -> Path:
    """The file that a path means: itself, or in a folder the official file or the only CSV file.

    Raises
    ------
    DataError
        When there is none, or only scikit-learn's cache.
    """
    for name in OFFICIAL:
        if (place / name).is_file():
            return place / name
    samples = sorted(place.glob(SAMPLES))
    if len(samples) == 1:
        return samples[0]
    if any((place / name).exists() for name in SCIKIT_LEARN_CACHE):
        raise DataError(
            f"{place} is the cache of scikit-learn's fetch_covtype, a joblib pickle: opening it "
            f"would run code that it may bring along. Put the official {OFFICIAL[0]} there, or "
            "correct 'file:'"
        )
    if not place.is_file():
        found = f"has {len(samples)} Covertype tables" if place.is_dir() else "does not exist"
        raise DataError(f"{place} {found}; {EXPECTED}, or a folder that holds one of them")
    return place


def read_table(path: Path) -> Table:
    """Read a file once per process while it stays the same.

    Parameters
    ----------
    path
        ``covtype.data`` as it was published, or the same columns under a header; gzip or not.

    Raises
    ------
    DataError
        When the file cannot be read, or is not such a table.
    """
    status = path.stat()
    return _read_table(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1)
def _read_table(path: Path, size: int, modified: int) -> Table:
    content = _content(path)
    has_header = not content[:1].isdigit()
    if has_header:
        _check_header(path, content.partition(b"\n")[0].decode("utf-8", errors="replace"))
    try:
        numbers = np.loadtxt(
            io.BytesIO(content), np.int32, delimiter=",", skiprows=int(has_header), ndmin=2
        )
    except ValueError as error:
        raise DataError(f"{path} is no table of whole numbers ({error}); {EXPECTED}") from error
    return _checked(path, numbers)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP_START) else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({error}); get the file again") from error


def _check_header(path: Path, line: str) -> None:
    names = [name.strip().strip('"') for name in line.split(",")]
    expected = [*QUANTITIES, COVER]
    if len(names) != FEATURE_COUNT + 1 or [*names[: len(QUANTITIES)], names[-1]] != expected:
        raise DataError(
            f"{path} starts with {line[:60]!r}; {EXPECTED}: {QUANTITIES[0]}, {QUANTITIES[1]}, …, "
            f"{FEATURE_COUNT} features in all, then {COVER}"
        )


def _checked(path: Path, numbers: NDArray[np.int32]) -> Table:
    if numbers.shape[1] != FEATURE_COUNT + 1:
        raise DataError(
            f"{path} has {numbers.shape[1]} columns, not {FEATURE_COUNT + 1}; {EXPECTED}"
        )
    features, cover = numbers[:, :-1], numbers[:, -1]
    is_wrong = ~np.isin(cover, COVER_TYPES)
    is_wrong |= ~np.isin(features[:, len(QUANTITIES) :], (0, 1)).all(axis=1)
    if is_wrong.any():
        raise DataError(
            f"{path}: row {int(is_wrong.argmax()) + 1} has a cover type other than 1 to 7, or "
            f"something other than 0 and 1 after the {len(QUANTITIES)} quantities; {EXPECTED}"
        )
    return Table(features, cover)
