"""A torch network, fed as its card says."""

from typing import TYPE_CHECKING

from decaf.errors import ModelError
from decaf.models.precision import forward_precision
from decaf.models.preprocessing import Feeding

if TYPE_CHECKING:
    import torch

    from decaf.models.sources.network import NetworkCard


class NetworkModel:
    """Raw inputs → float32 outputs, in inference mode.

    Parameters
    ----------
    network
        Module that maps normalised float32 inputs to (n, outputs).
    card
        Its preprocessing, as :class:`decaf.models.preprocessing.Feeding` carries it out.
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
        self._feeding = Feeding(card, device)
        self._network = network.to(device=device, dtype=torch.float32).to(
            memory_format=self._feeding.memory_format
        )
        self._network.eval()

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

        fed = self._feeding(inputs)
        with forward_precision(self._card.precision, self.device):
            found = self._network(fed)
        if not isinstance(found, torch.Tensor):
            raise ModelError(
                f"model {self._card.id}: the network returned {type(found).__name__}; expected "
                "one tensor, (rows, outputs): wrap it in a factory of your own"
            )
        return found.float()
