"""Base class of data sets: pairs by name, and their clean inputs one at a time."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from decaf.data.inputs import InputColumns
from decaf.data.overview import change_of
from decaf.data.pairs import Input, Pair, PairSet
from decaf.foundation.place import Place
from decaf.foundation.settings import Settings


class Adapter(Settings, ABC):
    """A data set, named by ``data:``; its fields are the keys of that section."""

    place: ClassVar[Place] = Place("adapter", room="decaf.data.adapters", tag="adapter")
    shared_with_recipes: ClassVar[Mapping[str, str]] = {}
    """Keys of the data whose values recipes must have, too.

    Each has words for the consequence of another value, for the message.
    """

    results_folder: ClassVar[Path | None] = None
    """Folder of ``.sql`` files, queries for the tables that ``decaf results`` writes.

    None for the tables of the paper. A file is one ``SELECT`` over the views with ``$study``, below
    a header with its ``purpose`` and ``grain``.
    """

    if TYPE_CHECKING:
        adapter: str  # every member annotates it with its own name

    @abstractmethod
    def pair_set(self) -> PairSet:
        """Name the pairs and digest their sources, without decoding an image.

        Raises BadInput when files are missing or settings do not fit the data.
        """

    def needed_places(self) -> tuple[Path, ...]:
        """Files and folders that the data are read from, so that a plan names all missing ones.

        By default, all paths of the settings.
        """
        return tuple(_paths_in(self))

    @abstractmethod
    def verify(self, pairs: PairSet) -> None:
        """Check that inputs can be paired, before any of them is stored.

        Raises DataError when inputs cannot be paired, naming them.
        """

    @abstractmethod
    def read_input(self, image: Input) -> NDArray[np.uint8] | NDArray[np.floating]:
        """One clean input.

        An image as (height, width, 3) uint8, or float32 or float64 of any shape: a row of features
        as (features,), a signal as (channels, length). All have one type, and the ``shape`` of
        the input, or one shape if inputs state none. Raises DataError when it cannot be read.
        """

    def read_inputs(self, inputs: InputColumns) -> NDArray[Any] | None:
        """Many clean inputs of one shape at once, (n, …), or None to have them read one by one.

        A data set with millions of small inputs returns them here as :meth:`read_input` would.
        Raises DataError when one cannot be read.
        """
        return None

    def describe(self, pairs: PairSet, pair: Pair) -> str:
        """Describe the change of a pair in a few words: ``orange wall → blue wall``.

        A report shows it for the strongest pairs of a study; it enters no result. By default it
        names the changed columns of a row, the removed feature, or else the files or kinds of both
        inputs, after the name of the class if there is one. Raises DataError when an input cannot
        be read.
        """
        names = pairs.class_names
        label = f"{names[pair.class_id]}: " if pair.class_id < len(names) else ""
        return label + change_of(pairs, pair, self.read_input)

    def read_mask(self, mask: Input) -> NDArray[np.unsignedinteger]:
        """One mask of the pair set: the features on every pixel.

        (height, width) of its image, bit k - 1 set where feature k lies; features may overlap, or
        lie nowhere. If images state their shapes, masks do, too. Raises DataError when it cannot
        be read.
        """
        raise NotImplementedError(f"{type(self).__name__} names masks but has no read_mask()")

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        # Workers read the stored inputs, so cached properties stay behind.
        keys = {name: state["__dict__"][name] for name in type(self).model_fields}
        return state | {"__dict__": keys}


def _paths_in(value: object) -> Iterator[Path]:
    """All paths in a setting, including its sections."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Settings):
        for name in type(value).model_fields:
            yield from _paths_in(getattr(value, name))
    elif isinstance(value, Mapping):
        yield from _paths_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _paths_in(each)
