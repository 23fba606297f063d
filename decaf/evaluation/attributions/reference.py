"""Reference of an image: the state without information that attributions start from."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decaf.evaluation.attributions.base import Batch, passes
from decaf.foundation.arrays import Tensor
from decaf.foundation.settings import LARGEST_SEED, Level, Settings
from decaf.reveal.start import Constant, gaussian_blur, normalisation_of
from decaf.scoring.image_scores import CountedScore


class Referred(Settings):
    """A method with a reference; its keys are those of the path `removal`, and `reference_seed`."""

    baseline: Literal["constant", "mean", "blur", "uniform"] = Field(
        "constant",
        description="start without information: `constant`: `value`; `mean`: the model's mean "
        "(0 for the network); `blur`: the blurred image; `uniform`: uniform noise from -1 to 1 for "
        "the network, the same for all images of a shape",
    )
    value: tuple[Level, ...] = Field(
        (0.0,), min_length=1, description="constant baseline: one number, or one a channel"
    )
    sigma: float = Field(12.0, gt=0, le=1000, description="blurred baseline: deviation in px")
    radius: int = Field(15, ge=1, le=4000, description="blurred baseline: reach in px")
    reference_seed: int = Field(
        8212, ge=0, le=LARGEST_SEED, description="uniform baseline: seed of the noise"
    )

    def reference(self, images: Tensor, score: CountedScore) -> Tensor:
        """(n, channels, height, width) images → their references, of the same shape and type.

        The uniform reference is ``mean + std u``, with ``u`` of :func:`uniform_noise`. Raises
        ResponseError if ``value`` has another number of channels, and ModelError if ``mean`` or
        ``uniform`` is requested and the model does not state its mean.
        """
        import torch

        if self.baseline == "blur":
            return gaussian_blur(images, self.sigma, self.radius)
        if self.baseline == "constant":
            return Constant(self.value).value_like(images).expand_as(images)
        mean, std = (Constant(each).value_like(images) for each in normalisation_of(score))
        if self.baseline == "mean":
            return mean.expand_as(images)
        drawn = torch.from_numpy(uniform_noise(tuple(images.shape[1:]), self.reference_seed))
        return (mean + std * drawn.to(images)).expand_as(images)

    def integrate_gradients(
        self,
        score: CountedScore,
        batch: Batch,
        places: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Tensor:
        """Integrate gradients along the line from reference to image, times their difference.

        ``places`` (n or 1, k) are points of the line of each image, from 0 (reference) to 1
        (image); ``weights`` (k,) are the weights of their gradients. Returns (n, channels, height,
        width) maps.
        """
        import torch

        reference = self.reference(batch.images, score)
        difference, total = batch.images - reference, torch.zeros_like(batch.images)
        at = torch.from_numpy(places[:, :, None, None, None]).to(difference)
        shares = torch.from_numpy(weights).to(difference)
        for points in passes(len(weights), batch):
            part = slice(points.start, points.stop)
            states = reference[:, None] + at[:, part] * difference[:, None]
            columns = batch.columns.repeat_interleave(len(points))
            gradient = score.gradient(states.flatten(0, 1), columns).view_as(states)
            total += torch.tensordot(gradient, shares[part], ([1], [0]))
        return difference * total


def uniform_noise(shape: tuple[int, ...], seed: int) -> NDArray[np.float32]:
    """Noise of a shape, float32, uniform on [-1, 1): the baseline of IG-U (paper, appendix H)."""
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype(np.float32)
