"""Batch normalisation that begins with the statistics of what it is trained on."""

from collections.abc import Iterable
from typing import Any

from decaf.foundation.arrays import Module, Tensor


def begin_with_statistics(network: Module, batches: Iterable[Tensor]) -> None:
    """Give every batch normalisation mean and variance of its inputs; answers stay as they were.

    In training a layer normalises by its batch. A network whose layers hold other statistics
    therefore answers otherwise from the first step on and forgets what it knew, above all where
    the statistics were folded into the weights before a layer, which then holds means of 0 and
    variances of 1. Here scale and shift make up for the new statistics. ``batches`` are what the
    network takes. Layers without statistics, scale and shift stay as they are.
    """
    import torch

    layers = [
        layer
        for layer in network.modules()
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm)
        and layer.affine
        and layer.running_mean is not None
    ]
    found: dict[Module, list[Any]] = {layer: [0, 0.0, 0.0] for layer in layers}

    def note(layer: Module, given: tuple[Tensor, ...]) -> None:
        values = given[0].transpose(0, 1).flatten(1).double()
        own = found[layer]
        own[0] += values.shape[1]
        own[1] = own[1] + values.sum(1)
        own[2] = own[2] + values.square().sum(1)

    was_training = network.training
    hooks = [layer.register_forward_pre_hook(note) for layer in layers]
    try:
        network.eval()
        with torch.inference_mode():
            for batch in batches:
                network(batch)
    finally:
        for hook in hooks:
            hook.remove()
        network.train(was_training)
    with torch.no_grad():
        for layer, (count, total, squares) in found.items():
            if count:
                mean = total / count
                _move(layer, mean, (squares / count - mean.square()).clamp(min=0))


def _move(layer: Any, mean: Tensor, variance: Tensor) -> None:
    """Other statistics, (channels,) each, with the scale and shift that undo what they change."""
    scale = layer.weight / (layer.running_var + layer.eps).sqrt()
    layer.bias += scale * (mean - layer.running_mean)
    layer.weight.copy_(scale * (variance + layer.eps).sqrt())
    layer.running_mean.copy_(mean)
    layer.running_var.copy_(variance)
