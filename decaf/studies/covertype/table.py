"""Read the Covertype table: 54 cartographic features and the type of forest on 30 m squares."""

import gzip
import io
import re
import warnings
import zlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.errors import DataError, abridge
from decaf.foundation.files import convert_os_errors, file_status

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
FLAG = re.compile(r"(Wilderness_Area|Soil_Type)_?\d+$")
"""Names of the columns of 0 and 1 in published files."""
WHOLE = re.compile(r"\s*[+-]?\d+\s*")
GZIP_START = b"\x1f\x8b"
EXPECTED = "expected the official covtype.data(.gz), or a CSV file of its columns with a header"
CACHED = "samples_py3"
"""File that scikit-learn's ``fetch_covtype`` keeps: a pickle, which decaf does not open."""
CACHES = ("", CACHED, f"covertype/{CACHED}")
FROM_CACHE = (
    "is a pickle of scikit-learn; expected a CSV file: "
    "fetch_covtype(as_frame=True).frame.astype(int).to_csv('covtype.csv', index=False)"
)


class Table(NamedTuple):
    """All rows of a file, in its order."""

    features: NDArray[np.int32]
    """(n, 54) ten quantities in the units of the file, then 44 columns of 0 and 1."""
    cover: NDArray[np.int32]
    """(n,) cover types from 1 to 7."""


def find_table(place: Path) -> Path:
    """Table file at a path: the path itself, or a file in that folder.

    In a folder it is the official file, else the only CSV file. Raises DataError without such a
    file.
    """
    for name in OFFICIAL:
        if (place / name).is_file():
            return place / name
    samples = sorted(place.glob(SAMPLES))
    if len(samples) == 1:
        return samples[0]
    for path in (place / name for name in CACHES):
        if not samples and path.name == CACHED and path.is_file():
            raise DataError(f"{path} {FROM_CACHE}")
    if not place.is_file():
        problem = f"has {len(samples)} Covertype tables" if place.is_dir() else "does not exist"
        raise DataError(f"{place} {problem}; {EXPECTED}, or a folder that holds one of them")
    return place


def state_of(path: Path) -> tuple[int, ...]:
    """Size and time of change of the file of a table: equal while it stays the same.

    Raises DataError when the file is missing.
    """
    with convert_os_errors(DataError, f"{path} cannot be read", EXPECTED):
        status = file_status(path)
    return status.st_size, status.st_mtime_ns


def read_table(path: Path) -> Table:
    """Read a file once per process while it stays the same.

    It is ``covtype.data`` as published, or the same columns under a header, gzip or not. Raises
    DataError when the file cannot be read, or is not such a table.
    """
    return _read_table(path, state_of(path))


@lru_cache(maxsize=1)
def _read_table(path: Path, state: tuple[int, ...]) -> Table:
    return _check_numbers(path, _read_text(path))


def _read_text(path: Path) -> NDArray[np.int32]:
    """(n, 55) numbers of a file of text."""
    content = _content(path)
    has_header = not content[:1].isdigit()
    if has_header:
        _check_header(path, content.partition(b"\n")[0].decode("utf-8", errors="replace"))
    rows = content.partition(b"\n")[2] if has_header else content
    if not rows.strip():
        raise DataError(f"{path} has no rows; {EXPECTED}")
    try:
        with warnings.catch_warnings():  # NumPy 2.2 only warns of fractions, and goes on
            warnings.simplefilter("error", DeprecationWarning)
            return np.loadtxt(io.BytesIO(rows), np.int32, delimiter=",", comments=None, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path}: {_first_fault(rows) or error}; {EXPECTED}") from error


def _first_fault(rows: bytes) -> str | None:
    """Words for the first line that is not whole numbers, one a column; rows, columns from 1."""
    for row, line in enumerate(rows.decode("utf-8", errors="replace").splitlines(), 1):
        cells = line.split(",") if line.strip() else []
        for column, cell in enumerate(cells, 1):
            if not WHOLE.fullmatch(cell):
                return f"row {row}, column {column} has {cell[:20]!r}, not a whole number"
        if cells and len(cells) != FEATURE_COUNT + 1:
            return f"row {row} has {len(cells)} columns, not {FEATURE_COUNT + 1}"
    return None


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP_START) else content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({error}); get the file again") from error


def _check_header(path: Path, line: str) -> None:
    if not line.strip():
        raise DataError(f"{path} is empty, or starts with an empty line; {EXPECTED}")
    names = [name.strip().strip('"') for name in line.split(",")]
    expected_names = [*QUANTITIES, COVER]
    if len(names) == FEATURE_COUNT + 1 and [*names[: len(QUANTITIES)], names[-1]] == expected_names:
        return
    missing = [name for name in expected_names if name not in names]
    twice = sorted({name for name in names if names.count(name) > 1})
    strange = [name[:40] for name in names if name not in expected_names and not FLAG.match(name)]
    name_faults = {"it lacks": missing, "twice": twice, "not known": strange}
    parts = [f"{what}: {abridge(which)}" for what, which in name_faults.items() if which]
    raise DataError(
        f"{path} has a header of {len(names)} columns ({'; '.join(parts) or 'in another order'}); "
        f"{EXPECTED}: {QUANTITIES[0]}, {QUANTITIES[1]}, …, {FEATURE_COUNT} features in all, then "
        f"{COVER}"
    )


def _check_numbers(path: Path, numbers: NDArray[np.int32]) -> Table:
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
