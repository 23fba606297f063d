"""Find the members of an open room: every settings class of every module in a package.

A data set, source of models, score, attribution method or training recipe is one module with one
class derived from :class:`decaf.settings.Settings`, a reveal path one with a dataclass that has a
``kind``; dropping the file into the package is all the registration.
"""

import importlib
import pkgutil
from dataclasses import is_dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from decaf.errors import suggestion
from decaf.settings import Settings


def members(package_name: str) -> list[type]:
    """Settings classes that the modules of a package define, in the order of module names."""
    package = importlib.import_module(package_name)
    found = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{package_name}.{info.name}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and value.__module__ == module.__name__
            and _is_setting(value)
        ]
    return found


def _is_setting(value: type) -> bool:
    return issubclass(value, Settings) or (
        is_dataclass(value) and "kind" in value.__dataclass_fields__
    )


def one_of(package_name: str, tag: str, default: str | None = None) -> Any:
    """Type of a configuration section that is any member of the package, told apart by a key.

    Parameters
    ----------
    default
        Value of the key where a section does not have it.
    """
    found = members(package_name)
    if len(found) == 1:
        return found[0]
    known = [get_args(member.__annotations__[tag])[0] for member in found]

    def name_it(given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        name = given.get(tag, default)
        if name not in known:
            raise PydanticCustomError(
                "unknown_tag",
                "{problem}{hint}",
                {
                    "key": tag,
                    "problem": f"unknown {tag} {name!r}" if name else f"key '{tag}' is missing",
                    "hint": suggestion(str(name), known),
                },
            )
        return {**given, tag: name}

    return Annotated[reduce(or_, found), Field(discriminator=tag), BeforeValidator(name_it)]
