"""A small vision transformer for 32 × 32 images."""

import torch
from torch import nn
from torch.nn import functional

IMAGE, PATCH = 32, 4


def build(
    classes: int = 2, width: int = 32, depth: int = 2, heads: int = 2, mlp_ratio: int = 2
) -> nn.Module:
    """Build the network, initialised from torch's global generator.

    Patches of 4 × 4 and a class token, pre-norm blocks without dropout, a linear head on the class
    token; 21 thousand parameters by default. There are ``depth`` blocks, at least 1, with ``heads``
    attention heads each; ``width`` is a multiple of ``heads``, and the MLP of a block is
    ``mlp_ratio`` times as wide. That of the paper's controlled suite has a width of 192, 6 blocks
    of 3 heads, and a ratio of 4. The network maps (n, 3, 32, 32) float32, normalised, to
    (n, classes) logits.
    """
    return SmallVit(classes, width, depth, heads, mlp_ratio)


class SmallVit(nn.Module):
    """The network of ``build``."""

    def __init__(self, classes: int, width: int, depth: int, heads: int, mlp_ratio: int):
        super().__init__()
        self.patch = nn.Conv2d(3, width, kernel_size=PATCH, stride=PATCH)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(1, (IMAGE // PATCH) ** 2 + 1, width))
        self.blocks = nn.ModuleList([_Block(width, heads, mlp_ratio) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Map (n, 3, 32, 32) images to (n, classes) logits."""
        patches = self.patch(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(images), -1, -1), patches], dim=1)
        tokens = tokens + self.position
        for block in self.blocks[:-1]:
            tokens = block(tokens, tokens.shape[1])
        # The head reads only the class token, so the last block computes nothing else.
        token = self.blocks[-1](tokens, 1)
        return self.head(self.norm(token[:, 0]))


class _Block(nn.Module):
    """Self-attention and an MLP, for the first ``kept`` of the (n, t, width) tokens."""

    def __init__(self, width: int, heads: int, mlp_ratio: int):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.mix = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, mlp_ratio * width),
            nn.GELU(),
            nn.Linear(mlp_ratio * width, width),
        )

    def forward(self, tokens: torch.Tensor, kept: int) -> torch.Tensor:
        read = self.attention_norm(tokens)
        heads = functional.scaled_dot_product_attention(
            self._split(self.query(read[:, :kept])),
            self._split(self.key(read)),
            self._split(self.value(read)),
        )
        attended = tokens[:, :kept] + self.mix(heads.transpose(1, 2).flatten(2))
        return attended + self.mlp(attended)

    def _split(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens.unflatten(2, (self.heads, -1)).transpose(1, 2)
