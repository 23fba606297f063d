"""A small vision transformer for 32 × 32 images."""

import torch
from torch import nn

IMAGE, PATCH = 32, 4


def build(classes: int = 2, width: int = 32, depth: int = 2, heads: int = 2) -> nn.Module:
    """Build the network, initialised from torch's global generator.

    Patches of 4 × 4 and a class token, pre-norm blocks without dropout, a linear head on the class
    token; 21 thousand parameters by default. Width 192, depth 6 and 3 heads make the paper's size,
    but with an MLP of twice the width instead of four times.

    Parameters
    ----------
    classes
        Number of outputs.
    width
        Of a token; a multiple of ``heads``.
    depth
        Number of blocks.
    heads
        Attention heads per block.

    Returns
    -------
    torch.nn.Module
        Maps (n, 3, 32, 32) float32, normalised, to (n, classes) logits.
    """
    return SmallVit(classes, width, depth, heads)


class SmallVit(nn.Module):
    """The network of ``build``."""

    def __init__(self, classes: int, width: int, depth: int, heads: int):
        super().__init__()
        self.patch = nn.Conv2d(3, width, kernel_size=PATCH, stride=PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(1, (IMAGE // PATCH) ** 2 + 1, width))
        self.blocks = nn.Sequential(*[_block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Map (n, 3, 32, 32) images to (n, classes) logits."""
        patches = self.patch(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(images), -1, -1), patches], dim=1)
        tokens = self.blocks(tokens + self.position)
        return self.head(self.norm(tokens[:, 0]))


def _block(width: int, heads: int) -> nn.Module:
    return nn.TransformerEncoderLayer(
        width, heads, 2 * width, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
