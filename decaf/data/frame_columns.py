"""Columns of a frame as plain values: how many values each takes, and their limits."""

from dataclasses import dataclass

import numpy as np

from decaf.data.frame_libraries import CATEGORICAL_PREFIX, Category, Kind, Marker
from decaf.foundation.arrays import EXACT

WHOLE = {
    f"{sign}int{bits}": (
        max(int(np.iinfo(f"{sign}int{bits}").min), 1 - EXACT),
        min(int(np.iinfo(f"{sign}int{bits}").max), EXACT - 1),
    )
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
"""Smallest and largest whole number that a dtype, and float64, hold."""


@dataclass(frozen=True)
class Column:
    """One column of a frame, as plain values."""

    name: str
    dtype: str
    """Name of its type in its library."""
    kind: Kind
    categories: tuple[Category, ...] = ()
    is_ordered: bool = False
    missing: Marker | None = None
    """Marker of a missing value; None for a column of numbers without missing values."""

    @property
    def has_presence(self) -> bool:
        """True if a second value of a row states whether its number is present."""
        return not self.categories and self.missing is not None

    @property
    def width(self) -> int:
        """Number of values of a row that stand for it."""
        return len(self.categories) or (2 if self.has_presence else 1)

    @property
    def is_text(self) -> bool:
        """True for categories that the type of the column does not declare."""
        return self.kind == "category" and not self.dtype.startswith((CATEGORICAL_PREFIX, "Enum"))

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest whole number that its type, and float64, hold."""
        return WHOLE[plain_name(self.dtype)]


def plain_name(dtype: str) -> str:
    """Name of a type without its library: ``int64`` of ``int64``, ``Int64``, ``int64[pyarrow]``."""
    return dtype.lower().partition("[")[0]
