"""Clean inputs of a data set as columns, and as a set that is stored together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from decaf.data.coded import Coded, code_texts, code_values, first_rows
from decaf.data.records import Input
from decaf.data.texts import Texts, list_sha256, parts_of
from decaf.errors import DataError
from decaf.foundation.digests import json_text

Shape = tuple[int, ...]


@dataclass(frozen=True)
class InputColumns(Sequence[Input]):
    """(n,) inputs, column by column; indexing returns an :class:`Input`.

    >>> images = InputColumns.of([Input("a", "factual", "12", "a.png")])
    >>> images[0].location
    'a.png'
    """

    image_ids: Texts
    variants: Coded[Texts]
    digests: Texts
    locations: Sequence[str]
    files: Sequence[str | None] | None = None
    """None if no input has a file."""
    shapes: Coded[tuple[Shape | None, ...]] | None = None
    """None if no input has a shape."""

    @classmethod
    def of(cls, inputs: Iterable[Input]) -> "InputColumns":
        """Columns of inputs; columns are returned unchanged.

        Raises DataError for a name or digest that is not Unicode.
        """
        if isinstance(inputs, cls):
            return inputs
        images = [*inputs]
        files = tuple(image.file for image in images)
        shapes = [image.shape for image in images]
        return cls(
            Texts(image.image_id for image in images),
            code_texts(image.variant for image in images),
            Texts(image.digest for image in images),
            tuple(image.location for image in images),
            None if set(files) <= {None} else files,
            code_values(shapes) if any(shapes) else None,
        )

    def __len__(self) -> int:
        return len(self.image_ids)

    def take(self, numbers: NDArray[np.int64]) -> "InputColumns":
        """Some of the inputs, in their order."""
        return InputColumns(
            self.image_ids.take(numbers),
            self.variants.take(numbers),
            self.digests.take(numbers),
            _take(self.locations, numbers),
            None if self.files is None else _take(self.files, numbers),
            None if self.shapes is None else self.shapes.take(numbers),
        )

    @overload
    def __getitem__(self, place: int) -> Input: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Input, ...]: ...
    def __getitem__(self, place: int | slice) -> Input | tuple[Input, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(*place.indices(len(self))))
        return Input(
            self.image_ids[place],
            self.variants[place],
            self.digests[place],
            self.locations[place],
            None if self.files is None else self.files[place],
            None if self.shapes is None else self.shapes[place],
        )

    def __iter__(self) -> Iterator[Input]:
        nothing = [None] * len(self)
        columns = (self.image_ids, self.variants.to_list(), self.digests, self.locations)
        shapes = nothing if self.shapes is None else self.shapes.to_list()
        for fields in zip(*columns, self.files or nothing, shapes, strict=True):
            yield Input(*fields)


def _take(column: Sequence[Any], numbers: NDArray[np.int64]) -> Sequence[Any]:
    if isinstance(column, Texts):
        return column.take(numbers)
    return tuple(column[number] for number in numbers.tolist())


@dataclass(frozen=True, init=False)
class InputSet:
    """Clean inputs and how they are made: equal digests and construction mean equal inputs."""

    inputs: InputColumns
    construction: str
    """Steps that construct inputs from the digested sources: resize, crop, renderer."""
    remarks: tuple[str, ...] = ()
    """Remarks on unused data; not a part of its identity."""

    def __init__(
        self, inputs: Iterable[Input], construction: str, remarks: tuple[str, ...] = ()
    ) -> None:
        fields = {
            "inputs": InputColumns.of(inputs),
            "construction": construction,
            "remarks": remarks,
        }
        self.__dict__.update(fields)

    @cached_property
    def digest(self) -> str:
        """Digest of the inputs."""
        digests = self.inputs.digests
        parts = ([digests.take(some)] for some in parts_of(np.arange(len(digests))))
        _ = digests.is_plain  # once for all parts
        return list_sha256(f"[{json_text(self.construction)},[", parts, "]]")

    @cached_property
    def shapes(self) -> dict[Shape, int]:
        """Shapes, smallest first, each with an input; empty if all inputs have one shape."""
        column = self.inputs.shapes
        if column is None or len(column.values) < 2:
            return {}
        numbers = first_rows(column.codes, len(column.values)).tolist()
        first = dict(zip(column.values, numbers, strict=True))
        if (bare := first.pop(None, None)) is not None:
            raise DataError(
                f"input {self.inputs[bare].image_id!r} has no shape, but other inputs "
                "have one; give a shape for every input, or for none if all have the same"
            )
        by_shape = {shape: number for shape, number in first.items() if shape is not None}
        return {
            input_shape: by_shape[input_shape]
            for input_shape in sorted(
                by_shape, key=lambda input_shape: (prod(input_shape), input_shape)
            )
        }

    @cached_property
    def extremes(self) -> tuple[int, ...]:
        """Numbers of a smallest and a largest input; only the first if all have one shape."""
        numbers = [*self.shapes.values()] or [0]
        return tuple(dict.fromkeys((numbers[0], numbers[-1])))

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """(n_inputs,) places in the file: numbers of inputs or, with several shapes, of values."""
        column = self.inputs.shapes
        if not self.shapes or column is None:
            return np.arange(len(self.inputs))
        sizes = np.array([prod(shape or ()) for shape in column.values])[column.codes]
        return np.concatenate([[0], np.cumsum(sizes[:-1])])

    def shape_of(self, number: int) -> Shape | None:
        """Shape of an input if inputs differ in shape, else None."""
        return self.inputs[number].shape if self.shapes else None
