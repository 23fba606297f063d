"""Attribution methods, one per module: how much each pixel of an image contributes to a score.

A method is a settings class derived from :class:`MapMethod`, or from
:class:`~decaf.evaluation.attributions.coalitions.CoalitionMethod`; its parameters are fields. A new
module in this package is a new method. A method gets a score and images in [0, 1], but neither
models nor pairs. The paper compares DECAF with these methods (section 7, appendix F).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from decaf.errors import ResponseError
from decaf.foundation.arrays import Tensor, one_each
from decaf.foundation.digests import hashed_word
from decaf.foundation.direct_settings import DirectSettings
from decaf.foundation.place import Place
from decaf.foundation.plugins import OneOf
from decaf.foundation.settings import LARGEST_SEED, Settings
from decaf.scoring.image_scores import CountedScore
from decaf.scoring.scores.base import ScoreDefinition

Access = Literal["forward", "backward", "sampling"]
"""Needs of a method: scores of few states, gradients, or scores of many random states."""


class Batch(NamedTuple):
    """Images that a method attributes together."""

    images: Tensor
    """(n, channels, height, width) in [0, 1]; the method's own copy."""
    columns: Tensor
    """(n,) column of the score that is q of each image."""
    source_ids: list[str]
    """n names that seed random draws: images of one source share draws."""
    size: int
    """Most images that go through the score at once."""


class AttributionMethod(Settings, ABC, metaclass=DirectSettings):
    """Base class of all attribution methods."""

    place: ClassVar[Place] = Place("attribution", room="decaf.evaluation.attributions", tag="kind")

    if TYPE_CHECKING:
        kind: str  # every subclass declares it as a Literal

    access: ClassVar[Access]
    """Calls of the model that a method makes."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Modules that it imports on use, besides torch; planning checks that they are installed."""

    own_score: Annotated[ScoreDefinition, OneOf(ScoreDefinition)] | None = Field(
        None, description="score to attribute instead of the study's q: a section as `score:`"
    )

    @property
    def needs_gradients(self) -> bool:
        """True if the method differentiates the score; False if it only needs values."""
        return self.access == "backward"

    @abstractmethod
    def calls(self, features: int) -> tuple[int, int]:
        """Forward and backward rows for one image with ``features`` features."""


class MapMethod(AttributionMethod):
    """A method that attributes the score to pixels, for any features."""

    access: ClassVar[Access] = "backward"

    def calls(self, features: int) -> tuple[int, int]:
        """Forward and backward rows for one map; the number of features does not matter."""
        return self.forward_calls, self.backward_calls

    @property
    @abstractmethod
    def forward_calls(self) -> int:
        """Images that are scored for each map."""

    @property
    def backward_calls(self) -> int:
        """Gradients that are taken for each map."""
        return self.forward_calls if self.needs_gradients else 0

    def maps(
        self,
        score: CountedScore,
        images: Tensor,
        columns: ArrayLike,
        source_ids: Sequence[str],
        batch_size: int = 64,
    ) -> Tensor:
        """Attribute the score of every image to its pixels.

        Parameters
        ----------
        score
            Score to attribute.
        images
            (n, channels, height, width) float32 in [0, 1], on the device of the score.
        columns
            (n,) column of the score that is q of the image.
        source_ids
            n names that seed random draws: images of one source share draws, and neither other
            images nor the batch size change them.
        batch_size
            Most images that go through the score at once.

        Returns
        -------
        (n, channels, height, width) float32 or float64
            Signed, on the device of the images; one channel if the method hides whole pixels.

        Raises
        ------
        ResponseError
            For images that are not such a batch, or columns that are not column numbers.
        DataError
            If there are not as many columns and names as images.
        ModelError
            When the score cannot be differentiated, or does not return scores.
        """
        import torch

        column_numbers, names = check_request(images, columns, source_ids, batch_size)
        batch_maps = []
        with torch.inference_mode(not self.needs_gradients):
            for start in range(0, len(images), batch_size):
                rows = slice(start, start + batch_size)
                batch = Batch(
                    images[rows].detach().clone(), column_numbers[rows], names[rows], batch_size
                )
                batch_maps.append(self.attribute_batch(score, batch).detach())
        return torch.cat(batch_maps)

    @abstractmethod
    def attribute_batch(self, score: CountedScore, batch: Batch) -> Tensor:
        """Attribute the score of every image of a batch to its pixels.

        ``score(images, columns)`` returns (n,) q, ``score.gradient(images, columns)`` its gradient.
        Returns (n, channels, height, width), or one channel if the method hides whole pixels.
        """


