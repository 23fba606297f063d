"""Arrays of inputs in files: signals, volumes, images or rows, and their counterfactuals."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.array_files import Rows, mapped, modified_at, opened_again
from decaf.data.cells import WORD_BITS, feature_words
from decaf.data.class_ids import CLASSES, ClassNames, class_ids
from decaf.data.column_remarks import remark_marks
from decaf.data.pairs import Input, Pair, PairSet
from decaf.errors import DataError
from decaf.foundation.arrays import as_real
from decaf.foundation.settings import PlacedPath, fault, require_keys

INPUTS = "arrays 1: rows as they are stored, whole numbers as float64"
"""Names how inputs are made; changes when a change here changes them."""
Role = Literal["factual", "counterfactual", "label", "source", "pair_type", "split", "weight"]
PAIR_TYPE, SPLIT = "pair", "all"
LOOKED_AT = 10_000
"""Rows in which marks of missing values are looked for."""


class Arrays(Adapter):
    """Pairs of rows of two arrays of any shape, (n, …): `.npy`, `.npz`, `.arrow` or `.zarr`.

    8-bit arrays (n, height, width, 3) are images; floats are taken as they are, channels first
    where they have any, as (n, channels, length) or (n, channels, height, width).
    """

    adapter: Literal["arrays"]
    factual: PlacedPath = Field(description="file of the factual inputs, (n, …)")
    counterfactual: PlacedPath | None = Field(
        None, description="file of their counterfactuals, (n, …)"
    )
    removed: Literal["columns", "channels"] | None = Field(
        None,
        description="instead of counterfactuals, for `removal` paths: each row of (n, features) "
        "with itself without each of its columns, or of (n, channels, length) without each of its "
        "channels, of the type `column NUMBER` or `channel NUMBER`, from 1",
    )
    label: PlacedPath | None = Field(
        None, description="file of the labels, (n,): class numbers, or names; class 0 when absent"
    )
    source: PlacedPath | None = Field(
        None,
        description="file of what each pair is about, (n,): pairs of one source are resampled "
        "together; each pair by itself when absent",
    )
    pair_type: PlacedPath | None = Field(
        None, description="file of the types of the pairs, (n,); all are `pair` when absent"
    )
    split: PlacedPath | None = Field(
        None, description="file of the splits of the pairs, (n,); all are `all` when absent"
    )
    weight: PlacedPath | None = Field(
        None,
        description="file of how much each pair counts in means, (n,); 1 when absent",
    )
    names: dict[Role, str] = Field(
        {},
        description="names of the arrays in `.npz` files and `.zarr` groups and of the columns in "
        "`.arrow` files, by key; the key itself when absent",
    )
    classes: ClassNames = Field((), description=CLASSES)

    @model_validator(mode="after")
    def _makes_pairs(self) -> "Arrays":
        if (self.counterfactual is None) == (self.removed is None):
            raise fault(
                "give either 'counterfactual' (an array), or 'removed' (columns or channels)"
            )
        fits = self.pair_type is None or self.removed is None
        unsaid = sorted(role for role in self.names if getattr(self, role) is None)
        require_keys(
            [
                ("pair_type", fits, "a 'counterfactual'"),
                ("classes", not self.classes or self.label is not None, "a 'label'"),
                ("names", not unsaid, f"the files of {', '.join(unsaid)}, each under its own key"),
            ]
        )
        return self

    def pair_set(self) -> PairSet:
        """Digest every row of the arrays, reading them a row at a time.

        Raises DataError when a file cannot be used, or lengths, shapes or types differ.
        """
        factual = self._array("factual")
        if self.removed:
            features = self._features(factual)
        else:
            features = []
            self._check_alike(factual, self._array("counterfactual"))
        roles: tuple[Role, ...] = ("factual",) if features else ("factual", "counterfactual")
        count = len(factual)
        rows = [f"row-{row:07d}" for row in range(count)]
        classes = class_ids(self._words("label", count, [""] * count), self.classes)
        sources = self._words("source", count, rows)
        types = self._words("pair_type", count, [PAIR_TYPE] * count)
        splits = self._words("split", count, [SPLIT] * count)
        weights = self._weights(count)
        inputs = tuple(
            Input(f"{role}/{name}", role, digest, str(row))
            for role in roles
            for row, (name, digest) in enumerate(zip(rows, self._digests(role), strict=True))
        )
        said = zip(rows, sources, types, classes.ids, splits, weights, strict=True)
        pairs = [
            Pair(
                pair_id=f"{name}__{k}" if k else name,
                source_id=source,
                pair_type=f"{self.removed[:-1]} {k}" if self.removed else kind,
                class_id=class_id,
                split=split,
                plus=row,
                minus=row if k else count + row,
                feature=k,
                weight=weight,
            )
            for row, (name, source, kind, class_id, split, weight) in enumerate(said)
            for k in features or [0]
        ]
        shape = " ".join(map(str, factual.shape[1:]))
        mask = Input(self.removed or "", "features", shape, shape)
        return PairSet(
            inputs,
            tuple(pairs),
            INPUTS,
            (*remark_marks(_columns(factual)), *classes.remarks),
            masks=(mask,) * count if features else (),
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
        )

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

    def read_mask(self, mask: Input) -> NDArray[np.uint64]:
        """(features,) or (channels, length) words: each column, or channel, is a feature."""
        count, *length = map(int, mask.location.split())
        words = feature_words(np.arange(1, count + 1))
        return np.broadcast_to(words.reshape(-1, *[1] * len(length)), (count, *length))

    def _features(self, factual: Rows) -> list[int]:
        expected = "(n, features)" if self.removed == "columns" else "(n, channels, length)"
        if factual.ndim != expected.count(",") + 1 or factual.shape[1] > WORD_BITS:
            raise DataError(
                f"{self.factual} is {factual.shape}; expected {expected} with {WORD_BITS} "
                f"{self.removed} at most, of which 'removed: {self.removed}' removes each"
            )
        return list(range(1, factual.shape[1] + 1))

    def _check_alike(self, factual: Rows, counterfactual: Rows) -> None:
        found = [f"{array.dtype} {array.shape}" for array in (factual, counterfactual)]
        if found[0] != found[1]:
            raise DataError(
                f"{self.counterfactual} is {found[1]}; expected {found[0]}, as {self.factual} has "
                "it: row by row, the same input but for the change"
            )

    def _array(self, role: Role) -> Rows:
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
        return [str(word) for word in array]

    def _weights(self, count: int) -> list[float]:
        if self.weight is None:
            return [1.0] * count
        array = self._array("weight")
        if array.shape != (count,) or array.dtype.kind not in "iuf":
            raise DataError(
                f"'weight' in {self.weight} is {array.dtype} {array.shape}; expected numbers "
                f"({count},), one for each row of {self.factual}"
            )
        return [float(number) for number in array]

    def _digests(self, role: Role) -> tuple[str, ...]:
        path = getattr(self, role)
        return _row_digests(path, self.names.get(role, role), modified_at(path))


def _columns(rows: Rows) -> Iterator[tuple[str, NDArray[np.number]]]:
    """Number of each column, from 1, and its values in rows that are spread over the array."""
    if rows.ndim == 2 and len(rows) and rows.dtype.kind in "iuf":
        places = np.unique(np.linspace(0, len(rows) - 1, LOOKED_AT).astype(int))
        values = np.stack([rows[place] for place in places.tolist()])
        for number, column in enumerate(values.T, 1):
            yield str(number), column[np.isfinite(column)]


@lru_cache(maxsize=4)
def _row_digests(path: Path, name: str, modified: int) -> tuple[str, ...]:
    """Digest of every row with its type and shape, made once per process while the file stays."""
    array = opened_again(path, name)
    kind = f"{array.dtype.str} {array.shape[1:]}".encode()
    return tuple(
        hashlib.sha256(kind + np.ascontiguousarray(row).tobytes()).hexdigest() for row in array
    )
