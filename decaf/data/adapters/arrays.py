"""Arrays of inputs in files: signals, volumes, images or rows, and their counterfactuals."""

import hashlib
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.data.adapters.base import Adapter
from decaf.data.array_files import Rows, map_array, modified_at, opened_again
from decaf.data.array_images import as_image, channel_axis, remark_on_images, remark_on_pixels
from decaf.data.cells import WORD_BITS, feature_words
from decaf.data.change_remarks import describe_reordered_rows, spread_places
from decaf.data.class_ids import CLASSES, ClassNames, class_ids
from decaf.data.column_remarks import remark_marks
from decaf.data.equal_pairs import check_pairs_differ
from decaf.data.pairs import Input, Pair, PairSet
from decaf.data.pixel_ranges import CHANNELS, ValueRange, remark_on_ranges
from decaf.data.swapped_names import remark_swapped
from decaf.errors import DataError, SettingError
from decaf.foundation.arrays import as_real
from decaf.foundation.settings import PlacedPath, fault, require_keys

INPUTS = "arrays 1: rows as they are stored, whole numbers as float64"
"""Version of the conversion of rows to inputs; raise it if the inputs change."""
Role = Literal["factual", "counterfactual", "label", "source", "pair_type", "split", "weight"]
PAIR_TYPE, SPLIT = "pair", "all"
LOOKED_AT = 10_000
"""Most rows that are searched for marks of missing values."""
NUMBERS = "iuf"
"""Kinds of numbers, as NumPy calls them."""


