"""Contracts: each is one duty of the members of a place, tried on one object."""

import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any, NamedTuple

from pydantic import TypeAdapter

from decaf.foundation.place import Placed
from decaf.foundation.plugins import OneOf
from decaf.foundation.settings import Settings


class Broken(Exception):
    """A broken contract; the message states the value found, the value expected and the remedy."""


class Trial(NamedTuple):
    """One object to try."""

    member: Any
    """Made from one of the examples of its class."""
    base: type[Placed]
    """Base class of the place."""
    folder: Path
    """Empty folder for files."""


Contract = Callable[[Trial], None]
"""Raises :class:`Broken`; the first line of its docstring is its title."""


def contracts_in(module: ModuleType) -> tuple[Contract, ...]:
    """Contracts of a module: its public functions, in their order."""
    return tuple(
        value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    )


def require(holds: Any, message: str) -> None:
    """Raise :class:`Broken` with the message unless something holds."""
    if not holds:
        raise Broken(message)


def require_type(value: Any, kind: Any, source: str, expected: str) -> None:
    """Require that a value returned by a method of the member has a type."""
    type_name = type(value).__name__
    require(isinstance(value, kind), f"{source} returned {type_name}; expected {expected}")


def same_twice(call: Callable[[], Any], complaint: str) -> Any:
    """Result of a call that gives an equal one when it is made again."""
    first, second = call(), call()
    require(first == second, complaint)
    return first


def is_documented(trial: Trial) -> None:
    """The class and each of its settings are documented."""
    kind = type(trial.member)
    docstring = vars(kind).get("__doc__") or ""
    is_generated = is_dataclass(kind) and docstring.startswith(f"{kind.__name__}(")
    require(
        docstring and not is_generated,
        "the class has no docstring; its first line names it in lists",
    )
    if isinstance(trial.member, Settings):
        texts = {name: field.description for name, field in kind.model_fields.items()}
    else:
        texts = {field.name: field.metadata.get("description") for field in fields(kind)}
    texts.pop(kind.place.tag)
    bare = sorted(name for name, text in texts.items() if not text)
    require(
        not bare,
        f"settings without a description: {', '.join(bare)}; write Field(description=…), or "
        "path_field(default, …) in a path",
    )


def is_frozen(trial: Trial) -> None:
    """Settings cannot be changed once they are made."""
    kind = type(trial.member)
    if isinstance(trial.member, Settings):
        is_kept = kind.model_config.get("frozen") and kind.model_config.get("extra") == "forbid"
        remedy = "leave 'frozen' and 'extra' of model_config as the base has them"
    else:
        is_kept, remedy = kind.__dataclass_params__.frozen, "write @dataclass(frozen=True)"
    require(is_kept, f"objects of the class can be changed, and keys are made from them; {remedy}")


def survives_json(trial: Trial) -> None:
    """The JSON in the warehouse makes an equal object again."""
    kind: Any = Annotated[trial.base, OneOf(trial.base)]
    section: TypeAdapter[Any] = TypeAdapter(kind)
    text = section.dump_json(trial.member)
    again = section.validate_json(text)
    require(
        again == trial.member,
        f"the object, written as {text.decode()} and read again, is another one; use settings "
        "that JSON can say, and check that reading them changes nothing",
    )


def survives_pickle(trial: Trial) -> None:
    """A worker gets an equal object."""
    again = pickle.loads(pickle.dumps(trial.member))  # noqa: S301 - what was just pickled here
    require(
        again == trial.member,
        "the object, pickled and unpickled, is another one; keep all state in the settings",
    )


COMMON: tuple[Contract, ...] = (is_documented, is_frozen, survives_json, survives_pickle)
"""Contracts of every member of every place."""


def title(contract: Contract) -> str:
    """Title of a contract, in one line."""
    return (contract.__doc__ or "").partition("\n")[0].rstrip(".")
