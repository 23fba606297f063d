"""``factory:package.module:function``: a network that the user's own code builds."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from decaf.digests import file_sha256
from decaf.errors import ModelError, UnknownName


def build(name: str, arguments: dict[str, Any]) -> Any:
    """Call the function (or class) with the arguments."""
    module_name, function_name = _split(name)
    module = importlib.import_module(module_name)
    if not hasattr(module, function_name):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise UnknownName.among(f"function of module {module_name}", function_name, public)
    return getattr(module, function_name)(**arguments)


def identity(name: str) -> str:
    """Digest of the module's file: other code may build another network from the same name."""
    module_name, _ = _split(name)
    try:
        spec = importlib.util.find_spec(module_name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None:
        raise ModelError(
            f"module {module_name!r} of architecture factory:{name} is not found; add its folder "
            "to 'python_path:' in the configuration"
        )
    return f"{name} {file_sha256(Path(spec.origin))}"


def _split(name: str) -> tuple[str, str]:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise ModelError(f"architecture factory:{name}: expected factory:package.module:function")
    return module_name, function_name
