"""Classes of labels as people write them: numbers of classes, or names."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from decaf.data.json_files import read_json
from decaf.errors import MOST_KNOWN, DataError, listed, suggestion
from decaf.foundation.names import shown

WHOLE = re.compile(r"-?\d+", re.ASCII)
MOST_DIGITS = 9
"""Of the number of a class."""
NO_LABELS = "there are no labels: all count as class 0, unless the score has a 'target:'"


CLASS_NAMES = "class names: "
"""What the remark begins with that says which class is called what."""


class Classes(NamedTuple):
    """Classes of some labels."""

    ids: list[int]
    """One for each label, from 0."""
    remarks: tuple[str, ...]
    """Which name is which class, where the names were sorted, or that there are no labels."""
    has_labels: bool = True
    names: tuple[str, ...] = ()
    """Of classes 0, 1, …; none where labels are numbers that nothing names."""


def class_ids(labels: Sequence[str], classes: Sequence[int | str] | Path = ()) -> Classes:
    """Number of the class of every label.

    It is its place among the ``classes``, or in a file of them (:func:`names_of`). Without any,
    labels that are all whole numbers count as they are, and others by the order of their sorted
    names. A label is empty where nothing says it: where all are, every one is class 0. Raises
    DataError when some are empty, a label is not among the classes, or two of these are equal.
    """
    if not any(labels):
        return Classes([0] * len(labels), (NO_LABELS,), has_labels=False)
    if not all(labels):
        said = next(filter(None, labels))
        raise DataError(
            f"{labels.count('')} of {len(labels)} inputs have no label, and others have, as "
            f"{shown(said)}; expected all, or none"
        )
    names = names_of(classes)
    if len(set(names)) < len(names):
        raise DataError(f"'classes' has a name twice: {', '.join(names)}; expected each once")
    if not names and all(map(WHOLE.fullmatch, labels)):
        strange = next((one for one in labels if one[0] == "-" or len(one) > MOST_DIGITS), None)
        if strange:
            raise DataError(
                f"label {shown(strange)}; expected class numbers from 0, or names in 'classes'"
            )
        return Classes([int(label) for label in labels], ())
    places = {name: place for place, name in enumerate(names or sorted(set(labels)))}
    strange = next((label for label in labels if label not in places), None)
    if strange is not None:
        hint = suggestion(strange, places)
        raise DataError(f"label {shown(strange)} is not among 'classes'{hint}")
    said = listed([f"{place} {name}" for name, place in places.items()], MOST_KNOWN)
    remarks = () if names else (CLASS_NAMES + said,)
    return Classes([places[label] for label in labels], remarks, names=tuple(places))


def names_of(classes: Sequence[int | str] | Path) -> list[str]:
    """Names of classes 0, 1, …; of a file ``{"0": ["n01440764", "tench"], …}``, the first of each.

    Raises DataError when a file cannot be read, is of another form, or leaves a number out.
    """
    if not isinstance(classes, Path):
        return [str(name) for name in classes]
    expected = 'expected JSON as {"0": ["n01440764", "tench"], …}, every class from 0 on'

    def taken(given: Any) -> list[str]:
        named = [given[str(number)] for number in range(len(given))]
        if not named or not all(isinstance(names, list) and names[0] for names in named):
            raise ValueError("a class has no list of names")
        return [str(names[0]) for names in named]

    return read_json(classes, "classes", expected, taken)
