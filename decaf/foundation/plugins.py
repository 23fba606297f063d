"""Find the members of an open place: adapters, paths, scores, sources, recipes, and the like.

Every place has one base class, which says where it is (:class:`~decaf.foundation.place.Place`). Its
members are the classes derived from it that carry its tag, in the modules of the general room and
in the module of the same name of every study: adapters are in ``decaf/data/adapters/`` and in
``decaf/studies/*/adapters.py``. Dropping a file there is all the registration.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import reduce
from importlib.util import find_spec
from operator import or_
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from decaf.errors import suggestion
from decaf.foundation.place import Place

STUDIES = "decaf.studies"


def members(base: type) -> list[type]:
    """Classes derived from ``base`` that carry its tag: general ones first, by module names."""
    place: Place = base.place
    return [
        value
        for module in _modules(place.room)
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and issubclass(value, base)
        and get_origin(value.__annotations__.get(place.tag)) is Literal
    ]


def name_of(member: type) -> str:
    """The value of its tag by which a configuration names a member."""
    return get_args(member.__annotations__[member.place.tag])[0]


def one_of(base: type, default: str | None = None) -> Any:
    """Type of a configuration section that is any member, told apart by the tag.

    Parameters
    ----------
    default
        Value of the tag where a section does not have it.
    """
    tag = base.place.tag
    by_name = {name_of(member): member for member in members(base)}
    if len(by_name) == 1:
        return next(iter(by_name.values()))

    def with_tag(section: Any) -> Any:
        if not isinstance(section, dict):
            return section
        name = section.get(tag, default)
        if name not in by_name:
            raise PydanticCustomError(
                "unknown_tag",
                "{problem}{hint}",
                {
                    "key": tag,
                    "problem": f"unknown {tag} {name!r}" if name else f"key '{tag}' is missing",
                    "hint": suggestion(str(name), by_name),
                },
            )
        return {**section, tag: name}

    return Annotated[
        reduce(or_, by_name.values()), Field(discriminator=tag), BeforeValidator(with_tag)
    ]


def _modules(room: str) -> Iterator[ModuleType]:
    for name in _submodules(room):
        yield importlib.import_module(name)
    own = room.rpartition(".")[2]
    for study in _submodules(STUDIES):
        if find_spec(f"{study}.{own}") is not None:
            yield importlib.import_module(f"{study}.{own}")


def _submodules(package_name: str) -> list[str]:
    package = importlib.import_module(package_name)
    return sorted(f"{package_name}.{info.name}" for info in pkgutil.iter_modules(package.__path__))
