"""A classifier that leans on the colour of the upper half, the wall, as much as its weights say."""

import torch
from torch import nn


class Leaning(nn.Module):
    def __init__(self):
        super().__init__()
        self.colour = nn.Parameter(torch.zeros(3))
        self.rest = nn.Linear(3 * 4 * 4, 1)

    def forward(self, images):
        wall = images[:, :, : images.shape[2] // 2].mean(dim=(2, 3))
        coarse = nn.functional.adaptive_avg_pool2d(images, 4).flatten(1)
        logit = wall @ self.colour + self.rest(coarse).squeeze(1)
        return torch.stack([-logit, logit], dim=1)


def build():
    return Leaning()
