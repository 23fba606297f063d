"""A user's own models of signals, (n, 2, length)."""

import numpy as np
import torch


def build():
    """One convolution over time and two classes."""
    return torch.nn.Sequential(
        torch.nn.Conv1d(2, 3, 3),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool1d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(3, 2),
    )


def falling(batch):
    """Probability that the first channel ends below its mean, and that it does not."""
    level = 1 / (1 + np.exp(batch[:, 0, 12] - batch[:, 0].mean(axis=1)))
    return np.stack([level, 1 - level], axis=1)
