"""Settings that a user of the library also makes directly, without a configuration."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from decaf.errors import ConfigError, abridge
from decaf.foundation.yaml_source import wording

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class DirectSettings(ModelMetaclass):
    """Metaclass that turns pydantic's error of ``Method(steps=0)`` into one of decaf.

    pydantic does not call the class for a section of a configuration, whose errors have lines.
    """

    def __call__(self, *values: Any, **settings: Any) -> Any:
        """Make the object.

        Raises ConfigError, which names each wrong setting, its value and the expected one.
        """
        try:
            return super().__call__(*values, **settings)
        except ValidationError as error:
            problems = [_describe(problem) for problem in error.errors(include_url=False)]
            text = f"{self.__name__}: {abridge(problems, 5)}"
        raise ConfigError(text)


def _describe(problem: Any) -> str:
    if not problem["loc"] or problem["type"] == "fault":
        return wording(problem)
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "missing":
        return f"{name!r} is missing; give it a value"
    expected = wording(problem).replace("Input should be", "expected")
    return f"{name!r} is {problem['input']!r}; {expected}"
