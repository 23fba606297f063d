"""A user's own network that returns NaN for bright inputs."""

import torch
from torch import nn


class Patchy(nn.Module):
    def __init__(self, limit: float) -> None:
        super().__init__()
        self.limit = limit
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        level = self.scale * x.mean(dim=(1, 2, 3))
        level = torch.where(level > self.limit, torch.nan, level)
        return torch.stack([level, -level], dim=1)