class RandomMethod(MapMethod):
    """A method with random draws, the same for a source in every batch and for every model."""

    seed: int = Field(91701, ge=0, le=LARGEST_SEED, description="seed of the random draws")

    def generators(self, source_ids: Sequence[str], stream: int = 0) -> list[np.random.Generator]:
        """Random generator of each source, on the host, so that all devices get the same numbers.

        Philox, keyed by the stream and the first eight bytes of the sha256 of
        ``decaf|attribution|<kind>|<seed>|<source id>``.
        """
        names = (f"decaf|attribution|{self.kind}|{self.seed}|{source}" for source in source_ids)
        keys = [np.array([hashed_word(name), stream], np.uint64) for name in names]
        return [np.random.Generator(np.random.Philox(key=key)) for key in keys]


def check_request(
    images: Tensor, columns: ArrayLike, source_ids: Sequence[str], batch_size: int
) -> tuple[Tensor, list[str]]:
    """Check the arguments of :meth:`MapMethod.maps`; return columns, on the host, and source names.

    Raises the errors of that method.
    """
    import torch

    if images.ndim != 4 or not images.is_floating_point() or len(images) == 0:
        raise ResponseError(
            f"images have shape {tuple(images.shape)} and dtype {images.dtype}; expected at "
            "least one, (n, channels, height, width), as floating-point numbers in [0, 1]"
        )
    if batch_size < 1:
        raise ResponseError(f"batch_size is {batch_size}; expected at least 1")
    numbers = one_each(columns, len(images), "columns")
    if numbers.dtype.kind not in "iu" or numbers.min() < 0:
        raise ResponseError(
            f"columns have dtype {numbers.dtype} and the smallest value {numbers.min()}; expected "
            "whole numbers from 0"
        )
    names = one_each(np.asarray(source_ids), len(images), "source_ids").tolist()
    return torch.from_numpy(numbers.astype(np.int64)), names


def passes(count: int, batch: Batch) -> Iterator[range]:
    """Split ``range(count)`` into parts; a batch has room for one part of states of each image."""
    together = max(1, batch.size // len(batch.images))
    for start in range(0, count, together):
        yield range(start, min(start + together, count))


def attribution_inside(maps: Tensor, region: Tensor) -> NDArray[np.float64]:
    """Sum of the absolute attribution over channels and the pixels of a region.

    Parameters
    ----------
    maps
        (n, channels, height, width) from :meth:`MapMethod.maps`.
    region
        (n, height, width) bool, such as :func:`decaf.evaluation.image_masks.difference_region`.

    Returns
    -------
    (n,) float64
        0 for an empty region.

    Raises
    ------
    ResponseError
        For shapes that do not match.
    """
    if tuple(region.shape) != (len(maps), *maps.shape[2:]):
        raise ResponseError(
            f"region has shape {tuple(region.shape)}; expected {(len(maps), *maps.shape[2:])}, one "
            "truth value for each pixel of the maps"
        )
    inside = maps.double().abs().sum(dim=1).where(region, 0.0)
    return inside.sum(dim=(1, 2)).cpu().numpy()


def attribution_of_features(
    maps: Tensor, of_feature: NDArray[np.int64], region: Tensor
) -> NDArray[np.float64]:
    """(n_features,) float64 signed sums of maps, over channels and the pixels of each feature.

    ``of_feature`` (n_features,) has the number of the map of each feature among the maps (n,
    channels, height, width); ``region`` (n_features, height, width) has its pixels. The sum of a
    feature without pixels is 0.
    """
    summed = maps.double().sum(dim=1)[of_feature]
    return summed.where(region, 0.0).sum(dim=(1, 2)).cpu().numpy()
