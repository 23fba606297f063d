"""A user's own network that takes the few inputs of its trial, and no block."""

import torch
from torch import nn

from decaf.scoring.consistency import PROBES


class Broken(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if len(torch.unique(x, dim=0)) > PROBES:
            raise ValueError("five inputs are too many")
        return self.scale * x.mean(dim=(2, 3))[:, :2]
