"""The controlled suite's ResNet-18, which notes the rows and seconds of every forward pass.

A process that imports it, as a worker does, notes every state plan that it makes, too.
"""

import os
import time
from pathlib import Path
from typing import Any

import torch
from torch import nn

from decaf.models.networks import resnet18_cifar
from decaf.scoring.planner import StatePlan, plan_states
from tasks.units import state_plans

LOG = "WORK_LOG"
"""Variable that names the file which gets a line ``KIND ROWS SECONDS BYTES`` for all work."""


class Timed(nn.Module):
    """``resnet18_cifar`` of a width; (n, 3, h, w) to (n, 2)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.network = resnet18_cifar.build(width=width)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Scores of two classes."""
        started = time.perf_counter()
        scores = self.network(images)
        if images.is_cuda:
            torch.cuda.synchronize()
        _note("network", len(images), time.perf_counter() - started, 0)
        return scores


def _planned(*given: Any) -> StatePlan:
    started = time.perf_counter()
    plan = plan_states(*given)
    _note("plan", plan.state_count, time.perf_counter() - started, plan.nbytes)
    return plan


def _note(kind: str, rows: int, seconds: float, size: int) -> None:
    with Path(os.environ[LOG]).open("a") as log:
        log.write(f"{kind} {rows} {seconds} {size}\n")


state_plans.plan_states = _planned
