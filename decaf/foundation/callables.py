"""Import the user's own code by ``package.module:name``; the digest of its files identifies it."""

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from decaf.errors import ModelError, UnknownName, suggestion
from decaf.foundation.digests import file_sha256, json_sha256
from decaf.foundation.files import file_status

NAMED_MODULE = rb'(?:\x8c.|X.{4}|c|")%s[."\nq\x94]'
"""A module in a pickle, after the length of its name or an opcode, or in a schema of skops."""
_own_folders: list[Path] = []
"""Folders of the user's own modules."""
_imported: dict[str, str] = {}
"""Digest of each imported module's file at its import."""
_loaded: dict[str, str] = {}
"""Digest of the code of each module of :func:`load_callable` when it was last loaded."""


def import_from(folders: Iterable[Path]) -> None:
    """Make the user's own modules importable in this process; installed packages come first."""
    for folder in folders:
        if folder.absolute() not in _own_folders:
            _own_folders.append(folder.absolute())
        name = str(folder.absolute())
        if name not in sys.path:
            sys.path.append(name)


def load_callable(name: str) -> Callable[..., Any]:
    """Import the function (or class) that ``package.module:function`` names.

    If own code that it needs has changed since the last call, all of this code is imported again.
    Raises ModelError when there is no such module, or it cannot be imported, and UnknownName when
    the module has no such function.
    """
    module_name, function_name = _split(name)
    digest = code_digest(name)
    if _loaded.setdefault(module_name, digest) != digest:
        _forget_modules(_list_code_files(name))
        _loaded[module_name] = digest
    try:
        module = fresh_module(module_name)
    except (ImportError, SyntaxError) as error:
        raise ModelError(
            f"module {module_name!r} of {name} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, function_name):
        public = [key for key in vars(module) if not key.startswith("_")]
        raise UnknownName(
            f"module {module_name} has no function {function_name!r}"
            f"{suggestion(function_name, public)}"
        )
    return getattr(module, function_name)


def fresh_module(name: str) -> ModuleType:
    """Import a module, or import it again if its file has changed since the last import.

    The code that runs then matches the digest of the file. Raises ModuleNotFoundError when there is
    no such module.
    """
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    digest = file_sha256(file) if (file := _file_of(spec)) else ""
    module = importlib.import_module(name)
    if _imported.setdefault(name, digest) != digest:
        module = importlib.reload(module)
        _imported[name] = digest
    return module


def code_digest(name: str) -> str:
    """Digest of the file of the function's module, and of own modules that it imports.

    No module is imported. Raises ModelError when the module is not found or has no file.
    """
    digests = [file_sha256(file) for file in _list_code_files(name)]
    return digests[0] if len(digests) == 1 else json_sha256(digests)


def find_own_files(read: Callable[[], bytes]) -> list[Path]:
    """Files of the user's own modules that a pickle, or a schema of skops, names or needs.

    ``read`` gives its content. The files are those of the modules that it names, and of own
    modules that these import, directly or through others; no module is run. Of a package, all files
    count. Modules of folders that :func:`import_from` did not get do not count, and neither do
    modules that code imports by a computed name.
    """
    modules = _list_own_modules()
    content = read() if modules else b""
    return _follow_imports(
        modules,
        [
            name
            for name in modules
            if re.search(NAMED_MODULE % re.escape(name).encode(), content, re.DOTALL)
        ],
    )


def _list_code_files(name: str) -> list[Path]:
    """File of the function's module, or the files of :func:`find_own_files` if it is an own one.

    Raises ModelError when the module is not found or has no file.
    """
    module_name, _ = _split(name)
    try:
        spec = importlib.util.find_spec(module_name)
    except ModuleNotFoundError:
        spec = None
    file = _file_of(spec) if spec else None
    if file is None:
        raise ModelError(
            f"module {module_name!r} of {name} is not found, or has no file; add its folder to "
            "'python_path:' in the configuration"
        )
    modules = _list_own_modules()
    package = module_name.partition(".")[0]
    is_own = any(file.samefile(own_file) for own_file in modules.get(package, ()))
    return _follow_imports(modules, [package]) if is_own else [file]


def _list_own_modules() -> dict[str, list[Path]]:
    """Files of each module, or of each package, in the folders of the user's own modules."""
    modules: dict[str, list[Path]] = {}
    for folder in _own_folders:
        for entry in sorted(folder.iterdir() if folder.is_dir() else ()):
            if entry.suffix == ".py" or (entry / "__init__.py").is_file():
                files = [entry] if entry.is_file() else sorted(entry.rglob("*.py"))
                modules.setdefault(entry.stem, []).extend(files)
    return modules


def _follow_imports(modules: dict[str, list[Path]], names: list[str]) -> list[Path]:
    """Files of the named own modules, and of own modules that they import, in a fixed order."""
    needed: set[str] = set()
    pending = [*names]
    while pending:
        name = pending.pop()
        if name in modules and name not in needed:
            needed.add(name)
            pending += [imported for file in modules[name] for imported in _list_imports(file)]
    return [file for name, files in modules.items() if name in needed for file in files]


def _forget_modules(files: Iterable[Path]) -> None:
    """Let Python import the modules of the files again."""
    resolved = {file.resolve() for file in files}
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if file and Path(file).resolve() in resolved:
            del sys.modules[name]
            _imported.pop(name, None)


def _list_imports(file: Path) -> list[str]:
    """Top-level names of the modules that a file imports; a relative import stays in its package.

    Empty for a file that is not Python: importing it raises with the cause. Parsed once per process
    while the file stays the same.
    """
    status = file_status(file)
    return _parse_imports(file, status.st_size, status.st_mtime_ns)


@cache
def _parse_imports(file: Path, size: int, modified: int) -> list[str]:
    try:
        nodes = [*ast.walk(ast.parse(file.read_bytes()))]
    except (SyntaxError, ValueError):
        return []
    names = [part.name for node in nodes if isinstance(node, ast.Import) for part in node.names]
    names += [
        node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]
    return [name.partition(".")[0] for name in names]


def imported_digest(module_name: str) -> str:
    """Digest that the file of a module had when this process imported it; '' without a file."""
    if module_name not in _imported:
        file = getattr(sys.modules[module_name], "__file__", None)
        _imported[module_name] = file_sha256(Path(file)) if file else ""
    return _imported[module_name]


def _file_of(spec: ModuleSpec) -> Path | None:
    file = Path(spec.origin or "")
    return file if file.is_file() else None


def _split(name: str) -> tuple[str, str]:
    module_name, _, function_name = name.partition(":")
    if not module_name or not function_name:
        raise ModelError(f"{name!r} does not name a function; expected package.module:function")
    return module_name, function_name
