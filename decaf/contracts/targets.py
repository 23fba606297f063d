"""Targets of `decaf check-plugin`: a file, a folder, a project, or an installed package."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from decaf.errors import ConfigError
from decaf.foundation.callables import import_from
from decaf.foundation.third_party import (
    GROUP,
    installed_entry_points,
    load_object,
    make_entry_point,
    tag_of,
)
from decaf.plan.places import BASES

PROJECT = "pyproject.toml"


class Candidate(NamedTuple):
    """A class that may be a member of a place."""

    entry: EntryPoint
    place: str | None
    """The place that its entry point names; None where only the class can tell."""


def candidates(target: str) -> list[Candidate]:
    """Classes of a target, ``FILE_OR_FOLDER_OR_PACKAGE[:Class]``, to be checked.

    A folder with a ``pyproject.toml`` is a project, whose entry points count. Of another folder, a
    file or a module it is every class that derives from a base, unless it lacks both a name and a
    method: then it is a base of others. Raises ConfigError when there is no such target, it cannot
    be imported, or it has no class for any place.
    """
    place, _, class_name = target.partition(":")
    path = Path(place)
    if path.is_dir() and (path / PROJECT).is_file() and not class_name:
        members = _of_project(path)
    elif path.is_dir():
        members = [
            member for file in sorted(path.glob("*.py")) for member in _of_file(file, class_name)
        ]
    elif path.suffix == ".py":
        members = _of_file(path, class_name)
    else:
        members = _of_package(place, class_name) or _of_module(place, class_name)
    if not members:
        raise ConfigError(
            f"{target} has no plug-in; expected an entry point in the group {GROUP!r}, or a class "
            "derived from one of decaf's bases (docs/plugins.md lists them)"
        )
    return members


def _of_project(folder: Path) -> list[Candidate]:
    import_from([root for root in (folder / "src", folder) if root.is_dir()])
    project = tomllib.loads((folder / PROJECT).read_text(encoding="utf-8")).get("project", {})
    entries = project.get("entry-points", {}).get(GROUP, {})
    return [
        Candidate(EntryPoint(name, value, GROUP), name.partition(".")[0])
        for name, value in entries.items()
    ]


def _of_file(file: Path, class_name: str) -> list[Candidate]:
    if not file.is_file():
        raise ConfigError(f"{file} is not a file; give a file, a folder or an installed package")
    folder, parts = file.resolve().parent, [] if file.stem == "__init__" else [file.stem]
    while (folder / "__init__.py").is_file():
        folder, parts = folder.parent, [folder.name, *parts]
    import_from([folder])
    module = load_object(make_entry_point(".".join(parts)))
    if Path(module.__file__) != file.resolve():
        raise ConfigError(
            f"{file} cannot be imported as {'.'.join(parts)}, because Python already finds "
            f"{module.__file__} under this name; rename the file"
        )
    return _of_module(".".join(parts), class_name)


def _of_module(name: str, class_name: str) -> list[Candidate]:
    if class_name:
        return [Candidate(make_entry_point(f"{name}:{class_name}"), None)]
    module = load_object(make_entry_point(name))
    return [
        Candidate(make_entry_point(f"{name}:{kind.__name__}"), None)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == name and _may_be_a_member(kind)
    ]


def _may_be_a_member(kind: type) -> bool:
    if not issubclass(kind, BASES):
        return False
    return tag_of(kind) is not None or not getattr(kind, "__abstractmethods__", ())


def _of_package(package: str, class_name: str) -> list[Candidate]:
    package_entries = [
        entry for entry in installed_entry_points() if entry.dist and entry.dist.name == package
    ]
    chosen = [entry for entry in package_entries if not class_name or entry.attr == class_name]
    return [Candidate(entry, entry.name.partition(".")[0]) for entry in chosen]
