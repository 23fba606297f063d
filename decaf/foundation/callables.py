"""``package.module:function``: the user's own code, found by name and known by its file."""

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from decaf.errors import ModelError, UnknownName
from decaf.foundation.digests import file_sha256

_imported: dict[str, str] = {}
"""Digest of the file of every module when it was imported here."""


def load_callable(name: str) -> Callable[..., Any]:
    """Import the function (or class) that ``package.module:function`` names.

    A module whose file has changed since this process imported it is imported again, so that what
    runs is what :func:`code_digest` says.

    Raises
    ------
    ModelError
        When there is no such module, or it cannot be imported.
    UnknownName
        When the module has no such function.
    """
    module_name, function_name = _split(name)
    digest = code_digest(name)
    try:
        module = importlib.import_module(module_name)
        if _imported.setdefault(module_name, digest) != digest:
            module = importlib.reload(module)
            _imported[module_name] = digest
    except (ImportError, SyntaxError) as error:
        raise ModelError(
            f"module {module_name!r} of {name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, function_name):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise UnknownName.among(f"function of module {module_name}", function_name, public)
    return getattr(module, function_name)


def code_digest(name: str) -> str:
    """Digest of the file of the function's module, which is not imported.

    Raises
    ------
    ModelError
        When the module is not found or has no file.
    """
    module_name, _ = _split(name)
    try:
        spec = importlib.util.find_spec(module_name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise ModelError(
            f"module {module_name!r} of {name} is not found, or has no file; add its folder to "
            "'python_path:' in the configuration"
        )
    return file_sha256(Path(spec.origin))


def _split(name: str) -> tuple[str, str]:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise ModelError(f"{name!r} does not name a function; expected package.module:function")
    return module_name, function_name
