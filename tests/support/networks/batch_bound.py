"""Models whose score of an input depends on its batch, on its place there, or on chance."""

import numpy as np
import torch

GENERATOR = np.random.default_rng(0)


def scaled(inputs):
    """Mean of every input, as a share of the largest of the batch: the batch decides."""
    means = np.asarray(inputs, np.float64).reshape(len(inputs), -1).mean(axis=1)
    share = means / means.max()
    return np.stack([share, 1 - share], axis=1)


def noisy(inputs):
    """Mean of every input with noise of 0.1."""
    means = np.asarray(inputs, np.float64).reshape(len(inputs), -1).mean(axis=1)
    return means + 0.1 * GENERATOR.standard_normal(len(inputs))


def seeded(inputs, seed=0):
    """Mean of every input, plus a slope that the seed draws: one for all rows of a call."""
    means = np.asarray(inputs, np.float64).reshape(len(inputs), -1).mean(axis=1)
    return means * (1 + 0.1 * np.random.default_rng(seed).standard_normal())


def plain(inputs):
    """Mean of every input."""
    return np.asarray(inputs, np.float64).reshape(len(inputs), -1).mean(axis=1)


def batch_norm():
    """A network whose BatchNorm keeps no running statistics."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4, track_running_stats=False),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 2),
    )


def dropout():
    """A network that drops units in evaluation, too."""

    class Always(torch.nn.Module):
        def forward(self, inputs):
            return torch.nn.functional.dropout(inputs, 0.5, training=True)

    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(), Always(), torch.nn.Linear(48, 2)
    )
