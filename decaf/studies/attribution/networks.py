"""A classifier that sees only the parts of classes: one factory, any backbone."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import torch
from torch import nn

from decaf.errors import ModelError
from decaf.models import architectures


class ByParts(nn.Module):
    """Class logits are sums of the log-probabilities of the parts that make the class."""

    members: torch.Tensor
    """(classes, parts) output that each part of a class is; no product, which half precision or
    TF32 would round."""

    def __init__(self, backbone: nn.Module, instances: Sequence[int], classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.instances = tuple(instances)
        self.register_buffer("members", torch.zeros(classes, len(instances), dtype=torch.int64))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images as the backbone takes them → (n, classes) logits."""
        return self.of_parts(self.backbone(images))

    def of_parts(self, outputs: torch.Tensor) -> torch.Tensor:
        """(n, sum of instances) outputs of the backbone → (n, classes) logits."""
        parts = outputs.split(self.instances, dim=1)
        chances = torch.cat([part.log_softmax(1) for part in parts], dim=1)
        return chances[:, self.members].sum(dim=2)


def by_parts(
    architecture: str,
    arguments: dict[str, Any] | None = None,
    instances: Sequence[int] = (4, 3, 4, 9, 6),
    classes: int = 50,
) -> ByParts:
    """Build a backbone with an output for each instance of each part, and classes above it.

    ``architecture`` and ``arguments`` are those of a card, with any number of outputs: the last
    linear layer, or convolution of 1 x 1 px, is replaced. ``instances`` is the number of instances
    of each part, by default those of FunnyBirds. The training fills in ``members``: the instances
    of each class. Raises ModelError if the backbone has no such layer.
    """
    backbone = architectures.build(architecture, arguments or {})
    _replace_head(backbone, sum(instances))
    return ByParts(backbone, instances, classes)


def _replace_head(backbone: nn.Module, outputs: int) -> None:
    heads = [(name, layer) for name, layer in backbone.named_modules() if name and _is_head(layer)]
    if not heads:
        raise ModelError(
            f"{type(backbone).__name__} has no linear layer, nor a convolution of 1 x 1 px, to be "
            "its head; give another backbone in 'arguments: {architecture: …}'"
        )
    name, last = heads[-1]
    has_bias = last.bias is not None
    head = (
        nn.Linear(last.in_features, outputs, has_bias)
        if isinstance(last, nn.Linear)
        else nn.Conv2d(last.in_channels, outputs, 1, bias=has_bias)
    )
    backbone.set_submodule(name, head)


def _is_head(layer: nn.Module) -> TypeGuard[nn.Linear | nn.Conv2d]:
    is_pointwise = isinstance(layer, nn.Conv2d) and layer.kernel_size == (1, 1)
    return isinstance(layer, nn.Linear) or is_pointwise
