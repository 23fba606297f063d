"""Any Python function from a batch of inputs to outputs."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import Field

from decaf.errors import ModelError
from decaf.foundation.callables import code_digest, load_callable
from decaf.foundation.digests import file_sha256, json_sha256
from decaf.foundation.settings import PlacedPath
from decaf.models.array_model import ArrayModel
from decaf.models.card import Model, ModelCard, Output


class FunctionCard(ModelCard):
    """A Python function that takes a float32 numpy batch and returns outputs.

    A batch is (n, channels, height, width) in [0, 1], (n, features), or another shape of the data
    set; with ``input: frame`` it is a pandas DataFrame of the table's columns. Outputs are (n,) or
    (n, outputs) numbers.
    """

    has_gradients: ClassVar = False
    takes_seeds: ClassVar = True
    source: Literal["function"]
    function: str = Field(description="`package.module:function`, found through `python_path`")
    arguments: dict[str, Any] | None = Field(
        None,
        description="keyword arguments of a function that returns the function to score; `{}` for "
        "a call without arguments",
    )
    files: tuple[PlacedPath, ...] = Field(
        (),
        description="files that the function reads; decaf scores again if they, the function's "
        "module or own modules that it imports change",
    )
    input: Literal["array", "frame"] = Field(
        "array",
        description="form of the inputs: `frame` is a pandas DataFrame of a table's columns",
    )
    output: Output = Field(description="kind of the function's outputs")

    @property
    def origin(self) -> str:
        """Name of the function."""
        return f"function:{self.function}"

    @property
    def asks_for_frames(self) -> bool:
        """True if the card sets ``input: frame``."""
        return self.input == "frame"

    @property
    def preprocessing_digest(self) -> str:
        """Digest of the function's name, arguments, input kind and output kind."""
        parts = ["function", self.function, self.arguments, self.output]
        return json_sha256([*parts, self.input] if self.asks_for_frames else parts)

    def weights_digest(self) -> str:
        """Digest of the function's own code and of the files that it reads."""
        digests = [code_digest(self.function)]
        for path in self.files:
            if not path.is_file():
                raise ModelError(f"{path} is not a file; put it there, or correct 'files:'")
            digests.append(file_sha256(path))
        return json_sha256(digests)

    def load(self, device: str) -> Model:
        """Import the function, or call its factory; it is called with arrays on the CPU."""
        function = load_callable(self.function)
        if self.arguments is not None:
            function = function(**self.arguments)
        if not callable(function):
            raise ModelError(
                f"model {self.id}: {self.function} gave {type(function).__name__}; expected a "
                "function: remove 'arguments:' unless calling it returns a function"
            )
        seed = self.stochastic.seed if self.stochastic else None
        if seed and not _takes_argument(function, seed):
            raise ModelError(
                f"model {self.id}: {self.function} takes no argument {seed!r}; expected one for "
                "the seed that 'stochastic:' names: add it, or correct the name"
            )
        columns = () if self.asks_for_frames else None
        name = f"model {self.id}, {self.function}"
        return ArrayModel(function, self.output, name, frame_columns=columns, seed_argument=seed)


def _takes_argument(function: Callable[..., Any], name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # a callable of another language has no signature
        return True
    is_open = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return is_open or name in parameters
