"""Set the numerical precision of a forward pass; afterwards TF32 is off in the whole process."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal

from decaf.foundation.arrays import Device

Precision = Literal["float32", "tf32", "bfloat16", "float16"]


def disable_tf32() -> None:
    """Forbid TF32 in this process: states are built, and most models run, in plain float32."""
    _allow_tf32(False)


@contextmanager
def forward_precision(precision: Precision, device: Device) -> Iterator[None]:
    """Run a forward pass in a precision; afterwards, plain float32 applies again.

    ``tf32`` lets matrix products and convolutions of a GPU round their inputs to 10 bits of
    mantissa (it changes nothing on a CPU); ``bfloat16`` and ``float16`` are autocast.
    """
    import torch

    _allow_tf32(precision == "tf32")
    is_half = precision in ("bfloat16", "float16")
    try:
        with torch.autocast(device.type, getattr(torch, precision)) if is_half else nullcontext():
            yield
    finally:
        disable_tf32()


def _allow_tf32(is_allowed: bool) -> None:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = is_allowed
    torch.backends.cudnn.allow_tf32 = is_allowed
