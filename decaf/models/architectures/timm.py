"""``timm:NAME``: networks of the timm library."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from decaf.errors import ModelError, UnknownName
from decaf.foundation.arrays import Module
from decaf.models.architectures import Weights, first_file

if TYPE_CHECKING:
    from timm.models import PretrainedCfg

HUB_FILES = ("model.safetensors", "pytorch_model.bin")
ASKING = Lock()
"""Lock to hold while timm's loader is replaced, which all threads of the process share."""


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to ``timm.create_model``, except one that opens a file."""
    import timm

    if "checkpoint_path" in arguments:
        raise ModelError(
            "'checkpoint_path' is not an argument of a network; use 'weights:' instead"
        )
    return timm.create_model(_check_name(name), pretrained=False, **arguments)


def identity(name: str) -> str:
    """Return only the name: the library's version is provenance, not identity."""
    return name


def find_pretrained_weights(name: str, tag: str, folder: Path | None) -> Weights:
    """Weights by timm's tag, such as ``a1_in1k`` of ``resnet50.a1_in1k``.

    In a ``folder`` the file has the model's name: ``resnet50.a1_in1k.safetensors`` (or
    ``.bin``).
    """
    import timm

    full = _full_name(name, tag)
    file_names = [f"{full}{suffix}" for suffix in (".safetensors", ".bin")]
    if folder is not None:
        places = [folder / file_name for file_name in file_names]
    else:
        places = _cached_files(cast("PretrainedCfg", timm.get_pretrained_cfg(full)))

    def adapt(content: dict[str, Any], network: Module) -> dict[str, Any]:
        filtered = _filter_of(name, tag)
        if filtered is None:
            return content
        takes_network = len(inspect.signature(filtered).parameters) > 1
        return filtered(content, network) if takes_network else filtered(content)

    file = first_file(places, f"timm:{full}", file_names[0])
    return Weights(file, {"pretrained_cfg": tag}, adapt)


def preprocessing(name: str, tag: str) -> dict[str, Any]:
    """Timm's data configuration; without a side if images are not square."""
    import timm
    from timm.data.config import resolve_data_config

    published = cast("PretrainedCfg", timm.get_pretrained_cfg(_full_name(name, tag)))
    configuration = resolve_data_config(pretrained_cfg=published.to_dict())
    _, height, width = configuration["input_size"]
    side = {"input_size": height} if height == width else {}
    return {**side, "mean": tuple(configuration["mean"]), "std": tuple(configuration["std"])}


def class_names(name: str, tag: str) -> tuple[tuple[str, ...], ...]:
    """Names of outputs 0, 1, … from timm's configuration, or timm's names of ImageNet's classes.

    Each output has its label, as ``n01440764``, and the words that describe it.
    """
    import timm
    from timm.data.imagenet_info import ImageNetInfo, infer_imagenet_subset

    published = cast("PretrainedCfg", timm.get_pretrained_cfg(_full_name(name, tag)))
    if published.label_names:
        return tuple((str(label),) for label in published.label_names)
    if not (subset := infer_imagenet_subset(published.to_dict())):
        return ()
    info = ImageNetInfo(subset)
    described = zip(info.label_names(), info.label_descriptions(), strict=True)
    return tuple((label, *words.split(", ")) for label, words in described)


def _full_name(name: str, tag: str) -> str:
    """Full name of published weights, as ``resnet50.a1_in1k``."""
    import timm

    full = f"{_check_name(name)}.{tag}"
    full_names = timm.list_pretrained(f"{name}.*")
    if full not in full_names:
        tags = [full_name.partition(".")[2] for full_name in full_names]
        raise UnknownName.among(f"pretrained tag of timm:{name}", tag, tags)
    return full


@cache
def _filter_of(name: str, tag: str) -> Callable[..., dict[str, Any]] | None:
    """Filter that timm's loader applies to a file of weights; None if the model has none.

    Older files hold buffers that timm now computes, and names that have changed since. timm passes
    the filter from a model's constructor to its loader and stores it nowhere. decaf therefore calls
    the constructor with a loader that loads nothing.
    """
    import timm
    import torch
    from timm.models import _builder

    builder: Any = _builder

    loader_options: dict[str, Any] = {}

    def load_nothing(_: Module, **given: Any) -> None:
        loader_options.update(given)

    with ASKING, torch.random.fork_rng(devices=[]):
        loader = builder.load_pretrained
        builder.load_pretrained = load_nothing
        try:
            timm.create_model(name, pretrained=True, pretrained_cfg=tag)
        finally:
            builder.load_pretrained = loader
    return loader_options.get("filter_fn")


def _cached_files(published: "PretrainedCfg") -> list[Path]:
    """Places where timm stores the file; without a file, the places where timm would put it."""
    import torch
    from huggingface_hub import constants, try_to_load_from_cache

    if published.hf_hub_id is None:
        checkpoints = Path(torch.hub.get_dir()) / "checkpoints"
        return [checkpoints / str(published.url).rpartition("/")[2]]
    names = [published.hf_hub_filename] if published.hf_hub_filename else HUB_FILES
    cache_answers = [try_to_load_from_cache(published.hf_hub_id, name) for name in names]
    held = [Path(path) for path in cache_answers if isinstance(path, str)]
    repository = "models--" + published.hf_hub_id.replace("/", "--")
    snapshot = Path(constants.HF_HUB_CACHE) / repository / "snapshots" / "main"
    return held or [snapshot / name for name in names]


def _check_name(name: str) -> str:
    import timm

    if not timm.is_model(name):
        raise UnknownName.among("timm model", name, timm.list_models())
    return name
