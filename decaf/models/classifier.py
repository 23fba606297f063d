"""An image classifier, fed as its card says."""

from pathlib import Path
from typing import TYPE_CHECKING

from decaf import architectures
from decaf.models.card import ModelCard
from decaf.models.checkpoint import load_into

if TYPE_CHECKING:
    import torch


class ImageClassifier:
    """Raw pixels in [0, 1] → logits, in float32 and inference mode.

    Parameters
    ----------
    network
        Module that maps normalised (n, 3, side, side) float32 to (n, outputs) logits.
    card
        Its preprocessing. Inputs of another side are resized here, so that every model of a study
        sees the same revealed state.
    device
        Where the network and its inputs live.
    """

    def __init__(self, network: "torch.nn.Module", card: ModelCard, device: "torch.device") -> None:
        import torch

        self.card = card
        self.device = device
        formats = {
            "contiguous": torch.contiguous_format,
            "channels_last": torch.channels_last,
        }
        self._format = formats[card.memory_format]
        self._network = network.to(device=device, dtype=torch.float32).to(
            memory_format=self._format
        )
        self._network.eval()
        self._mean = torch.tensor(card.mean, device=device).view(1, 3, 1, 1)
        self._std = torch.tensor(card.std, device=device).view(1, 3, 1, 1)

    def logits(self, pixels: "torch.Tensor") -> "torch.Tensor":
        """(n, 3, height, width) float32 in [0, 1] → (n, outputs) float32."""
        import torch
        from torch.nn import functional

        with torch.inference_mode():
            side = self.card.input_size
            if pixels.shape[2:] != (side, side):
                pixels = functional.interpolate(
                    pixels, (side, side), mode="bilinear", antialias=True, align_corners=False
                )
            inputs = ((pixels - self._mean) / self._std).contiguous(memory_format=self._format)
            return self._network(inputs)


def load_classifier(card: ModelCard, weights: Path, device: str) -> ImageClassifier:
    """Build the card's network, load its weights and put it on a device.

    Raises
    ------
    UnknownName, ModelError
        When the architecture is unknown or the checkpoint does not fit it.
    """
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    network = architectures.build(card.architecture, card.arguments)
    load_into(network, weights)
    return ImageClassifier(network, card, torch.device(device))
