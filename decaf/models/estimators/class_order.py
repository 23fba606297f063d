"""Order of an estimator's classes: column of each class of the study."""

import json
from collections.abc import Sequence
from typing import Any

from decaf.errors import ModelError


class UnorderedClasses(ModelError):
    """A card does not put the classes of its estimator in the order of the study's classes."""

    def __init__(self, names: Sequence[Any], card_classes: Sequence[Any]) -> None:
        super().__init__(
            f"the estimator has the classes {_json(names)}, but its card has "
            f"{_json(card_classes)}; list the estimator's classes as 'classes:' of the card, in "
            "the order of the study's classes 0, 1, …"
        )
        self.names = names

    def suggestion(self, study_classes: Sequence[str]) -> str:
        """Value of `classes:`, if the study calls the same classes by the same names; else empty.

        ``study_classes`` are the names of the study's classes 0, 1, ….
        """
        by_text = {str(name): name for name in self.names}
        if not study_classes or sorted(by_text) != sorted(study_classes):
            return ""
        return f": 'classes: {_json([by_text[text] for text in study_classes])}'"


def order_classes(names: list[Any], card_classes: Sequence[Any] | None) -> list[int]:
    """Column of every class of the study, given the estimator's names of its columns.

    Without classes of the card these are 0, 1, …. Raises ModelError for an estimator of one class,
    and UnorderedClasses when the card has other classes than the estimator.
    """
    if len(names) == 1:
        raise ModelError(
            f"the estimator was fitted on one class, {names[0]!r}; expected at least two: fit it "
            "on rows of every class"
        )
    wanted_order = list(range(len(names)) if card_classes is None else card_classes)
    # A text means the class that is written so: 'False' is False, and '1' is 1.
    texts = [*map(str, names)]
    order = [
        names.index(name) if name in names else texts.index(str(name))
        for name in wanted_order
        if name in names or name in texts
    ]
    if sorted(order) != list(range(len(names))) or len(order) != len(wanted_order):
        raise UnorderedClasses(names, wanted_order)
    return order


def _json(names: Sequence[Any]) -> str:
    return json.dumps(names, default=str, ensure_ascii=False)
