"""A network without cost, which returns the same scores for every input."""

import torch
from torch import nn


class Constant(nn.Module):
    """(n, …) to (n, classes), the scores being its only weights."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.linspace(0, 1, classes))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """The scores, once for every input."""
        return self.scores.expand(len(inputs), -1)


def build(classes: int) -> Constant:
    """The network for so many classes."""
    return Constant(classes)
