"""Find the members of an open room: every settings class of every module in a package.

A data set, reveal path, score or training recipe is one module with one class derived from
:class:`decaf.settings.Settings`; dropping the file into the package is all the registration.
"""

import importlib
import pkgutil
from functools import reduce
from operator import or_
from typing import Annotated, Any

from pydantic import Field

from decaf.settings import Settings


def members(package_name: str) -> list[type[Settings]]:
    """Settings classes that the modules of a package define, in the order of module names."""
    package = importlib.import_module(package_name)
    found = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{package_name}.{info.name}")
        found += [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Settings)
            and value.__module__ == module.__name__
        ]
    return found


def one_of(package_name: str, tag: str) -> Any:
    """Type of a configuration section that is any member of the package, told apart by a key."""
    found = members(package_name)
    if len(found) == 1:
        return found[0]
    return Annotated[reduce(or_, found), Field(discriminator=tag)]
