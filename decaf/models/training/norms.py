"""Batch normalisation that begins with the statistics of the training data."""

from collections.abc import Iterable
from typing import Any

from decaf.foundation.arrays import Module, Tensor


def begin_with_statistics(network: Module, batches: Iterable[Tensor]) -> None:
    """Give every batch normalisation mean and variance of its inputs; outputs stay the same.

    In training a layer normalises by its batch. If its stored statistics differ, the network's
    outputs change from the first step on, and the network forgets. This is worst if the
    statistics were folded into the weights before a layer, which then holds means of 0 and
    variances of 1. Here scale and shift compensate for the new statistics. ``batches`` are inputs
    of the network. Layers without statistics, scale and shift stay unchanged.
    """
    import torch

    layers = [
        layer
        for layer in network.modules()
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm)
        and layer.affine
        and layer.running_mean is not None
    ]
    sums: dict[Module, list[Any]] = {layer: [0, 0.0, 0.0] for layer in layers}

    def note(layer: Module, given: tuple[Tensor, ...]) -> None:
        values = given[0].transpose(0, 1).flatten(1).double()
        layer_sums = sums[layer]
        layer_sums[0] += values.shape[1]
        layer_sums[1] = layer_sums[1] + values.sum(1)
        layer_sums[2] = layer_sums[2] + values.square().sum(1)

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
        for layer, (count, total, squares) in sums.items():
            if count:
                mean = total / count
                _move(layer, mean, (squares / count - mean.square()).clamp(min=0))


def _move(layer: Any, mean: Tensor, variance: Tensor) -> None:
    """Set new statistics, (channels,) each, with the scale and shift that compensate for them."""
    scale = layer.weight / (layer.running_var + layer.eps).sqrt()
    layer.bias += scale * (mean - layer.running_mean)
    layer.weight.copy_(scale * (variance + layer.eps).sqrt())
    layer.running_mean.copy_(mean)
    layer.running_var.copy_(variance)
