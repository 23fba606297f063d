"""Networks as people bring them: tied layers, one channel, one output."""

import torch
from torch import nn


class Tied(nn.Module):
    """Two names of one layer, and a view of its weights as a buffer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = self.first
        self.register_buffer("row", self.first.weight.detach()[1])
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.second(torch.relu(self.first(x))) + self.row)


def tied():
    return Tied()


def normed():
    """Batch normalisation, whose counter old files lack."""
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))


def grey(channels=1):
    """A network of images of 8 x 8 pixels, by default with one channel."""
    return nn.Sequential(
        nn.Conv2d(channels, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)
    )


def binary(features=3 * 8 * 8, is_sigmoid=False, is_flat=False):
    """One logit or one sigmoid, (n, 1) or (n,)."""
    layers = [nn.Flatten(), nn.Linear(features, 1)]
    layers += [nn.Sigmoid()] if is_sigmoid else []
    layers += [nn.Flatten(0)] if is_flat else []
    return nn.Sequential(*layers)
