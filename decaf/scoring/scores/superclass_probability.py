"""Probability of a superclass: the model's softmax mass on all classes that belong to it."""

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from decaf.data.class_maps import class_map, load_shipped_maps
from decaf.errors import ModelError
from decaf.foundation.arrays import Tensor
from decaf.foundation.digests import json_sha256
from decaf.foundation.readiness import Check
from decaf.models.card import Output
from decaf.scoring.scores.base import ClassScore, is_single
from decaf.scoring.scores.class_probability import checked_probabilities

SHIPPED = ", ".join(
    f"`{name}`, which is shipped (`{map_.official_file}` in the `root` of the data, or next to "
    f"`{map_.photos}/`, comes first)"
    for name, map_ in load_shipped_maps().items()
)


class SuperclassProbability(ClassScore):
    """``q`` sums the float32 softmax over the true superclass; unmapped mass is dropped.

    The sums are not renormalised. A model whose outputs are the superclasses themselves, such as
    one that was fine-tuned on them, is scored by its softmax as it is (paper, appendix F).
    """

    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    kind: Literal["superclass_probability"]
    class_map: Path = Field(
        description=f"{SHIPPED}, or a JSON file: an object from output index to superclass, -1 for "
        "none"
    )
    classes: int = Field(9, gt=1, le=1_000_000, description="number of superclasses")

    @field_validator("class_map")
    @classmethod
    def _file_of_every_process(cls, given: Path) -> Path:
        """Workers may have been started in another folder."""
        return given if str(given) in load_shipped_maps() else given.absolute()

    @cached_property
    def mapping(self) -> tuple[int, ...]:
        """Superclass of every output, in the order of the outputs.

        Raises DataError when there is no such map, or it does not fit the superclasses.
        """
        return class_map(self.class_map, self.classes)

    def checks(self) -> tuple[Check, ...]:
        """The map."""

        def map_is_there() -> tuple[str, ...]:
            class_map(self.class_map, self.classes)
            return ()

        return (map_is_there,)

    def identity(self) -> dict[str, Any]:
        """Parts that define the score: the mapping counts, not the place of its file."""
        defined = self.model_dump(mode="json", exclude={"class_map"})
        return {**defined, "map": json_sha256(self.mapping)}

    def values(self, outputs: Tensor, output: Output) -> Tensor:
        """(n, outputs or superclasses) logits or probabilities → (n, superclasses) float64.

        One output, (n,) or (n, 1), is that of class 1 of two outputs, or of two superclasses.
        """
        self._require(output, ("logits", "probabilities"))
        if is_single(outputs):
            outputs = self.by_class(outputs, output)
        mapped, columns = len(self.mapping), tuple(outputs.shape)[1:]
        if columns not in ((mapped,), (self.classes,)):
            raise ModelError(
                f"the model returned shape {tuple(outputs.shape)}; the score {self.kind} expects "
                f"(rows, {mapped}), the outputs of its class map, or (rows, {self.classes}), the "
                "superclasses themselves"
            )
        is_logits = output == "logits"
        shares = outputs.softmax(dim=1) if is_logits else checked_probabilities(outputs)
        if columns == (mapped,):
            shares = shares @ self._members(shares)
        return shares.double()

    def _members(self, like: Tensor) -> Tensor:
        """(outputs, superclasses) 0/1 matrix."""
        superclass = like.new_tensor(self.mapping).view(-1, 1)
        return (superclass == like.new_tensor(range(self.classes)).view(1, -1)).to(like.dtype)
