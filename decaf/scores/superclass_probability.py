"""Probability of a superclass: the model's softmax mass on all classes that belong to it."""

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from decaf.digests import json_sha256
from decaf.errors import DataError
from decaf.scores import ClassScore
from decaf.scores.class_probability import checked_probabilities

if TYPE_CHECKING:
    import torch

    from decaf.models.card import Output

UNMAPPED = -1


class SuperclassProbability(ClassScore):
    """``q`` sums the float32 softmax over the true superclass; unmapped mass is dropped.

    The sums are not renormalised (paper, appendix E).
    """

    kind: Literal["superclass_probability"]
    class_map: Path = Field(
        description="JSON object from output index to superclass, -1 for none (`in_to_in9.json`)"
    )
    classes: int = Field(9, gt=1, description="number of superclasses")

    @cached_property
    def mapping(self) -> tuple[int, ...]:
        """Superclass of every output, in the order of the outputs.

        Raises
        ------
        DataError
            When the file is missing or does not map outputs 0, 1, … to -1 or a superclass.
        """
        try:
            given = {int(k): int(v) for k, v in json.loads(self.class_map.read_text()).items()}
        except OSError as error:
            raise DataError(f"class map {self.class_map}: {error.strerror}") from error
        except (ValueError, AttributeError, TypeError) as error:
            raise DataError(
                f"class map {self.class_map} is not an object of whole numbers: {error}"
            ) from error
        mapping = tuple(given.get(output, UNMAPPED - 1) for output in range(len(given)))
        missing = set(range(self.classes)) - set(mapping)
        if missing or not set(mapping) <= set(range(UNMAPPED, self.classes)):
            raise DataError(
                f"class map {self.class_map} must map outputs 0 to {len(given) - 1} to -1 or to "
                f"0 … {self.classes - 1}, each superclass at least once (never mapped to: "
                f"{sorted(missing) or 'none'})"
            )
        return mapping

    def identity(self) -> dict[str, Any]:
        """What defines the score: the mapping, wherever its file lies."""
        defined = self.model_dump(mode="json", exclude={"class_map"})
        return {**defined, "map": json_sha256(self.mapping)}

    def values(self, outputs: "torch.Tensor", output: "Output") -> "torch.Tensor":
        """(n, outputs) logits or probabilities → (n, superclasses) float64 probabilities."""
        self._require(output, ("logits", "probabilities"))
        self._require_shape(outputs, len(self.mapping))
        is_logits = output == "logits"
        shares = outputs.softmax(dim=1) if is_logits else checked_probabilities(outputs)
        return (shares @ self._members(shares)).double()

    def _members(self, like: "torch.Tensor") -> "torch.Tensor":
        """(outputs, superclasses) 0/1 matrix."""
        superclass = like.new_tensor(self.mapping).view(-1, 1)
        return (superclass == like.new_tensor(range(self.classes)).view(1, -1)).to(like.dtype)
