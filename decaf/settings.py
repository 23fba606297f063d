"""The base of everything that a configuration file can set: frozen, typed, no unknown keys."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from decaf.errors import suggestion


class Settings(BaseModel):
    """A frozen section of a configuration; an unknown key is an error that names the nearest one.

    Fields are documented with ``pydantic.Field(description=…)``: the configuration reference in
    the docs is generated from these descriptions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _reject_unknown_keys(cls, given: Any) -> Any:
        if isinstance(given, dict):
            for key in given:
                if key not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_key",
                        "unknown key '{key}'{hint}",
                        {"key": str(key), "hint": suggestion(str(key), cls.model_fields)},
                    )
        return given
