"""A network that takes its time, and notes the rows of every batch before it looks at them."""

import os
import time

import torch
from torch import nn


class Counted(nn.Module):
    """Mean colour, then a linear layer; ``log`` gets a line for every forward pass."""

    def __init__(self, seconds: float, log: str) -> None:
        super().__init__()
        self.seconds, self.log = seconds, log
        self.head = nn.Linear(3, 2)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores of two classes; (n, 3, h, w) to (n, 2)."""
        line = f"{os.getpid()} {len(images)}\n".encode()
        # One write to the end of a file: lines of processes that are killed stay whole.
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        os.write(log, line)
        os.close(log)
        time.sleep(self.seconds)
        return self.head(images.mean(dim=(2, 3)))
