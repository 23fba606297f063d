"""A small convolutional network for 32 × 32 images."""

from torch import nn


def build(classes: int = 2, width: int = 24) -> nn.Module:
    """Build the network, initialised from torch's global generator.

    Three convolutions of stride 2 with batch normalisation, the mean over positions, a linear
    head; 53 thousand parameters by default. The first convolution has ``width`` channels, the next
    two twice and four times as many. The network maps (n, 3, 32, 32) float32, normalised, to
    (n, classes) logits; it takes any larger image as well.
    """
    return nn.Sequential(
        *_halving(3, width),
        *_halving(width, 2 * width),
        *_halving(2 * width, 4 * width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, classes),
    )


def _halving(inputs: int, outputs: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel_size=3, stride=2, padding=1, bias=False)
    return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]
