"""Arrays of inputs in files: signals, volumes, images or rows, one counterfactual for each."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.data.adapters.base import Adapter
from decaf.data.array_files import mapped
from decaf.data.class_ids import class_ids
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.arrays import as_real
from decaf.foundation.settings import PlacedPath

INPUTS = "arrays 1: rows as they are stored, whole numbers as float64"
"""Names how inputs are made; changes when a change here changes them."""
Role = Literal["factual", "counterfactual", "labels", "sources", "pair_types"]
PAIR_TYPE, SPLIT = "pair", "all"


class Arrays(Adapter):
    """Pairs of rows of two arrays of any shape, (n, …), in `.npy` or `.npz` files.

    8-bit arrays (n, height, width, 3) are images; floats are taken as they are, channels first
    where they have any, as (n, channels, length) or (n, channels, height, width).
    """

    adapter: Literal["arrays"]
    factual: PlacedPath = Field(description="file of the factual inputs, (n, …)")
    counterfactual: PlacedPath = Field(description="file of their counterfactuals, (n, …)")
    labels: PlacedPath | None = Field(
        None, description="file of the labels, (n,): class numbers, or names; class 0 when absent"
    )
    sources: PlacedPath | None = Field(
        None,
        description="file of what each pair is about, (n,): pairs of one source are resampled "
        "together; each pair by itself when absent",
    )
    pair_types: PlacedPath | None = Field(
        None, description="file of the types of the pairs, (n,); all are `pair` when absent"
    )
    names: dict[Role, str] = Field(
        {}, description="names of the arrays in `.npz` files, by key; the key itself when absent"
    )
    classes: tuple[int | str, ...] = Field(
        (), description="names of classes 0, 1, … in `labels`; sorted names when absent"
    )

    def pair_set(self) -> PairSet:
        """Digest every row of both arrays, reading them a row at a time.

        Raises DataError when a file cannot be used, or lengths, shapes or types differ.
        """
        factual, counterfactual = self._array("factual"), self._array("counterfactual")
        found = [f"{array.dtype} {array.shape}" for array in (factual, counterfactual)]
        if found[0] != found[1]:
            raise DataError(
                f"{self.counterfactual} is {found[1]}; expected {found[0]}, as {self.factual} has "
                "it: row by row, the same input but for the change"
            )
        count = len(factual)
        rows = [f"row-{row:07d}" for row in range(count)]
        classes = class_ids(self._words("labels", count, ["0"] * count), self.classes)
        sources = self._words("sources", count, rows)
        types = self._words("pair_types", count, [PAIR_TYPE] * count)
        inputs = tuple(
            Input(f"{role}/{name}", role, digest, str(row))
            for role in ("factual", "counterfactual")
            for row, (name, digest) in enumerate(zip(rows, self._digests(role), strict=True))
        )
        pairs = tuple(
            Pair(name, sources[row], types[row], classes.ids[row], SPLIT, row, count + row)
            for row, name in enumerate(rows)
        )
        return PairSet(inputs, pairs, INPUTS, classes.remarks)

    def verify(self, pairs: PairSet) -> None:
        """Accept: both arrays have one shape; values are looked at where they are read."""

    def read_input(self, image: Input) -> NDArray[Any]:
        """One row, (…): uint8 where it is an image, else float32 or float64.

        Raises DataError when it has values that are not finite.
        """
        array = self._array(cast("Role", image.variant))
        row = np.ascontiguousarray(array[int(image.location)])
        where = f"{getattr(self, image.variant)}[{image.location}]"
        if row.dtype == np.uint8 and row.ndim == 3:
            return row
        row = as_real(row.astype(row.dtype.newbyteorder("="), copy=False), where, DataError)
        if row.dtype == np.float16:
            row = row.astype(np.float32)
        if not np.isfinite(row).all():
            raise DataError(f"{where} has values that are not finite; fill them in, or drop it")
        return row

    def _array(self, role: Role) -> NDArray[Any]:
        return mapped(getattr(self, role), self.names.get(role, role))

    def _words(self, role: Role, count: int, default: list[str]) -> list[str]:
        """(n,) names as texts."""
        if getattr(self, role) is None:
            return default
        array = self._array(role)
        if array.shape != (count,) or array.dtype.kind == "f":
            raise DataError(
                f"{role!r} in {getattr(self, role)} is {array.dtype} {array.shape}; expected whole "
                f"numbers or texts ({count},), one for each row of {self.factual}"
            )
        return [str(word) for word in array.tolist()]

    def _digests(self, role: Role) -> tuple[str, ...]:
        path = getattr(self, role)
        return _row_digests(path, self.names.get(role, role), path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _row_digests(path: Path, name: str, modified: int) -> tuple[str, ...]:
    """Digest of every row with its type and shape, made once per process while the file stays."""
    array = mapped(path, name)
    kind = f"{array.dtype.str} {array.shape[1:]}".encode()
    return tuple(
        hashlib.sha256(kind + np.ascontiguousarray(row).tobytes()).hexdigest() for row in array
    )
