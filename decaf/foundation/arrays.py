"""One code for numpy arrays and torch tensors: numpy is the reference, torch runs on any device."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decaf.errors import DataError

if TYPE_CHECKING:
    import torch
    from torch.nn import Module

    Tensor, Device = torch.Tensor, torch.device
    Array = NDArray[Any] | Tensor
else:
    Array = Tensor = Device = Module = Any  # what they are is said without importing torch

LEVELS = 255
"""Highest level of an 8-bit pixel."""


def is_tensor(array: Any) -> bool:
    """Whether it is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def namespace(array: "Array") -> ModuleType:
    """The module whose functions take the array: torch for tensors, numpy for everything else."""
    return sys.modules["torch"] if is_tensor(array) else np


def like(array: "Array", values: ArrayLike) -> "Array":
    """``values`` as an array of the same library, type and device as ``array``."""
    values = np.asarray(values)
    if is_tensor(array):
        return namespace(array).as_tensor(values).to(device=array.device, dtype=array.dtype)
    return values.astype(array.dtype, copy=False)


def as_taken(inputs: "Array") -> "Array":
    """Inputs as models take them: 8-bit levels become float32 in [0, 1], other types stay."""
    if is_tensor(inputs):
        is_levels = inputs.dtype == namespace(inputs).uint8
        return inputs.float().div_(LEVELS) if is_levels else inputs
    return inputs / np.float32(LEVELS) if inputs.dtype == np.uint8 else inputs


def to_numpy(array: "Array") -> NDArray[Any]:
    """The same values on the host, detached from any graph."""
    return array.detach().cpu().numpy() if is_tensor(array) else np.asarray(array)


def one_each(values: ArrayLike, count: int, name: str) -> NDArray[Any]:
    """(n_inputs,) values that were given one for each input.

    Raises DataError for any other shape.
    """
    array = to_numpy(values)
    if array.shape != (count,):
        raise DataError(f"{name} have shape {array.shape}; expected ({count},), one for each input")
    return array
