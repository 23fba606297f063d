"""Score definitions: what ``q`` is. One settings class per module (``score:`` in a configuration).

A score turns what models return into ``values``, (n, columns) float64; ``columns`` says which of
them is the score of a pair, and ``sign`` turns it so that more is always larger (paper, appendix
B: the direction of a score is defined before analysis). ``identity()`` describes the definition
for the keys. A new module in this package is a new score.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decaf.errors import DataError, ModelError
from decaf.foundation.arrays import Tensor
from decaf.foundation.direct_settings import DirectSettings
from decaf.foundation.place import Place
from decaf.foundation.readiness import Check
from decaf.foundation.settings import Settings, fault
from decaf.models.card import Output

TWO = 2
"""Classes of a model with one output."""


class ScoreDefinition(Settings, ABC, metaclass=DirectSettings):
    """Base class of all scores."""

    place: ClassVar[Place] = Place("score", room="decaf.scoring.scores", tag="kind")

    if TYPE_CHECKING:
        kind: str  # which every member says in its own annotation

    has_classes: ClassVar[bool] = True
    """True if columns are classes, so that the largest is the predicted one."""

    bounds: ClassVar[tuple[float, float] | None] = None
    """Smallest and largest value of q; None if it has no bounds, or they are unknown."""

    direction: Literal["increasing", "decreasing"] = Field(
        "increasing", description="`decreasing` negates q"
    )

    @property
    def sign(self) -> float:
        """Factor of q: 1, or -1 where less is more."""
        return 1.0 if self.direction == "increasing" else -1.0

    def checks(self) -> tuple[Check, ...]:
        """Checks to run before any work begins."""
        return ()

    def identity(self) -> dict[str, Any]:
        """Parts that define the score."""
        return self.model_dump(mode="json")

    @abstractmethod
    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, outputs) of a model, which are what ``output`` says → (n, columns) float64.

        Raises ModelError when the score cannot be made from such outputs, or they have another
        shape.
        """

    @abstractmethod
    def columns(self, class_id: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n_pairs,) class of every pair → (n_pairs,) column of ``values`` that is its q.

        Raises DataError if the score does not have the class of a pair.
        """

    def _require(self, output: Output, usable: tuple[Output, ...]) -> None:
        if output not in usable:
            raise ModelError(
                f"the score {self.kind} is made from {' or '.join(usable)}; the model gives "
                f"{output}: choose another score, or correct the model's 'output:' or 'method:'"
            )

    def _require_shape(self, outputs: Tensor, columns: int) -> None:
        if outputs.ndim != 2 or outputs.shape[1] != columns:
            raise ModelError(
                f"the model returned shape {tuple(outputs.shape)}; the score {self.kind} expects "
                f"(rows, {columns}): correct the settings of the score, such as 'classes:', or "
                "choose another score"
            )


class ClassScore(ScoreDefinition):
    """A score of every class; ``q`` is that of the pair's own class, or of a fixed one."""

    examples: ClassVar[tuple[dict[str, Any], ...]] = ({"classes": 3}, {"classes": 3, "target": 1})

    classes: int = Field(
        gt=1, le=1_000_000, description="number of classes, which is that of the outputs"
    )
    target: int | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="class whose score is q for every pair, by its number or by its name among "
        "the `classes` of the data; when absent, the pair's class",
    )

    @model_validator(mode="after")
    def _target_is_a_class(self) -> "ClassScore":
        if self.target is not None and self.target >= self.classes:
            raise fault(
                f"'target' is {self.target}; the score has {self.classes} classes: expected 0 to "
                f"{self.classes - 1}"
            )
        return self

    def by_class(self, outputs: Tensor, output: Output) -> Tensor:
        """Outputs as (n, classes); one output for two classes, (n,) or (n, 1), becomes (n, 2).

        Raises ModelError for another number of outputs than classes.
        """
        if is_single(outputs):
            if self.classes != TWO:
                raise ModelError(
                    f"the model returned shape {tuple(outputs.shape)}, one output, which is that "
                    f"of two classes, and the score {self.kind} has {self.classes}: set "
                    "'classes: 2', or 'output: value' of the model and 'kind: regression_value'"
                )
            return of_two_classes(outputs, output)
        self._require_shape(outputs, self.classes)
        return outputs

    def columns(self, class_id: NDArray[np.int64]) -> NDArray[np.int64]:
        """Every pair's own class, or the target."""
        if self.target is not None:
            return np.full_like(class_id, self.target)
        if class_id.max() >= self.classes:
            counts_from_one = class_id.min() == 1 and class_id.max() == self.classes
            labels = "all labels, which count from 1" if counts_from_one else "the label"
            raise DataError(
                f"a pair is of class {class_id.max()}; the score {self.kind} has {self.classes} "
                f"classes, counted from 0: correct {labels} or 'classes:', or give a 'target:'"
            )
        return class_id


def is_single(outputs: Tensor) -> bool:
    """True for one output of each input, (n,) or (n, 1)."""
    return outputs.ndim == 1 or outputs.shape[1:] == (1,)


def of_two_classes(outputs: Tensor, output: Output) -> Tensor:
    """(n,) or (n, 1) outputs for class 1 → (n, 2) for both classes.

    A probability p becomes 1 - p and p. A logit z becomes 0 and z, whose softmax is the sigmoid of
    z.
    """
    import torch

    second = outputs.reshape(-1, 1)
    first = 1 - second if output == "probabilities" else torch.zeros_like(second)
    return torch.cat([first, second], dim=1)
