"""Where networks come from: one module per source, named as in ``architecture: source:name``.

A source module has two functions: ``build(name, arguments)`` returns an untrained
``torch.nn.Module``, ``identity(name)`` returns text that changes when the source's code does and
goes into the shard key. A new module in this package is a new source.
"""

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING, Any

from decaf.errors import ModelError, UnknownName

if TYPE_CHECKING:
    import torch


def build(architecture: str, arguments: dict[str, Any]) -> "torch.nn.Module":
    """Untrained network of an architecture ``source:name``, built with keyword arguments.

    Raises
    ------
    UnknownName
        When there is no such source or name.
    ModelError
        When the constructor refuses its arguments or does not return a module.
    """
    import torch

    source, name = _split(architecture)
    try:
        network = source.build(name, arguments)
    except (TypeError, ValueError, AttributeError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"architecture {architecture} with arguments {arguments} cannot be built: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(network, torch.nn.Module):
        raise ModelError(
            f"architecture {architecture} returned {type(network).__name__}; expected a "
            "torch.nn.Module"
        )
    return network


def identity(architecture: str) -> str:
    """Text that changes when the code of the architecture does; imports no torch."""
    source, name = _split(architecture)
    return source.identity(name)


def _split(architecture: str) -> tuple[ModuleType, str]:
    prefix, _, name = architecture.partition(":")
    known = [info.name for info in pkgutil.iter_modules(__path__)]
    if prefix not in known:
        raise UnknownName.among("architecture source", prefix, known)
    return importlib.import_module(f"{__name__}.{prefix}"), name
