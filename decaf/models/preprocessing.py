"""Preprocess raw inputs for a network: resize, normalise, and set the memory layout."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from decaf.errors import ModelError
from decaf.foundation.arrays import Device, Tensor
from decaf.foundation.settings import Level
from decaf.foundation.square import find_central_start, fit_shorter_side

MemoryFormat = Literal["contiguous", "channels_last"]
"""Layout of images in the memory."""
Interpolation = Literal["bilinear", "nearest"]
"""Interpolation of a resized image: antialiased, or torch's `nearest`."""
LARGEST_SIDE = 16_384
Mean = tuple[Level, ...]
Std = tuple[Annotated[float, Field(ge=1e-6, le=1e6)], ...]


class Resizing(NamedTuple):
    """Resize images to the side that a network takes, px; None leaves them unchanged.

    The whole image is resized to that square. With ``shorter_side``, that side is resized to this
    many px, the longer side in proportion, rounded down; then the central square is kept, all as in
    torchvision's ``Resize`` and ``CenterCrop``.
    """

    side: int | None
    shorter_side: int | None = None
    interpolation: Interpolation = "bilinear"

    def __call__(self, images: Tensor) -> Tensor:
        """(n, channels, height, width) → (n, channels, side, side)."""
        from torch.nn import functional

        if self.side is None:
            return images
        current_size, size = images.shape[2:], [self.side, self.side]
        if self.shorter_side is not None:
            size = fit_shorter_side(current_size, self.shorter_side)
        if [*current_size] != size:
            is_bilinear = self.interpolation == "bilinear"
            images = functional.interpolate(
                images, size, mode=self.interpolation, antialias=is_bilinear
            )
        top, left_edge = (find_central_start(edge, self.side) for edge in size)
        return images[:, :, top : top + self.side, left_edge : left_edge + self.side]


class Preprocessing:
    """Prepares raw inputs, in training as in an audit; gradients pass through it.

    Images are resized here, so that every model of a study sees the same revealed state. ``mean``
    is subtracted from inputs in [0, 1], and the result is divided by ``std``: one number for each
    channel or feature, or one for all. Errors name the model.
    """

    def __init__(
        self,
        resizing: Resizing,
        mean: Sequence[float],
        std: Sequence[float],
        memory_format: MemoryFormat,
        name: str,
        device: Device,
    ) -> None:
        import torch

        is_last = memory_format == "channels_last"
        self.memory_format = torch.channels_last if is_last else torch.contiguous_format
        self._resizing = resizing
        self._mean = torch.tensor(mean, device=device)
        self._std = torch.tensor(std, device=device)
        self._name = name

    def __call__(self, inputs: Tensor) -> Tensor:
        """(n, channels, height, width) or other (n, …) floats → the same in float32, normalised.

        The second axis has the channels or features. Raises ModelError when ``mean`` has another
        number of channels, or when an input size is set for inputs other than images.
        """
        if self._mean.numel() not in (1, inputs.shape[1]):
            raise ModelError(
                f"model {self._name}: the inputs have {inputs.shape[1]} channels or features, "
                f"'mean:' has {self._mean.numel()} numbers; give one for each, or one for all"
            )
        inputs = inputs.float()  # rows of a data set may be float64
        each = (1, -1, *[1] * (inputs.ndim - 2))
        if inputs.ndim != 4:
            if self._resizing.side is not None:
                raise ModelError(
                    f"model {self._name}: inputs have shape {tuple(inputs.shape[1:])}, and "
                    "'input_size:' is of images; write 'input_size: null'"
                )
            return (inputs - self._mean.view(each)).div_(self._std.view(each))
        normalised = (self._resizing(inputs) - self._mean.view(each)).div_(self._std.view(each))
        return normalised.contiguous(memory_format=self.memory_format)
