"""Type, shape and range of the numbers that models get, shown before anything is scored."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from decaf.data.input_store import channels_first
from decaf.data.overview import ShownPair
from decaf.data.pairs import PairSet
from decaf.foundation.arrays import as_taken


class ModelInputs(NamedTuple):
    """Inputs of some pairs as models get them, before a network's own preprocessing."""

    type: str
    shape: tuple[int, ...]
    """Shape of the first input, with channels first for an image."""
    low: float
    high: float
    is_image: bool
    """True for 8-bit images, whose pixels come in [0, 1]."""
    is_grey: bool
    """True if all are images with three equal channels."""

    def as_json(self) -> dict[str, Any]:
        """Fields by name."""
        return self._asdict() | {"shape": list(self.shape)}

    def sentence(self, *, has_channels: bool) -> str:
        """Sentence on the form of inputs; ``has_channels`` is true if the data set has that key."""
        axes = " x ".join(map(str, self.shape))
        layout = " (channels first)" if self.is_image else ""
        range_words = (
            f"models get {self.type} {axes}{layout}, from {self.low:.4g} to {self.high:.4g}"
        )
        grey = ""
        if self.is_grey:
            key = ": a network with one channel needs 'channels: 1'" if has_channels else ""
            grey = f"; the three channels are equal{key}"
        return f"{range_words} in these pairs, before a network's 'mean' and 'std'{grey}"


def model_inputs(pairs: PairSet, shown: Sequence[ShownPair]) -> ModelInputs | None:
    """Inputs of the shown pairs as models get them; None for rows of a table with named columns."""
    if pairs.columns is not None or not shown:
        return None
    inputs = [channels_first(image[None])[0] for pair in shown for image in (pair.plus, pair.minus)]
    is_image = inputs[0].dtype == np.uint8
    values = [as_taken(image) for image in inputs]
    return ModelInputs(
        type=values[0].dtype.name,
        shape=values[0].shape,
        low=float(min(array.min() for array in values)),
        high=float(max(array.max() for array in values)),
        is_image=is_image,
        is_grey=is_image and all(len(i) == 3 and (i == i[:1]).all() for i in inputs),
    )
