"""Classes that are not decaf's own: from an installed package, or ``module:Class`` of the user's.

Both are an :class:`importlib.metadata.EntryPoint`, and one function loads them. A package offers
members in the entry-point group ``decaf.plugins``; the name of an entry point says the place and
the member's name there, as in ``adapter.birds = "bird_audit.pairs:BirdPairs"``. So what there is
can be listed without importing it, and nothing of a package runs before a configuration names it.
"""

import traceback
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any, Literal, get_args, get_origin, get_type_hints

from decaf.errors import ConfigError
from decaf.foundation.callables import fresh_module, imported_digest
from decaf.foundation.digests import json_sha256
from decaf.foundation.place import Placed

GROUP = "decaf.plugins"
OWN = __name__.partition(".")[0]


@cache
def installed_entry_points() -> tuple[EntryPoint, ...]:
    """Every entry point that an installed package gives to decaf, by name; imports none."""
    packages: dict[str, Distribution] = {}
    for package in distributions():
        # Most packages have none, and a search through their text is faster than parsing it.
        if GROUP in (package.read_text("entry_points.txt") or ""):
            packages.setdefault(package.name, package)  # Python imports the first on the path
    entries = [entry for _, package in sorted(packages.items()) for entry in package.entry_points]
    return tuple(
        sorted((entry for entry in entries if entry.group == GROUP), key=lambda entry: entry.name)
    )


def entry_points_by_name(place: str) -> dict[str, list[EntryPoint]]:
    """Entry points of a place by the name of the member; several may claim one name."""
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in installed_entry_points():
        kind, _, name = entry.name.partition(".")
        if kind == place:
            by_name.setdefault(name, []).append(entry)
    return by_name


def make_entry_point(reference: str) -> EntryPoint:
    """Entry point that a package would have for ``module:Class``."""
    return EntryPoint(name=reference, value=reference, group=GROUP)


def provider(entry: EntryPoint) -> str:
    """Provider of a member, for messages."""
    if entry.dist is None:
        return f"class {entry.value}"
    return f"package {package(entry)}, entry point {entry.name} = {entry.value!r}"


def package(entry: EntryPoint) -> str:
    """Name and version of the package that has an entry point; empty where none has."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""


def load(entry: EntryPoint, base: type[Placed]) -> type[Placed]:
    """Import a class and check that it can be a member of a place.

    Raises ConfigError when the class cannot be imported, derives from something else, lacks a
    method, or carries no name or another name. The message names its provider, the fault and the
    remedy.
    """
    member = load_object(entry)
    if problem := unfit(member, base, entry):
        raise ConfigError(f"{provider(entry)} is no {base.place.name}: {problem}")
    return member


def load_object(entry: EntryPoint) -> Any:
    """Import the object that an entry point names, of any kind.

    Raises ConfigError when it cannot be imported.
    """
    try:
        fresh_module(entry.module)
        return entry.load()
    except (Exception, SystemExit) as error:
        raise ConfigError(
            f"{provider(entry)} cannot be loaded: {_cause(error)}; {_remedy(entry, error)}"
        ) from error


def unfit(member: Any, base: type[Placed], entry: EntryPoint) -> str | None:
    """Reason why the object of an entry point cannot be a member of a place; None if it can."""
    expected = f"{base.__name__} ({base.__module__})"
    if not isinstance(member, type) or not issubclass(member, base):
        what = "a class" if isinstance(member, type) else f"of type {type(member).__name__}"
        return f"it is {what}; expected a class derived from {expected}"
    if lacking := sorted(getattr(member, "__abstractmethods__", ())):
        return f"it lacks {', '.join(lacking)}; implement each as {expected} describes"
    tag, member_tag = base.place.tag, tag_of(member)
    if member_tag is None:
        return f'it carries no name; write `{tag}: Literal["its_name"]` in the class'
    claimed = entry.name.partition(".")[2]
    if entry.dist is not None and member_tag != claimed:
        return (
            f"the class calls itself {member_tag!r} in its `{tag}: Literal[…]`, the entry point "
            f"{claimed!r}; give both one name"
        )
    return None


def tag_of(member: type[Placed]) -> str | None:
    """The name that a class carries itself, as ``adapter: Literal["birds"]``; None without one."""
    tag = member.place.tag
    annotation = vars(member).get("__annotations__", {}).get(tag)
    if isinstance(annotation, str):
        annotation = get_type_hints(member)[tag]
    return get_args(annotation)[0] if get_origin(annotation) is Literal else None


def is_third_party(member: type) -> bool:
    """True if a class does not belong to decaf."""
    return member.__module__.partition(".")[0] != OWN


def reference_of(member: type) -> str:
    """``module:Class`` of a class."""
    return f"{member.__module__}:{member.__qualname__}"


def configured_name(member: type[Placed]) -> str:
    """Name of a member in a configuration, or ``module:Class`` if no package has it."""
    name, reference = tag_of(member), reference_of(member)
    entries = entry_points_by_name(member.place.name).get(name or "", ())
    is_named = not is_third_party(member) or any(entry.value == reference for entry in entries)
    return name if name and is_named else reference


def code_version(member: type) -> str:
    """Class and version of third-party code, for keys.

    The version is the ``code_version`` that the class declares, or else the digest that the file of
    its module had when it was imported.
    """
    declared = getattr(member, "code_version", None)
    version = imported_digest(member.__module__) if declared is None else declared
    return f"{reference_of(member)} {version}"


def code_of(*members: Any) -> dict[str, str]:
    """Part of a key that identifies the third-party code that makes a result.

    Members are sections of a study; None stands for one that is absent. The part is ``{"plugins":
    digest}``, or empty if all are decaf's own, whose kinds of units have versions.
    """
    kinds = {type(member) for member in members if member is not None}
    versions = sorted({code_version(kind) for kind in kinds if is_third_party(kind)})
    return {"plugins": json_sha256(versions)} if versions else {}


def _cause(error: BaseException) -> str:
    """The error, and the line of the third-party file that raised it."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    at = "" if where.filename.startswith("<frozen") else f" ({where.filename}:{where.lineno})"
    return f"{type(error).__name__}: {error}{at}"


def _remedy(entry: EntryPoint, error: BaseException) -> str:
    if entry.dist is not None:
        return f"repair or uninstall {entry.dist.name}"
    if isinstance(error, ModuleNotFoundError) and error.name in _parents(entry.module):
        return "add the folder of the module to 'python_path:', which starts from the YAML file"
    return "repair the module, or correct the name"


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]
