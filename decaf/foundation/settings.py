"""The base of everything that a configuration file can set: frozen, typed, no unknown keys."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from decaf.errors import BadInput, DataError, SettingError, suggestion
from decaf.foundation.files import describe_link, is_inside
from decaf.foundation.names import fault_of, quote


def fault(message: str, key: str = "") -> PydanticCustomError:
    """Error for a validator to raise: a message and, if one is at fault, the key."""
    return PydanticCustomError("fault", "{message}", {"message": message, "key": key})


@contextmanager
def setting(*keys: str) -> Iterator[None]:
    """Convert DataError in the block to SettingError for these keys."""
    try:
        yield
    except DataError as error:
        raise SettingError(str(error), *keys, *getattr(error, "keys", ())) from error


def require_keys(needs: Iterable[tuple[str, bool, str]]) -> None:
    """Refuse the first key that lacks something; each need is a key, if it is met, and its name."""
    for key, has_it, needed in needs:
        if not has_it:
            raise fault(f"'{key}' needs {needed}", key)


def _resolve_path(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get(FOLDER)
    if folder is None:
        return path.absolute()
    if not is_inside(folder / path, folder):
        link = describe_link(folder / path, folder)
        raise fault(f"{path} lies outside of the folder of its card{link and f': {link}'}")
    if not os.path.exists(folder / path):  # noqa: PTH110 - Path.exists raises where nothing may be read
        entry_names = sorted(os.listdir(folder))  # noqa: PTH208 - names, of a folder that was read before
        raise fault(
            f"{path} not found in {folder}, where relative paths of its card "
            f"start{suggestion(str(path), entry_names)}"
        )
    return (folder / path).resolve()


def _shown_name(name: str) -> str:
    if problem := fault_of(name):
        raise fault(f"{quote(name)} {problem}")
    return name


def _beside_file(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get(FILE_FOLDER, Path()) / path
    if not folder.is_dir():
        raise fault(f"{folder} is not a folder; a relative one starts from the YAML file")
    return folder.resolve()


LONGEST_PATH, LONGEST_NAME = 3000, 255
"""Bytes; what lies below a path needs some of the 4096 that Linux allows."""
PATH_LIMITS = f"at most {LONGEST_PATH} bytes, and at most {LONGEST_NAME} in each name"
"""Words for messages."""
LARGEST_SEED = 2**32 - 1
"""The largest that every library takes which draws."""
LONGEST_WAIT = 86_400.0
"""Seconds; more is no wait but a way to hang."""


def _refuse_percent(stated: Any) -> Any:
    if isinstance(stated, str) and stated.rstrip().endswith("%"):
        try:
            percentage = float(stated.rstrip().removesuffix("%"))
        except ValueError:
            return stated
        raise fault(f"expected a number without %: write {percentage / 100:g}")
    return stated


Limit = Annotated[float, BeforeValidator(_refuse_percent)]
"""A number; for a percentage, the error names the number to write."""
Level = Annotated[float, Field(ge=-1e6, le=1e6)]
"""A value of inputs, in their own units, which float32 holds with some digits to spare."""
FOLDER = "folder"
"""Key of the validation context: the folder that relative paths start from and no path leaves."""
ShownName = Annotated[str, AfterValidator(_shown_name)]
"""A free-form name that can be stored, printed and shown."""
PlacedPath = Annotated[Path, AfterValidator(_resolve_path)]
"""A path that means the same in every process, independent of its current folder."""
FILE_FOLDER = "file_folder"
"""Key of the validation context: the folder of the YAML file that is read."""
FolderBesideFile = Annotated[Path, AfterValidator(_beside_file)]
"""An existing folder; a relative path starts from the YAML file, not the current directory."""


class Settings(BaseModel):
    """A frozen section of a configuration; an unknown key is an error that names the nearest one.

    Fields are documented with ``pydantic.Field(description=…)``: the configuration reference in
    the docs is generated from these descriptions.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=False,
        protected_namespaces=(),
        hide_input_in_errors=True,  # it may hold what came from the environment: a secret
        allow_inf_nan=False,
    )

    @model_validator(mode="before")
    @classmethod
    def _reject_unknown_keys(cls, given: Any) -> Any:
        return _checked_keys(given, {n: field.annotation for n, field in cls.model_fields.items()})


def checked_dataclass(described: type, schema: CoreSchema) -> CoreSchema:
    """Schema of a dataclass that is held to the rules of :class:`Settings`.

    What its own checks raise as bad input becomes a fault of the configuration.
    """
    types = {field.name: field.type for field in fields(described)}

    def check(given: Any, build: core_schema.ValidatorFunctionWrapHandler) -> Any:
        try:
            return build(_checked_keys(given, types))
        except BadInput as error:
            raise fault(str(error)) from error

    return core_schema.no_info_wrap_validator_function(check, schema)


def _checked_keys(given: Any, types: Mapping[str, Any]) -> Any:
    """Refuse unknown keys, and values that pydantic would wrongly convert to a number or a path.

    True counts as 1 in Python; a path that no disk can hold is an error of every later question
    whether it is there.
    """
    for key, value in given.items() if isinstance(given, dict) else ():
        if key not in types:
            raise fault(f"unknown key '{key}'{suggestion(str(key), types)}", str(key))
        accepted = set(_leaves(types[key]))
        parts = list(value.values()) if isinstance(value, dict) else value
        for part in parts if isinstance(parts, list | tuple) else [parts]:
            if isinstance(part, bool) and accepted & {int, float} and not accepted & {bool, Any}:
                raise fault(f"'{key}' is {str(part).lower()}; expected a number", key)
            if isinstance(part, str) and Path in accepted and is_too_long(part):
                raise fault(
                    f"'{key}' has {len(os.fsencode(part))} bytes; expected {PATH_LIMITS}", key
                )
    return given


def _leaves(annotation: Any) -> Iterator[Any]:
    parts = get_args(annotation)
    for part in parts:
        yield from _leaves(part)
    if not parts:
        yield annotation


def is_too_long(path: str) -> bool:
    """True if no disk of Linux can hold the path."""
    parts = os.fsencode(path).split(b"/")
    return sum(map(len, parts)) + len(parts) > LONGEST_PATH or max(map(len, parts)) > LONGEST_NAME
