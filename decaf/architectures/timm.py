"""``timm:NAME``: networks of the timm library."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from decaf.architectures import Pretrained, first_file
from decaf.errors import UnknownName

if TYPE_CHECKING:
    from timm.models import PretrainedCfg

HUB_FILES = ("model.safetensors", "pytorch_model.bin")


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to ``timm.create_model``."""
    import timm

    return timm.create_model(_known(name), pretrained=False, **arguments)


def identity(name: str) -> str:
    """Nothing beyond the name: the library's version is provenance, not identity."""
    return name


def pretrained(name: str, tag: str, folder: Path | None) -> Pretrained:
    """Weights by timm's tag, such as ``a1_in1k`` of ``resnet50.a1_in1k``.

    In a ``folder`` the file is called as the model: ``resnet50.a1_in1k.safetensors`` (or
    ``.bin``).
    """
    import timm

    full = f"{_known(name)}.{tag}"
    known = timm.list_pretrained(f"{name}.*")
    if full not in known:
        tags = [other.partition(".")[2] for other in known]
        raise UnknownName.among(f"pretrained tag of timm:{name}", tag, tags)
    if folder is not None:
        places = [folder / f"{full}{suffix}" for suffix in (".safetensors", ".bin")]
    else:
        places = _cached(timm.get_pretrained_cfg(full))
    return Pretrained(
        file=first_file(places, f"timm:{full}"), arguments={"pretrained_cfg": tag}, rename=str
    )


def _cached(published: "PretrainedCfg") -> list[Path]:
    """Where timm itself keeps the file; the first is where it belongs when none is there."""
    import torch
    from huggingface_hub import constants, try_to_load_from_cache

    if published.hf_hub_id is None:
        checkpoints = Path(torch.hub.get_dir()) / "checkpoints"
        return [checkpoints / published.url.rpartition("/")[2]]
    names = [published.hf_hub_filename] if published.hf_hub_filename else HUB_FILES
    found = [try_to_load_from_cache(published.hf_hub_id, name) for name in names]
    held = [Path(path) for path in found if isinstance(path, str)]
    repository = "models--" + published.hf_hub_id.replace("/", "--")
    snapshot = Path(constants.HF_HUB_CACHE) / repository / "snapshots" / "main"
    return held or [snapshot / name for name in names]


def _known(name: str) -> str:
    import timm

    if not timm.is_model(name):
        raise UnknownName.among("timm model", name, timm.list_models())
    return name
