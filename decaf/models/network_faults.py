"""Faults of a network that show when it is called: layers that do not fit inputs, lost rows.

Also unusual outputs, and means of a card that do not fit the inputs.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from decaf.errors import ModelError, number_of
from decaf.foundation.arrays import Module, Tensor
from decaf.foundation.memory import is_out_of_memory

LARGEST_LEVEL = 255
"""Largest level of an 8-bit image."""
ROUNDING = 1e-2
"""Largest allowed difference between 1 and a sum of probabilities, which may be 16-bit floats."""
OUTPUTS_LIKE_PROBABILITIES = (
    "its outputs look like probabilities and count as logits, since its card has no 'output:'; "
    "write 'output: probabilities', or 'output: logits' where the network has no sigmoid or "
    "softmax of its own"
)
"""Remark that warehouses store and compare with this text, so the wording stays."""
OUTPUTS_IN_PERCENT = (
    "its outputs look like probabilities in percent and count as logits; let the network return "
    "them from 0 to 1, and write 'output: probabilities'"
)
STATED_LOGITS_LIKE_PROBABILITIES = (
    "the card says logits, but the outputs of each tried input lie in [0, 1] and sum to 1; if they "
    "are probabilities, say 'output: probabilities', or decaf applies a second softmax"
)


class LayerMismatch(NamedTuple):
    """Layer that got a tensor with another number of channels or features than it takes."""

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


def raise_layer_mismatch(
    network: Module, inputs: Tensor, model_id: str, error: RuntimeError
) -> None:
    """Raise ModelError if a layer takes another number of channels or features than it gets.

    The first of the inputs goes through the network once more. Does nothing if the layers fit, or
    if memory ran out.
    """
    if is_out_of_memory(error):
        return
    mismatch = _find_mismatch(getattr(network, "_orig_mod", network), inputs[:1])
    if mismatch is None:
        return
    shape = tuple(inputs.shape[1:])
    unit = "features" if mismatch.axis == -1 else "channels"
    raise ModelError(
        f"model {model_id}: its layer {mismatch.layer!r} ({mismatch.kind}) takes "
        f"{mismatch.expected_count} {unit} and gets {mismatch.actual_count} (shape "
        f"{mismatch.shape}); inputs have shape (n, {', '.join(map(str, shape))}): "
        f"{_remedy(mismatch, shape)}"
    ) from error


def check_row_count(outputs: Tensor, row_count: int, model_id: str) -> Tensor:
    """Return the outputs of a network, (n,) or (n, …), if there is one row for each input.

    A scalar for one input becomes (1,). Raises ModelError for another number of rows: a network
    that squeezes its outputs loses the axis of a batch of one.
    """
    outputs = outputs.reshape(1) if outputs.ndim == 0 and row_count == 1 else outputs
    if outputs.ndim == 0 or len(outputs) != row_count:
        raise ModelError(
            f"model {model_id}: the network returned shape {tuple(outputs.shape)} for "
            f"{number_of(row_count, 'input')}; expected one row for each input, ({row_count}, "
            "outputs): if the network squeezes its outputs, let it squeeze only the last axis"
        )
    return outputs


def remark_on_outputs(outputs: Tensor, *, is_stated: bool) -> str:
    """Remark on (n, …) logits of any model that look like probabilities; empty if they do not.

    Logits of two classes or more hardly all lie in [0, 1]. ``is_stated`` is True if the card says
    that they are logits; then only rows that sum to 1, or to 100, get a remark.
    """
    columns = outputs.double().reshape(len(outputs), -1)
    if not float(columns.min()) >= 0:  # or NaN
        return ""
    totals, is_one_column = columns.sum(dim=1), columns.shape[1] == 1

    def sums_to(total: float) -> bool:
        return bool(((totals - total).abs() < total * ROUNDING).all()) and not is_one_column

    if sums_to(100):
        return OUTPUTS_IN_PERCENT
    if float(columns.max()) > 1 or (is_stated and not sums_to(1)):
        return ""
    return STATED_LOGITS_LIKE_PROBABILITIES if is_stated else OUTPUTS_LIKE_PROBABILITIES


def remark_on_mean(inputs: Tensor, mean: Sequence[float]) -> str:
    """Remark on a mean of a card outside the range of (n, channels, …) inputs; else empty.

    Images may have any value in [0, 1]. For other inputs, a few rows do not show the whole range,
    so a mean is remarked on only if it lies farther outside the range than the range is wide.
    """
    low, high = float(inputs.min()), float(inputs.max())
    allowed_low, allowed_high = min(low, 0.0), max(high, 1.0)
    margin = 0.0 if inputs.ndim == 4 else allowed_high - allowed_low
    outside = [value for value in mean if max(allowed_low - value, value - allowed_high) > margin]
    if not outside:
        return ""
    has_8_bit_units = (
        inputs.ndim == 4 and (allowed_low, allowed_high) == (0, 1) and max(mean) <= LARGEST_LEVEL
    )
    scaled = ", ".join(f"{value / LARGEST_LEVEL:.3g}" for value in mean)
    remedy = (
        f"write [{scaled}], and divide 'std:' by {LARGEST_LEVEL}, too"
        if has_8_bit_units
        else "correct it"
    )
    return (
        f"its 'mean:' has {outside[0]:g}, but the inputs tried range from {low:g} to {high:g}: "
        f"{remedy}; otherwise all inputs look almost equal to the network"
    )


def _remedy(mismatch: LayerMismatch, shape: tuple[int, ...]) -> str:
    expected, channels = mismatch.expected_count, mismatch.actual_count
    if len(shape) == 2:
        return "if they are grey images, set 'channels: 1' under 'data:'"
    if len(shape) == 3 and shape[0] == 3 and channels == 3 * expected and expected != 3:
        return "for a network with one channel, set 'channels: 1' under 'data:'"
    if len(shape) == 3 and shape[0] == 1 and expected in (3, 3 * channels):
        return "for a network with three channels, set 'channels: 3' under 'data:'"
    if len(shape) == 3 and shape[2] in (1, 3) and shape[0] not in (1, 3):
        return f"if their channels come last, set 'channels: {shape[2]}' under 'data:'"
    return "correct 'architecture:', 'arguments:' or 'input_size:' of the model, or the data"


def _find_mismatch(network: Module, inputs: Tensor) -> LayerMismatch | None:
    """Call the network again; return the layer whose input has the wrong size, or None."""
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
            return _mismatch_of(name, layer, arguments[0]) if arguments else None
    return None


def _mismatch_of(name: str, layer: Module, tensor: Any) -> LayerMismatch | None:
    """Mismatch of a convolution, a linear layer or a normalisation; None if the tensor fits it."""
    counts = (
        (getattr(layer, "in_channels", None), 1),
        (getattr(layer, "num_features", None), 1),
        (getattr(layer, "in_features", None), -1),
    )
    shape = tuple(getattr(tensor, "shape", ()))
    for expected, axis in counts:
        if isinstance(expected, int) and len(shape) > 1 and shape[axis] != expected:
            return LayerMismatch(name, type(layer).__name__, expected, shape, axis)
    return None
