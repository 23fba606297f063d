"""A user's network that is slow on demand, so that tests can interrupt a run."""

import logging
import os
import time

import torch
from torch import nn


class Slow(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if seconds := float(os.environ.get("SLOW_SECONDS", "0")):
            logging.getLogger(__name__).warning("it takes its time")
            time.sleep(seconds)
        return self.head(x.mean(dim=(2, 3)))
