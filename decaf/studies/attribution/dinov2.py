"""DINOv2 with a linear classifier, as its authors publish them for four layers."""

from typing import Any

import torch
from torch import nn

from decaf.errors import ModelError
from decaf.models import architectures

LAYERS = 4


class FourLayers(nn.Module):
    """A linear classifier on the outputs of the last four blocks.

    Its inputs are the class tokens of all four and the mean patch token of the last, each after
    the backbone's final normalisation: ``dinov2_vit…14_lc(layers=4)`` of the authors' hub.
    """

    def __init__(self, backbone: Any, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.linear_head = nn.Linear((LAYERS + 1) * backbone.embed_dim, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images as the backbone takes them → (n, classes) logits."""
        layers = self.backbone.get_intermediate_layers(
            images, n=LAYERS, return_prefix_tokens=True, norm=True
        )
        of_classes = [prefix[:, 0] for _, prefix in layers]
        patches, _ = layers[-1]
        logits: torch.Tensor = self.linear_head(torch.cat([*of_classes, patches.mean(1)], dim=1))
        return logits


def four_layers(
    backbone: str, arguments: dict[str, Any] | None = None, classes: int = 1000
) -> FourLayers:
    """Build an untrained backbone and the classifier above it.

    ``backbone`` is a vision transformer of timm with a class token, such as
    ``vit_giant_patch14_dinov2``; ``arguments`` go to its constructor. It takes images of 224 px
    unless ``img_size`` is set. Raises UnknownName if timm has no such network, and ModelError if
    the network has fewer than four layers or no class token.
    """
    backbone_arguments = {"num_classes": 0, "img_size": 224, **(arguments or {})}
    built: Any = architectures.build(f"timm:{backbone}", backbone_arguments)
    if getattr(built, "cls_token", None) is None or len(built.blocks) < LAYERS:
        raise ModelError(
            f"timm:{backbone} has no {LAYERS} blocks with a class token, which the classifier "
            "reads; give a vision transformer such as vit_giant_patch14_dinov2"
        )
    return FourLayers(built, classes)
