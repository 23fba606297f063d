"""The base of everything that a configuration file can set: frozen, typed, no unknown keys."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from decaf.errors import BadInput, suggestion
from decaf.foundation.names import fault_of, shown


def fault(message: str, key: str = "") -> PydanticCustomError:
    """What a validator raises: a message for people and, where one is wrong itself, the key."""
    return PydanticCustomError("fault", "{message}", {"message": message, "key": key})


def require_keys(needs: Iterable[tuple[str, bool, str]]) -> None:
    """Refuse the first key that lacks something: its name, whether it has it, what it needs."""
    for key, has_it, needed in needs:
        if not has_it:
            raise fault(f"'{key}' needs {needed}", key)


def _placed(path: Path, info: ValidationInfo) -> Path:
    folder = (info.context or {}).get(FOLDER)
    if folder is None:
        return path.absolute()
    placed = (folder / path).resolve()
    if not placed.is_relative_to(folder.resolve()):
        raise fault(f"{path} lies outside of the folder of its card")
    return placed


def _shown_name(name: str) -> str:
    if problem := fault_of(name):
        raise fault(f"{shown(name)} {problem}")
    return name


def _beside_file(path: Path, info: ValidationInfo) -> Path:
    folder = ((info.context or {}).get(FILE_FOLDER, Path()) / path).resolve()
    if not folder.is_dir():
        raise fault(f"{folder} is not a folder; a relative one starts from the YAML file")
    return folder


FOLDER = "folder"
"""Key of the validation context: what relative paths start from and no path leaves."""
ShownName = Annotated[str, AfterValidator(_shown_name)]
"""A name in anybody's words that can be stored, printed and shown."""
PlacedPath = Annotated[Path, AfterValidator(_placed)]
"""A path that means the same in every process, whatever folder it was started in."""
FILE_FOLDER = "file_folder"
"""Key of the validation context: the folder of the YAML file that is read."""
FolderBesideFile = Annotated[Path, AfterValidator(_beside_file)]
"""A folder that is there; a relative one starts from the YAML file, not the current directory."""


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
    )

    @model_validator(mode="before")
    @classmethod
    def _reject_unknown_keys(cls, given: Any) -> Any:
        return _known_keys(given, cls.model_fields)


def checked_dataclass(described: type, schema: CoreSchema) -> CoreSchema:
    """Schema of a dataclass that is held to the rules of :class:`Settings`.

    What its own checks raise as bad input becomes a fault of the configuration.
    """

    def check(given: Any, build: core_schema.ValidatorFunctionWrapHandler) -> Any:
        try:
            return build(_known_keys(given, described.__dataclass_fields__))
        except BadInput as error:
            raise fault(str(error)) from error

    return core_schema.no_info_wrap_validator_function(check, schema)


def _known_keys(given: Any, known: Iterable[str]) -> Any:
    if isinstance(given, dict):
        for key in given:
            if key not in known:
                raise fault(f"unknown key '{key}'{suggestion(str(key), known)}", str(key))
    return given
