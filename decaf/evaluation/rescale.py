"""The rescale rule of DeepLIFT (Shrikumar et al., 2017), for any torch functions."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from decaf.errors import ModelError

SMALLEST = 1e-10
"""Inputs that differ by less pass their gradient, as in captum."""


class RescaleRule(TorchFunctionMode):
    """Context in which backward passes use the rescale rule for activations.

    Call the network first on the references, without gradients, then on as many images, with
    gradients. An activation multiplies the gradient of its output by the ratio of two differences,
    of outputs and of inputs, each image minus reference. A maximum over a window assigns its
    difference to the pixels that are largest in the image and in the reference. All other
    functions, including GELU, SiLU, softmax and products, keep their gradients, as in captum.
    """

    def __init__(self) -> None:
        super().__init__()
        self._references: list[Tensor] = []

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function; record its reference inputs, or rescale its gradient."""
        call_options = kwargs or {}
        rule = RULES.get(function)
        if rule is None:
            return function(*args, **call_options)
        if "inplace" in call_options:
            call_options = call_options | {"inplace": False}

        def call(x: Tensor, **options: Any) -> Any:
            return function(x, *args[1:], **call_options | options)

        if not torch.is_grad_enabled():
            self._references.append(args[0])
            return call(args[0])
        if not self._references or self._references[0].shape != args[0].shape:
            raise ModelError(
                "DeepLIFT needs the same activations for an image and its reference, but this "
                "network uses different ones; choose another attribution method"
            )
        return rule(call, args[0], self._references.pop(0))


def _rescale_activation(call: Callable[..., Tensor], x: Tensor, reference: Tensor) -> Tensor:
    now, difference, is_small = _differences(x, reference)
    with torch.no_grad():
        slope = (call(now) - call(reference)) / difference
    # The value, with its gradient where inputs hardly differ; plus zeros, with the slope elsewhere.
    return call(torch.where(is_small, x, now)) + slope * (x - now).masked_fill(is_small, 0)


def _rescale_pooling(call: Callable[..., Any], x: Tensor, reference: Tensor) -> Tensor:
    now, difference, is_small = _differences(x, reference)
    with torch.no_grad():
        largest, place = call(now, return_indices=True)
        of_reference, other_place = call(reference, return_indices=True)
    top = torch.maximum(largest, of_reference)
    step = (x - now).masked_fill(is_small, 0)

    def take(values: Tensor, at: Tensor) -> Tensor:
        return values.flatten(2).gather(2, at.flatten(2)).view_as(at)

    def pass_back(part: Tensor, at: Tensor) -> Tensor:
        return part / take(difference, at) * take(step, at)

    pooled: Tensor = call(torch.where(is_small, x, now))
    return pooled + pass_back(top - of_reference, place) + pass_back(largest - top, other_place)


def _differences(x: Tensor, reference: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values of x; their differences, 1 for small ones; and True for small ones."""
    now = x.detach()
    difference = now - reference
    is_small = difference.abs() < SMALLEST
    return now, difference.masked_fill(is_small, 1), is_small


RULES: dict[Callable[..., Any], Callable[..., Tensor]] = {
    **dict.fromkeys(
        [functional.max_pool1d, functional.max_pool2d, functional.max_pool3d], _rescale_pooling
    ),
    **dict.fromkeys([functional.relu, functional.relu6, functional.hardtanh], _rescale_activation),
    **dict.fromkeys(
        [functional.elu, functional.leaky_relu, functional.softplus], _rescale_activation
    ),
    **dict.fromkeys([torch.relu, torch.sigmoid, torch.tanh], _rescale_activation),
    **dict.fromkeys([Tensor.relu, Tensor.sigmoid, Tensor.tanh], _rescale_activation),
}
