"""A user's own network that takes its time, so that a run can be interrupted."""

import time

import torch
from torch import nn


class Slow(nn.Module):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.head = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(self.seconds)
        return self.head(x.mean(dim=(2, 3)))
