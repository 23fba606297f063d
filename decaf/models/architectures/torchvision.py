"""``torchvision:NAME``: classification networks of torchvision."""

import re
from pathlib import Path
from typing import Any

from decaf.errors import UnknownName
from decaf.foundation.arrays import Module
from decaf.models.architectures import Weights, first_file

INPUT_TRANSFORMED = ("googlenet", "inception_v3")
"""Networks that torchvision builds with ``transform_input`` for its own weights."""

OLD_DENSENET_NAME = re.compile(r"(denselayer\d+\.(?:norm|conv))\.(\d\.)")


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to the torchvision constructor."""
    from torchvision import models

    return models.get_model(_check_name(name), weights=None, **arguments)


def identity(name: str) -> str:
    """Return only the name: the library's version is provenance, not identity."""
    return name


def find_pretrained_weights(name: str, tag: str, folder: Path | None) -> Weights:
    """Weights by the name of their entry in torchvision's enum, such as ``IMAGENET1K_V2``."""
    import torch

    home = folder or Path(torch.hub.get_dir()) / "checkpoints"
    file_name = _weights_entry(name, tag).url.rpartition("/")[2]
    return Weights(
        file=first_file([home / file_name], f"torchvision:{name} {tag}", file_name),
        arguments={"transform_input": True} if name in INPUT_TRANSFORMED else {},
        adapt=_rename_old_names,
    )


def preprocessing(name: str, tag: str) -> dict[str, Any]:
    """Configuration of the weights' own ``transforms()``, after the crop."""
    transforms = _weights_entry(name, tag).transforms()
    (side,) = set(transforms.crop_size)
    return {"input_size": side, "mean": tuple(transforms.mean), "std": tuple(transforms.std)}


def class_names(name: str, tag: str) -> tuple[tuple[str, ...], ...]:
    """Names of outputs 0, 1, … in the ``meta`` of the weights."""
    return tuple((str(label),) for label in _weights_entry(name, tag).meta.get("categories", ()))


def _weights_entry(name: str, tag: str) -> Any:
    from torchvision import models

    tags = models.get_model_weights(_check_name(name)).__members__
    if tag not in tags:
        raise UnknownName.among(f"weights of torchvision:{name}", tag, tags)
    return tags[tag]


def _rename_old_names(tensors: dict[str, Any], network: Module) -> dict[str, Any]:
    return {OLD_DENSENET_NAME.sub(r"\1\2", name): tensor for name, tensor in tensors.items()}


def _check_name(name: str) -> str:
    from torchvision import models

    model_names = models.list_models(models)
    if name not in model_names:
        raise UnknownName.among("torchvision model", name, model_names)
    return name