class Arrays(Adapter):
    """Pairs of rows of two arrays of any shape, (n, …): `.npy`, `.npz`, `.arrow` or `.zarr`.

    8-bit arrays with an axis of 1 or 3 channels, last or first, are images, as (n, height, width,
    3); floats stay as they are, with channels first if they have any, as (n, channels, length)
    or (n, channels, height, width).
    """

    adapter: Literal["arrays"]
    factual: PlacedPath = Field(description="file of the factual inputs, (n, …)")
    counterfactual: PlacedPath | None = Field(
        None, description="file of their counterfactuals, (n, …)"
    )
    removed: Literal["columns", "channels"] | None = Field(
        None,
        description="instead of counterfactuals, for `removal` paths: remove each column of rows "
        "(n, features), or each channel of signals (n, channels, length), in turn; the pair type "
        "is `column NUMBER` or `channel NUMBER`, from 1",
    )
    label: PlacedPath | None = Field(
        None,
        description="file of the labels, (n,): class numbers, or names; when absent, a score of "
        "classes needs a `target`",
    )
    source: PlacedPath | None = Field(
        None,
        description="file of the source of each pair, (n,): pairs of one source are resampled "
        "together; when absent, each pair is a source",
    )
    pair_type: PlacedPath | None = Field(
        None, description="file of the types of the pairs, (n,); all are `pair` when absent"
    )
    split: PlacedPath | None = Field(
        None, description="file of the splits of the pairs, (n,); all are `all` when absent"
    )
    weight: PlacedPath | None = Field(
        None,
        description="file of the weight of each pair in means, (n,); 1 when absent",
    )
    channels: Literal[1, 3] | None = Field(
        None,
        description="rows are images, (height, width) or with 1 or 3 channels last or first; "
        "models get this number of channels: `1` is grey, .299 red + .587 green + .114 blue, and "
        "`3` repeats grey; when absent, 8-bit images keep their channels",
    )
    scale: float | None = Field(
        None,
        gt=0,
        le=1e12,
        description="divisor of the numbers: `255` maps 0 to 255 to [0, 1], `1` keeps 8-bit "
        "numbers; when absent, 8-bit images become [0, 1] and other numbers stay as stored",
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
            count = "both" if self.removed is not None else "neither"
            raise fault(
                f"found {count} of 'counterfactual' (an array) and 'removed' (columns or "
                "channels); give exactly one"
            )
        fits = self.pair_type is None or self.removed is None
        unsaid = sorted(role for role in self.names if getattr(self, role) is None)
        require_keys(
            [
                ("pair_type", fits, "a 'counterfactual'"),
                ("channels", not (self.channels and self.removed), "a 'counterfactual'"),
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
        self._check_layout(factual)
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
            for row, (name, digest) in enumerate(zip(rows, self._facts(role).digests, strict=True))
        )
        row_values = zip(rows, sources, types, classes.ids, splits, weights, strict=True)
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
            for row, (name, source, kind, class_id, split, weight) in enumerate(row_values)
            for k in features or [0]
        ]
        shape = " ".join(map(str, factual.shape[1:]))
        mask = Input(self.removed or "", "features", shape, shape)
        return PairSet(
            inputs,
            tuple(pairs),
            self._construction + self._version(factual),
            (
                *remark_marks(_columns(factual)),
                *check_pairs_differ(pairs, inputs, self.counterfactual, "changed rows"),
                *classes.remarks,
                *self._remarks(factual, roles),
            ),
            masks=(mask,) * count if features else (),
            has_labels=classes.has_labels,
            class_names=classes.names,
            has_sorted_names=classes.are_sorted,
        )

    def verify(self, pairs: PairSet) -> None:
        """Accept everything: both arrays have one shape, and :meth:`read_input` checks values."""

    def read_input(self, image: Input) -> NDArray[Any]:
        """One row, (…): (height, width, channels) uint8 of an 8-bit image, else float32 or float64.

        Raises DataError when it has values that are not finite.
        """
        array = self._array(cast("Role", image.variant))
        row = np.ascontiguousarray(array[int(image.location)])
        where = f"{getattr(self, image.variant)}[{image.location}]"
        if row.dtype != np.uint8 or self.scale is not None:
            row = as_real(row.astype(row.dtype.newbyteorder("="), copy=False), where, DataError)
        if self._has_images(array):
            row = as_image(row, self.channels)
            if row.dtype == np.uint8:
                return row
            row = np.ascontiguousarray(row.transpose(2, 0, 1))
        row = as_real(row, where, DataError)
        if row.dtype == np.float16:
            row = row.astype(np.float32)
        if not np.isfinite(row).all():
            raise DataError(f"{where} has values that are not finite; fill them in, or drop it")
        return row if self.scale is None else row / row.dtype.type(self.scale)

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
        kinds = [f"{array.dtype} {array.shape}" for array in (factual, counterfactual)]
        if kinds[0] != kinds[1]:
            raise DataError(
                f"{self.counterfactual} is {kinds[1]}; expected {kinds[0]}, as in {self.factual}: "
                "row by row, the same input with one change"
            )

    @property
    def _construction(self) -> str:
        """Settings of reading that are part of the rows' identity."""
        keys = {"channels": self.channels, "scale": self.scale}
        return INPUTS + "".join(f", {key} {value}" for key, value in keys.items() if value)

    def _version(self, factual: Rows) -> str:
        """Part of the identity of images of floats, whose tied patches had another order before."""
        is_eight_bits = factual.dtype == np.uint8 and self.scale is None
        has_images = factual.ndim == 4 or self.channels is not None
        return ", float images 2" if has_images and not is_eight_bits else ""

    def _has_images(self, array: Rows) -> bool:
        """True if rows are images, by their type and shape or by ``channels``."""
        is_eight_bits = array.dtype == np.uint8 and array.ndim == 4 and self.scale is None
        return self.channels is not None or is_eight_bits

    def _check_layout(self, array: Rows) -> None:
        """Raise DataError if rows should be images but do not have the layout of images."""
        if not self._has_images(array):
            return
        shape = tuple(array.shape[1:])
        try:
            is_image = len(shape) == 2 or channel_axis(shape) is not None
        except DataError as error:
            raise DataError(f"{self.factual}: {error}") from error
        if not is_image:
            raise SettingError(
                f"{self.factual} is {array.dtype} {array.shape}; expected images (n, height, "
                "width), or with 1 or 3 channels last or first"
                + (" as 'channels:' needs them" if self.channels else "")
                + ": for numbers other than images, say 'scale: 255' or 'scale: 1' without "
                "'channels:'",
                *(["channels"] if self.channels else []),
            )

    def _remarks(self, array: Rows, roles: Iterable[Role]) -> Iterator[str]:
        """Remark on swapped names, shuffled rows, different ranges, and numbers like pixels."""
        if self.counterfactual is not None:
            files: dict[Role, str] = {
                "factual": self.factual.name,
                "counterfactual": self.counterfactual.name,
            }
            names = {**files, **self.names}
            yield from remark_swapped([names["factual"]], [names["counterfactual"]])
            before, after = (self._facts(role).sample for role in files)
            noun = "columns" if array.ndim == 2 else "positions"
            if reason := describe_reordered_rows([*before.T], [*after.T], noun):
                yield f"{reason}: check that each row of both arrays is one pair"
        shape = tuple(array.shape[1:])
        if self._has_images(array) and len(shape) == 3 and {shape[0], shape[2]} <= {*CHANNELS}:
            yield f"rows of shape {shape} are read as images with the channels last"
        if self._has_images(array) and self.channels is None:
            yield remark_on_images(shape[cast("int", channel_axis(shape))])
        is_scaled = self.scale is not None or (self._has_images(array) and array.dtype == np.uint8)
        ranges = {f"{role} inputs": self._facts(role).range for role in roles}
        if range_remark := remark_on_ranges(shape, ranges):
            yield range_remark
            return
        if is_scaled or array.dtype.kind not in NUMBERS:
            return
        low, high = zip(*ranges.values(), strict=True)
        if remark := remark_on_pixels(shape, array.dtype, ValueRange(min(low), max(high))):
            yield remark

    def _array(self, role: Role) -> Rows:
        return map_array(getattr(self, role), self.names.get(role, role))

    def _words(self, role: Role, count: int, default: list[str]) -> list[str]:
        """(n,) names as texts."""
        if getattr(self, role) is None:
            return default
        return [
            str(word) for word in self._column(role, count, "biuSUmM", "whole numbers or texts")
        ]

    def _weights(self, count: int) -> list[float]:
        if self.weight is None:
            return [1.0] * count
        return [float(number) for number in self._column("weight", count, NUMBERS, "numbers")]

    def _column(self, role: Role, count: int, kinds: str, expected: str) -> Rows:
        """(count,) values of a file; raises DataError for another shape or kind of values."""
        array = self._array(role)
        if array.shape != (count,) or array.dtype.kind not in kinds:
            raise DataError(
                f"{role!r} in {getattr(self, role)} is {array.dtype} {array.shape}; expected "
                f"{expected} ({count},), one for each row of {self.factual}"
            )
        return array

    def _facts(self, role: Role) -> "RowFacts":
        path = getattr(self, role)
        return _row_facts(path, self.names.get(role, role), modified_at(path))


class RowFacts(NamedTuple):
    """Facts about the rows of an array."""

    digests: tuple[str, ...]
    """Digest of every row with its type and shape."""
    range: ValueRange
    """Range of all numbers; (0, 0) without numbers."""
    sample: NDArray[Any]
    """(n, k) up to 16 values of each row, from its start to its end."""


def _columns(rows: Rows) -> Iterator[tuple[str, NDArray[np.number]]]:
    """Number of each column, from 1, and its values in rows that are spread over the array."""
    if rows.ndim == 2 and len(rows) and rows.dtype.kind in "iuf":
        places = np.unique(np.linspace(0, len(rows) - 1, LOOKED_AT).astype(int))
        values = np.stack([rows[place] for place in places.tolist()])
        for number, column in enumerate(values.T, 1):
            yield str(number), column[np.isfinite(column)]


@lru_cache(maxsize=4)
def _row_facts(path: Path, name: str, modified: int) -> RowFacts:
    """Digest rows and find their range, once per process while the file stays unchanged."""
    array = opened_again(path, name)
    kind = f"{array.dtype.str} {array.shape[1:]}".encode()
    is_numeric = array.dtype.kind in NUMBERS
    places = spread_places(math.prod(array.shape[1:]))
    digests, sample, low, high = [], [], np.inf, -np.inf
    for row in array:
        sample.append(np.ravel(row)[places])
        digests.append(hashlib.sha256(kind + np.ascontiguousarray(row).tobytes()).hexdigest())
        if is_numeric:
            low, high = min(low, float(row.min())), max(high, float(row.max()))
    values = ValueRange(low, high) if is_numeric else ValueRange(0, 0)
    return RowFacts(tuple(digests), values, np.array(sample))
