"""From raw inputs to what a network takes: size, mean, std and memory layout of its card."""

from typing import TYPE_CHECKING

from decaf.errors import ModelError

if TYPE_CHECKING:
    import torch

    from decaf.models.sources.network import NetworkCard


class Feeding:
    """Prepares raw inputs, in training as in an audit; gradients pass through it.

    Parameters
    ----------
    card
        Its preprocessing. Images of another side are resized here, so that every model of a study
        sees the same revealed state.
    device
        Where the inputs are.
    """

    def __init__(self, card: "NetworkCard", device: "torch.device") -> None:
        import torch

        formats = {
            "contiguous": torch.contiguous_format,
            "channels_last": torch.channels_last,
        }
        self.memory_format = formats[card.memory_format]
        self._card = card
        self._mean = torch.tensor(card.mean, device=device)
        self._std = torch.tensor(card.std, device=device)

    def __call__(self, inputs: "torch.Tensor") -> "torch.Tensor":
        """(n, channels, height, width) or (n, features) floats → the same in float32, normalised.

        Raises
        ------
        ModelError
            When the card normalises another number of channels or features.
        """
        from torch.nn import functional

        if self._mean.numel() not in (1, inputs.shape[1]):
            raise ModelError(
                f"model {self._card.id}: the inputs have {inputs.shape[1]} channels or features, "
                f"'mean:' has {self._mean.numel()} numbers; give one for each, or one for all"
            )
        inputs = inputs.float()  # rows of a data set may be float64
        if inputs.ndim == 2:
            return (inputs - self._mean) / self._std
        side = self._card.input_size
        if side is not None and inputs.shape[2:] != (side, side):
            inputs = functional.interpolate(
                inputs, (side, side), mode="bilinear", antialias=True, align_corners=False
            )
        normalised = (inputs - self._mean.view(1, -1, 1, 1)) / self._std.view(1, -1, 1, 1)
        return normalised.contiguous(memory_format=self.memory_format)
