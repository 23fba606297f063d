"""One code for numpy arrays and torch tensors: numpy is the reference, torch runs on any device."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from decaf.errors import DataError, DecafError

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs

    Tensor = torch.Tensor
    Device = torch.device
    Module = torch.nn.Module
    Array = NDArray[Any] | Tensor
else:
    Array = Tensor = Device = Module = Any  # annotations must not import torch

Same = TypeVar("Same", bound="Array")
"""Functions of arrays and tensors, whose results have the library of the arguments."""
GPU = "cuda"
"""Type of a device that works asynchronously."""
LEVELS = 255
"""Highest level of an 8-bit pixel."""
REALS = (int, float, np.integer, np.floating)
"""Types of single real numbers; bool is one of them."""
EXACT = 2**53
"""Up to here float64 holds every whole number; the next one becomes this one."""


def is_tensor(array: object) -> "TypeIs[Tensor]":
    """True for a torch tensor; does not import torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_network(value: object) -> "TypeIs[Module]":
    """True for a torch module; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def is_on_gpu(array: object) -> "TypeGuard[Tensor]":
    """True for a torch tensor in the memory of a GPU."""
    return is_tensor(array) and array.device.type == GPU


def namespace(array: "Array") -> ModuleType:
    """The module whose functions take the array: torch for tensors, numpy for everything else."""
    return sys.modules["torch"] if is_tensor(array) else np


def like(array: Same, values: "ArrayLike | Tensor") -> Same:
    """``values`` as an array of the same library, type and device as ``array``."""
    source: Any = values if is_tensor(values) else np.asarray(values)
    if is_tensor(array):
        return send_to_device(
            namespace(array).as_tensor(source).to(dtype=array.dtype), array.device
        )
    return source.astype(array.dtype, copy=False)


def bits_like(array: "Array", words: "Array") -> Any:
    """Unsigned words of bits, of the library and on the device of ``array``, of any type.

    Tensors hold the same bits as signed numbers: few operations of torch take unsigned ones.
    """
    if not is_tensor(array) or is_tensor(words):
        return words
    signed = np.array(words, order="C").view(f"i{words.dtype.itemsize}")
    return send_to_device(namespace(array).from_numpy(signed), array.device)


def places_like(array: "Array", places: NDArray[np.int64]) -> Any:
    """Numbers of rows on the device of ``array``: a GPU would wait for numbers on the host."""
    if not is_on_gpu(array):
        return places
    return send_to_device(namespace(array).from_numpy(places), array.device)


def send_to_device(tensor: "Tensor", device: "Device") -> Any:
    """Send a tensor to a device; a transfer from the host to a GPU does not block.

    The transfer uses page-locked memory, which torch keeps until the tensor has arrived; GPU work
    that is queued later sees it.
    """
    if device.type != GPU or tensor.device.type == GPU:
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def start_fetch(array: "Array") -> Callable[[], NDArray[Any]]:
    """Start copying an array to the host; the returned function gives its values.

    A GPU begins the copy at once. The returned function waits for the copy, not for GPU work that
    was queued later.
    """
    if not is_on_gpu(array):
        return lambda: to_numpy(array)
    cuda = namespace(array).cuda
    host, arrived = array.detach().to("cpu", non_blocking=True), cuda.Event()
    arrived.record(cuda.current_stream(array.device))

    def wait() -> NDArray[Any]:
        arrived.synchronize()
        return to_numpy(host)

    return wait


def page_locked(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Pinned host memory that a GPU copies from asynchronously; its values are not set."""
    import torch

    kind = getattr(torch, np.dtype(dtype).name)
    return torch.empty(shape, dtype=kind, pin_memory=True).numpy()


def as_taken(inputs: Same) -> Same:
    """Inputs as models take them: 8-bit levels become float32 in [0, 1], other types stay."""
    values: Any = inputs
    if is_tensor(inputs):
        is_levels = values.dtype == namespace(values).uint8
        return values.float().div_(LEVELS) if is_levels else values
    return values / np.float32(LEVELS) if values.dtype == np.uint8 else values


