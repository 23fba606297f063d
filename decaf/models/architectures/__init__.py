"""Sources of architectures: one module each, named as in ``architecture: source:name``.

A source module has two functions: ``build(name, arguments)`` returns an untrained
``torch.nn.Module``, ``identity(name)`` returns text that changes when the source's code does and
is a part of keys. A source whose library publishes weights also has
``find_pretrained_weights(name, tag, folder)``, which finds them on this machine,
``preprocessing(name, tag)`` and ``class_names(name, tag)``.
A new module in this package is a new source.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from decaf.errors import DecafError, ModelError, UnknownName
from decaf.foundation.arrays import Module

Adapt = Callable[[dict[str, Any], Module], dict[str, Any]]
"""Function of the content of a file of published weights, and of the network, to its tensors."""


class Weights(NamedTuple):
    """A file of weights and, if a library published them, how the library loads them."""

    file: Path
    arguments: dict[str, Any] = {}
    """Keyword arguments that the library builds the network with for these weights."""
    adapt: Adapt | None = None
    """Change that the library makes to the file's content before it loads it."""


def build(architecture: str, arguments: dict[str, Any]) -> Module:
    """Untrained network of an architecture ``source:name``, built with keyword arguments.

    Raises UnknownName when there is no such source or name, and ModelError when the constructor
    refuses its arguments or does not return a module.
    """
    import torch

    source, name = _split(architecture)
    try:
        network = source.build(name, arguments)
    except DecafError:
        raise
    except Exception as error:  # noqa: BLE001 - foreign constructors with foreign arguments
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


def weights(architecture: str, file: Path | None, tag: str | None, folder: Path | None) -> Weights:
    """Weights from a file or, without a file, published weights by their tag.

    Published weights are searched for in the folder or, without one, in the library's own cache,
    which imports the library; nothing is downloaded. Raises UnknownName when the library knows no
    such architecture or tag, and ModelError, which names the missing file, when there is no file,
    or the source of the architecture publishes no weights.
    """
    if file is not None:
        return Weights(file)
    source, name = _split(architecture)
    if not hasattr(source, "find_pretrained_weights"):
        raise ModelError(
            f"architecture {architecture} has no published weights; 'pretrained:' works with "
            "torchvision, timm and efficientnet_lite, for your own network give 'weights:'"
        )
    return source.find_pretrained_weights(name, tag, folder)


def first_file(candidates: list[Path], what: str, called: str) -> Path:
    """First existing file; in a folder of the user it must have the name ``called``.

    Raises ModelError, naming the place where it belongs.
    """
    for path in candidates:
        if path.is_file():
            return path
    raise ModelError(
        f"{what}: no weights on this machine, and nothing is downloaded; expected "
        f"{' or '.join(map(str, candidates))}. Put the file there, or as {called} in a folder "
        "that 'checkpoints:' names"
    )


def preprocessing(architecture: str, tag: str) -> dict[str, Any]:
    """The library's data configuration of published weights; imports the library.

    It has ``input_size``, ``mean`` and ``std`` as far as the library states them. Raises
    UnknownName when the library does not know the architecture or tag.
    """
    source, name = _split(architecture)
    return source.preprocessing(name, tag) if hasattr(source, "preprocessing") else {}


def class_names(architecture: str, tag: str) -> tuple[tuple[str, ...], ...]:
    """All names of outputs 0, 1, … of published weights; imports the library.

    Empty if the library names no outputs. Raises UnknownName when it knows no such architecture or
    tag.
    """
    source, name = _split(architecture)
    return source.class_names(name, tag) if hasattr(source, "class_names") else ()


def not_as_published(architecture: str, tag: str, given: Mapping[str, Any]) -> Iterator[str]:
    """Settings that differ from the library's configuration of published weights, in words.

    Keys and errors are those of :func:`preprocessing`.
    """
    for key, expected in preprocessing(architecture, tag).items():
        if _of_length(given[key], expected) != expected:
            yield (
                f"has '{key}: {_as_list(given[key])}', and {architecture} publishes {tag} with "
                f"{_as_list(expected)}"
            )


def _of_length(given: Any, expected: Any) -> Any:
    """Repeat a single number once for each channel."""
    is_one = isinstance(given, tuple) and len(given) == 1
    return given * len(expected) if is_one else given


def _as_list(value: Any) -> str:
    return str(list(value) if isinstance(value, tuple) else value)


def _split(architecture: str) -> tuple[ModuleType, str]:
    prefix, _, name = architecture.partition(":")
    sources = [info.name for info in pkgutil.iter_modules(__path__)]
    if prefix not in sources:
        raise UnknownName.among("architecture source", prefix, sources)
    return importlib.import_module(f"{__name__}.{prefix}"), name
