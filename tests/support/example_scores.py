"""Inputs and scores that the tests of one-call audits share."""

import numpy as np
import torch

from decaf.foundation.arrays import to_numpy

HALF = [0, 0.5, 1]
GRID = np.linspace(0, 1, 9)
WEIGHTS = np.random.default_rng(5).normal(size=(3, 3 * 16 * 16)) / 20


def images(count=6, seed=0, kind=np.float64):
    return np.random.default_rng(seed).random((2, count, 3, 16, 16)).astype(kind)


def classes(x):
    """(n, 3) scores that bend, of arrays or tensors."""
    if isinstance(x, torch.Tensor):
        return torch.tanh(x.flatten(1) @ torch.from_numpy(WEIGHTS.T).to(x.dtype))
    return np.tanh(x.reshape(len(x), -1) @ WEIGHTS.T)


class Counting:
    """A score that remembers every input that it was given."""

    def __init__(self, score):
        self.score, self.batches = score, []

    def __call__(self, x):
        self.batches.append(to_numpy(x).copy())
        return self.score(x)

    @property
    def seen(self):
        return np.concatenate(self.batches)