def type_name(array: "Array") -> str:
    """``float32``, ``bool`` …, the same for arrays and tensors."""
    return str(array.dtype).removeprefix("torch.") if is_tensor(array) else array.dtype.name


def as_array(values: Any, name: str, error: type[DecafError]) -> "Array":
    """Tensors stay tensors on their device, detached; everything else becomes a numpy array.

    Raises ``error``, calling the values by ``name``, for lists of tensors, data loaders and data
    sets of torch, for rows of different shapes, and where an entry is masked: without its mask it
    would be a number like any other.
    """
    if is_tensor(values):
        return values.detach()
    _refuse_data_of_torch(values, name, error)
    parts = values if isinstance(values, list | tuple) else [values]
    if any(map(is_tensor, parts)):
        raise error(f"{name} is a list of tensors; expected one tensor: torch.stack(list)")
    refuse_masked(values, name, error)
    try:
        return np.asarray(values)
    except ValueError as refused:
        raise error(
            f"{name} holds rows of different shapes; expected one shape, such as (rows, columns): "
            "bring images to one size first"
        ) from refused


def _refuse_data_of_torch(values: Any, name: str, error: type[DecafError]) -> None:
    """Raise ``error`` for a data loader or a data set of torch; torch is not imported."""
    if (data := sys.modules.get("torch.utils.data")) is None:
        return
    remedies = {
        data.DataLoader: "torch.cat([batch[0] for batch in loader]), of a loader with "
        "shuffle=False: rows are paired by position",
        data.Dataset: "torch.stack([item[0] for item in dataset])",
    }
    for kind, remedy in remedies.items():
        if isinstance(values, kind):
            raise error(
                f"{name} is a torch {kind.__name__} ({type(values).__name__}); expected one tensor "
                f"or array, (n, …): {remedy}"
            )


def refuse_masked(values: Any, name: str, error: type[DecafError]) -> None:
    """Raise ``error`` for masked entries: without its mask an entry is a number like any other."""
    parts = values if isinstance(values, list | tuple) else [values]
    if any(map(np.ma.is_masked, parts)):
        raise error(f"{name} has masked entries; expected only numbers: fill or drop them first")


def as_real(array: Same, name: str, error: type[DecafError]) -> Same:
    """Floats as they are, whole numbers as float64.

    Raises ``error`` for values that are not real numbers, truth values and complex numbers among
    them, and for whole numbers from 2^53 on, since float64 does not hold all of them.
    """
    kind = type_name(array)
    if kind.startswith(("float", "bfloat")):
        return array
    if not kind.startswith(("int", "uint")):
        raise error(f"{name} has values of type {kind}; expected real numbers, as float64")
    if array.dtype.itemsize == 8 and (np.abs(to_numpy(array).astype(np.float64)) >= EXACT).any():
        raise error(
            f"{name} has whole numbers of 2^53 or more, which float64 rounds; expected smaller "
            "numbers, or floats"
        )
    whole: Any = array
    return whole.double() if is_tensor(array) else whole.astype(np.float64)


def to_numpy(array: "Array | ArrayLike") -> NDArray[Any]:
    """The same values on the host, detached from any graph."""
    return array.detach().cpu().numpy() if is_tensor(array) else np.asarray(array)


def one_each(values: ArrayLike, count: int, name: str) -> NDArray[Any]:
    """(n_inputs,) values that were given one for each input.

    Raises DataError for any other shape, and for masked entries.
    """
    refuse_masked(values, name, DataError)
    array = to_numpy(values)
    if array.shape != (count,):
        raise DataError(f"{name} have shape {array.shape}; expected ({count},), one for each input")
    return array


def mapped_array(
    path: Path, dtype: DTypeLike, shape: tuple[int, ...]
) -> "np.memmap[Any, np.dtype[Any]]":
    """Make an ``.npy`` file of zeros that is mapped into memory, with all its blocks on the disk.

    Raises OSError when the disk is full: found while writing to the map, it would be a SIGBUS.
    """
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    return array
