"""Faults of a network that show when it is called: layers that do not fit inputs, lost rows."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from decaf.errors import ModelError
from decaf.foundation.arrays import Module, Tensor
from decaf.foundation.memory import is_out_of_memory

LEVELS = 255
"""Largest level of an 8-bit image."""
ROUNDING = 1e-2
"""Largest allowed difference between 1 and a sum of probabilities, which may have 16 bits."""
OUTPUTS_LIKE_PROBABILITIES = (
    "its outputs look like probabilities and count as logits, since its card has no 'output:'; "
    "write 'output: probabilities', or 'output: logits' where the network has no sigmoid or "
    "softmax of its own"
)


class Refusal(NamedTuple):
    """A layer that was called with a tensor that does not fit it."""

    layer: str
    kind: str
    expected_count: int
    """Channels or features that the layer takes."""
    shape: tuple[int, ...]
    """Shape of the tensor that it was called with."""
    axis: int
    """Axis of the channels or features."""

    @property
    def actual_count(self) -> int:
        """Channels or features that the layer was called with."""
        return self.shape[self.axis]


def explain_refusal(network: Module, inputs: Tensor, model_id: str, error: RuntimeError) -> None:
    """Raise ModelError if a layer takes another number of channels or features than it gets.

    The first of the inputs goes through the network once more. Raises nothing if the layers fit,
    or the memory did not suffice.
    """
    if is_out_of_memory(error):
        return
    refusal = _find_refusal(getattr(network, "_orig_mod", network), inputs[:1])
    if refusal is None:
        return
    shape = tuple(inputs.shape[1:])
    unit = "features" if refusal.axis == -1 else "channels"
    raise ModelError(
        f"model {model_id}: its layer {refusal.layer!r} ({refusal.kind}) takes "
        f"{refusal.expected_count} {unit} and gets {refusal.actual_count} (a tensor "
        f"{refusal.shape}); inputs are (n, {', '.join(map(str, shape))}): {_remedy(refusal, shape)}"
    ) from error


def with_rows(outputs: Tensor, row_count: int, model_id: str) -> Tensor:
    """Outputs of a network, (n,) or (n, …); one number for one input becomes (1,).

    Raises ModelError for another number of rows than inputs: a network that squeezes its outputs
    loses the axis of a batch of one.
    """
    outputs = outputs.reshape(1) if outputs.ndim == 0 and row_count == 1 else outputs
    if outputs.ndim == 0 or len(outputs) != row_count:
        raise ModelError(
            f"model {model_id}: the network returned shape {tuple(outputs.shape)} for {row_count} "
            f"inputs; expected ({row_count}, outputs): squeeze only the last axis"
        )
    return outputs


def remark_on_outputs(outputs: Tensor) -> str:
    """Remark on outputs that look like probabilities and count as logits; empty if they do not."""
    columns = outputs.double().reshape(len(outputs), -1)
    is_share = bool(((columns >= 0) & (columns <= 1)).all())
    is_whole = columns.shape[1] == 1 or bool(((columns.sum(dim=1) - 1).abs() < ROUNDING).all())
    return OUTPUTS_LIKE_PROBABILITIES if is_share and is_whole else ""


def remark_on_mean(inputs: Tensor, mean: Sequence[float]) -> str:
    """Remark on a mean of a card outside its (n, channels, …) inputs; empty without one.

    Images may have any value in [0, 1]. A few rows of features do not show their range, so a mean
    must lie as far from it as it is wide.
    """
    low, high = min(float(inputs.min()), 0.0), max(float(inputs.max()), 1.0)
    most = 0.0 if inputs.ndim == 4 else high - low
    outside = [value for value in mean if max(low - value, value - high) > most]
    if not outside:
        return ""
    is_of_levels = inputs.ndim == 4 and (low, high) == (0, 1) and max(mean) <= LEVELS
    scaled = ", ".join(f"{value / LEVELS:.3g}" for value in mean)
    remedy = (
        f"write [{scaled}], and divide 'std:' by {LEVELS}, too" if is_of_levels else "correct it"
    )
    return (
        f"its 'mean:' has {outside[0]:g}, but its inputs go from {low:g} to {high:g}: {remedy}, or "
        "the network sees about the same input everywhere"
    )


def _remedy(refusal: Refusal, shape: tuple[int, ...]) -> str:
    expected, channels = refusal.expected_count, refusal.actual_count
    if len(shape) == 2:
        return "if they are grey images, set 'channels: 1' under 'data:'"
    if len(shape) == 3 and shape[0] == 3 and channels in (3 * expected, 3) and expected != 3:
        return "for a network with one channel, set 'channels: 1' under 'data:'"
    if len(shape) == 3 and shape[0] == 1 and expected in (3, 3 * channels):
        return "for a network with three channels, set 'channels: 3' under 'data:'"
    if len(shape) == 3 and shape[2] in (1, 3) and shape[0] not in (1, 3):
        return f"if their channels come last, set 'channels: {shape[2]}' under 'data:'"
    return "correct 'architecture:', 'arguments:' or 'input_size:' of the model, or the data"


def _find_refusal(network: Module, inputs: Tensor) -> Refusal | None:
    """Call the network again and find the layer that fails, if its input does not fit it."""
    entered: list[tuple[str, Module, Any]] = []

    def watch(name: str) -> Any:
        return lambda module, arguments: entered.append((name, module, arguments))

    with ExitStack() as hooks:
        for name, module in network.named_modules():
            if not any(True for _ in module.children()):
                handle = module.register_forward_pre_hook(watch(name or type(module).__name__))
                hooks.callback(handle.remove)
        try:
            network(inputs)
        except RuntimeError:
            name, layer, arguments = entered[-1] if entered else ("", network, ())
            return _misfit(name, layer, arguments[0]) if arguments else None
    return None


def _misfit(name: str, layer: Module, tensor: Any) -> Refusal | None:
    """Refusal of a convolution, a linear layer or a normalisation; None if the tensor fits it."""
    counts = (
        (getattr(layer, "in_channels", None), 1),
        (getattr(layer, "num_features", None), 1),
        (getattr(layer, "in_features", None), -1),
    )
    shape = tuple(getattr(tensor, "shape", ()))
    for expected, axis in counts:
        if isinstance(expected, int) and len(shape) > 1 and shape[axis] != expected:
            return Refusal(name, type(layer).__name__, expected, shape, axis)
    return None
