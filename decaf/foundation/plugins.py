"""Find the members of an open place: adapters, paths, scores, sources, recipes, and the like.

Every place has one base class, which says where it is (:class:`~decaf.foundation.place.Place`).
decaf's own members are the classes derived from it that carry its tag, in the modules of the
general room and in the module of the same name of every study: adapters are in
``decaf/data/adapters/`` and in ``decaf/studies/*/adapters.py``. Dropping a file there is all the
registration. Others come from :mod:`decaf.foundation.third_party`.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Literal, NamedTuple, cast

from pydantic import GetCoreSchemaHandler, SerializationInfo, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from decaf.errors import ConfigError, suggestion
from decaf.foundation import third_party
from decaf.foundation.place import Placed
from decaf.foundation.settings import FOLDER, fault

STUDIES = "decaf.studies"


@cache
def members(base: type[Placed]) -> tuple[type[Placed], ...]:
    """Decaf's own classes derived from ``base`` that carry its tag: general ones first."""
    place = base.place
    return tuple(
        value
        for module in _modules(place.room)
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and issubclass(value, base)
        and third_party.tag_of(value) is not None
    )


def name_of(member: type[Placed]) -> str:
    """The value of its tag by which a configuration names a member of decaf's own."""
    return cast("str", third_party.tag_of(member))  # or it would be no member


def find(base: type[Placed], name: str) -> type[Placed]:
    """The member of a place that a configuration names, by its name or as ``module:Class``.

    Raises ConfigError if no or several members have the name, or the member cannot be loaded.
    """
    if ":" in name:
        return third_party.load(third_party.make_entry_point(name), base)
    own_members, foreign_members = _own(base), third_party.entry_points_by_name(base.place.name)
    if problem := clash(base, name):
        raise ConfigError(problem)
    if name in own_members:
        return own_members[name]
    if name not in foreign_members:
        raise ConfigError(
            f"unknown {base.place.tag} {name!r}{suggestion(name, own_members | foreign_members)}"
        )
    return third_party.load(foreign_members[name][0], base)


def clash(base: type[Placed], name: str) -> str | None:
    """Message about a name that several members claim; None for one member or none."""
    return describe_clash([who for _, who in providers(base, name)], base, name)


def describe_clash(claims: Sequence[str], base: type[Placed], name: str) -> str | None:
    """Message about a name that several claim; None for one claim or none."""
    if len(claims) < 2:
        return None
    return (
        f"{base.place.name} {name!r} is given {len(claims)} times: by {'; by '.join(claims)}. "
        "Uninstall one of them, or name the class itself, as in 'module:Class'"
    )


def providers(base: type[Placed], name: str) -> list[tuple[str, str]]:
    """``module:Class`` of every member that has a name, and its provider for people."""
    members = []
    if (own_member := _own(base).get(name)) is not None:
        members.append(
            (third_party.reference_of(own_member), f"decaf itself ({own_member.__module__})")
        )
    entries = third_party.entry_points_by_name(base.place.name).get(name, [])
    return members + [(entry.value, third_party.provider(entry)) for entry in entries]


class OneOf(NamedTuple):
    """``Annotated[base, OneOf(base)]``: any member of a place, selected by its tag or a default.

    The class that the tag names validates a section; it is imported for that. Members are looked up
    when the first section is validated, so a base class need not know them, and a place that a
    study does not use costs nothing.
    """

    base: type[Placed]
    default: str | None = None

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(self._serialize, info_arg=True)
        return core_schema.with_info_plain_validator_function(self._validate, serialization=written)

    def _validate(self, section: Any, info: ValidationInfo) -> Any:
        if isinstance(section, self.base):
            return section
        if not isinstance(section, dict):
            raise fault("expected a section of keys and values")
        tag = self.base.place.tag
        name = section.get(tag, self.default)
        is_from_elsewhere = FOLDER in (info.context or {})
        try:
            member = self._own(name) if is_from_elsewhere else self._find(name)
        except ConfigError as error:
            raise fault(str(error), tag) from error
        own_name = third_party.tag_of(member)
        return _adapter(member).validate_python({**section, tag: own_name}, context=info.context)

    def _find(self, name: Any) -> type[Placed]:
        if name is None:
            known_names = _own(self.base) | third_party.entry_points_by_name(self.base.place.name)
            raise ConfigError(
                f"key '{self.base.place.tag}' is missing{suggestion('', known_names)}"
            )
        return find(self.base, str(name))

    def _own(self, name: Any) -> type[Placed]:
        """A member for an untrusted card, which can name only decaf's own members."""
        own_members = _own(self.base)
        if str(name) not in own_members:
            raise ConfigError(
                f"unknown {self.base.place.tag} {name!r}{suggestion(str(name), own_members)}"
            )
        return own_members[str(name)]

    def _serialize(self, section: Any, info: SerializationInfo) -> Any:
        member: type[Placed] = type(section)
        dumped = _adapter(member).dump_python(section, mode=cast("Literal['json']", info.mode))
        return {**dumped, self.base.place.tag: third_party.configured_name(member)}


@cache
def _adapter(member: type[Placed]) -> TypeAdapter[Any]:
    return TypeAdapter(member)


@cache
def _own(base: type[Placed]) -> dict[str, type[Placed]]:
    return {name_of(member): member for member in members(base)}


def _modules(room: str) -> Iterator[ModuleType]:
    for name in _submodules(room):
        yield importlib.import_module(name)
    place_module = room.rpartition(".")[2]
    for study in _submodules(STUDIES):
        if find_spec(f"{study}.{place_module}") is not None:
            yield importlib.import_module(f"{study}.{place_module}")


def _submodules(package_name: str) -> list[str]:
    package = importlib.import_module(package_name)
    return sorted(f"{package_name}.{info.name}" for info in pkgutil.iter_modules(package.__path__))
