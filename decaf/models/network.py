"""A torch network, fed as its card says."""

from typing import TYPE_CHECKING

from decaf.errors import ModelError
from decaf.models.precision import forward_precision

if TYPE_CHECKING:
    import torch

    from decaf.sources.network import NetworkCard


class NetworkModel:
    """Raw inputs → float32 outputs, in inference mode.

    Parameters
    ----------
    network
        Module that maps normalised float32 inputs to (n, outputs).
    card
        Its preprocessing. Images of another side are resized here, so that every model of a study
        sees the same revealed state.
    device
        Where the network and its inputs live.
    """

    def __init__(
        self, network: "torch.nn.Module", card: "NetworkCard", device: "torch.device"
    ) -> None:
        import torch

        self.output = card.output
        self.device = device
        self._card = card
        formats = {
            "contiguous": torch.contiguous_format,
            "channels_last": torch.channels_last,
        }
        self._format = formats[card.memory_format]
        self._network = network.to(device=device, dtype=torch.float32).to(
            memory_format=self._format
        )
        self._network.eval()
        self._mean = torch.tensor(card.mean, device=device)
        self._std = torch.tensor(card.std, device=device)

    def outputs(self, inputs: "torch.Tensor") -> "torch.Tensor":
        """(n, channels, height, width) or (n, features) float32 → (n, outputs) float32.

        Raises
        ------
        ModelError
            When the card normalises another number of channels or features, or the network
            returns no tensor.
        """
        import torch

        with torch.inference_mode():
            return self.differentiable_outputs(inputs)

    def differentiable_outputs(self, inputs: "torch.Tensor") -> "torch.Tensor":
        """The same as :meth:`outputs`; gradients with respect to the inputs flow through it."""
        import torch

        normalised = self._normalise(inputs)
        with forward_precision(self._card.precision, self.device):
            found = self._network(normalised)
        if not isinstance(found, torch.Tensor):
            raise ModelError(
                f"model {self._card.id}: the network returned {type(found).__name__}; expected "
                "one tensor, (rows, outputs): wrap it in a factory of your own"
            )
        return found.float()

    def _normalise(self, inputs: "torch.Tensor") -> "torch.Tensor":
        from torch.nn import functional

        if self._mean.numel() not in (1, inputs.shape[1]):
            raise ModelError(
                f"model {self._card.id}: the inputs have {inputs.shape[1]} channels or features, "
                f"'mean:' has {self._mean.numel()} numbers; give one for each, or one for all"
            )
        if inputs.ndim == 2:
            return (inputs - self._mean) / self._std
        side = self._card.input_size
        if side is not None and inputs.shape[2:] != (side, side):
            inputs = functional.interpolate(
                inputs, (side, side), mode="bilinear", antialias=True, align_corners=False
            )
        normalised = (inputs - self._mean.view(1, -1, 1, 1)) / self._std.view(1, -1, 1, 1)
        return normalised.contiguous(memory_format=self._format)
