"""Classes of labels as people write them: numbers of classes, or names."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.coded import Coded, code_values
from decaf.data.json_files import read_json
from decaf.data.texts import Texts
from decaf.errors import MOST_KNOWN, DataError, abridge, suggestion
from decaf.foundation.names import quote
from decaf.foundation.settings import PlacedPath

WHOLE = re.compile(r"(-?\d+)(\.0*)?", re.ASCII)
MOST_DIGITS = 9
"""Most digits of the number of a class."""
CLASS_NAMES = "class names: "
"""Start of the remark that lists the names of classes."""
GUESSED = "guessed from alphabetical order"
"""Part of this remark if nothing states which output a name belongs to."""
ClassNames = PlacedPath | tuple[bool | int | str, ...]
"""Names of classes 0, 1, … in a configuration, or a JSON file of them."""
CLASSES = (
    "names among the labels of classes 0, 1, …, as many as the score has classes, or a JSON file "
    "of them ([forms](data.md#labels)); when absent, labels that are whole numbers are class "
    "numbers, and the score or the models have to name their outputs"
)
"""Description of the key."""
FILE_FORMS = (
    'a list ["tench", …], {"0": "tench", …}, {"0": ["n01440764", "tench"], …}, {"tench": 0, …}, '
    "or an object with one of them as 'id2label' or 'label2id'"
)


class Classes(NamedTuple):
    """Classes of some labels."""

    ids: NDArray[np.int64]
    """(n,) number of the class of each label, from 0."""
    remarks: tuple[str, ...]
    """The remark on the names of classes, if names were sorted."""
    has_labels: bool = True
    names: tuple[str, ...] = ()
    """Names of classes 0, 1, …; empty if labels are numbers without names."""
    are_sorted: bool = False
    """True if the names are the sorted labels."""


def class_ids(
    labels: Sequence[str] | Coded[Texts],
    classes: ClassNames | Sequence[str] = (),
    input_names: Sequence[str] = (),
) -> Classes:
    """Number of the class of every label.

    The number is the position of the label in ``classes``, or in a file of them (:func:`names_of`).
    Without ``classes``, labels that are all whole numbers are the numbers, and other labels are
    numbered in sorted order. A missing label is empty; if all labels are empty, ``has_labels`` is
    False and the ids are 0. Raises DataError if only some labels are empty, a label is not among
    the classes, or two classes are equal; ``input_names`` names the inputs without a label.
    """
    coded = labels if isinstance(labels, Coded) else code_values(labels)
    words = [*coded.values]

    def check_numbers(numbers: Sequence[int]) -> NDArray[np.int64]:
        return np.array(numbers, np.int64)[coded.codes]

    if not any(words):
        ids = np.zeros(len(coded), np.int64)
        return Classes(ids, (), has_labels=False)
    if not all(words):
        labels_text = next(filter(None, words))
        unlabelled = [
            name for name, code in zip(input_names, coded.codes, strict=False) if not words[code]
        ]
        in_brackets = f" ({abridge([*dict.fromkeys(unlabelled)])})" if unlabelled else ""
        raise DataError(
            f"{coded.counts()['']} of {len(coded)} inputs have no label{in_brackets}, but others "
            f"do, such as {quote(labels_text)}; label all inputs, or none"
        )
    names = names_of(classes)
    repeated = {name for name, count in Counter(names).items() if count > 1}
    # Files of 1,000 classes call two of them 'crane'; that matters once a label is 'crane'.
    if repeated and not (isinstance(classes, Path) and repeated.isdisjoint(words)):
        several = abridge(sorted(map(quote, repeated)))
        raise DataError(f"'classes' has a name twice: {several}; expected each once")
    numbers = [] if names else [WHOLE.fullmatch(word) for word in words]
    if numbers and all(numbers):
        strange = next(
            (digits for digits in words if digits[0] == "-" or len(digits) > MOST_DIGITS), None
        )
        if strange:
            raise DataError(
                f"label {quote(strange)}; expected class numbers from 0, or names in 'classes'"
            )
        return Classes(check_numbers([int(number[1]) for number in numbers if number]), ())
    places = {name: place for place, name in enumerate(names or sorted(words))}
    strange = next((word for word in words if word not in places), None)
    if strange is not None:
        hint = suggestion(strange, places)
        raise DataError(f"label {quote(strange)} is not among 'classes'{hint}")
    labels_text = abridge([f"{place} {name}" for name, place in places.items()], MOST_KNOWN)
    ids = check_numbers([places[word] for word in words])
    if names:
        return Classes(ids, (), names=tuple(names))
    return Classes(ids, (CLASS_NAMES + labels_text,), names=tuple(places), are_sorted=True)


def names_of(classes: ClassNames | Sequence[str]) -> list[str]:
    """Names of classes 0, 1, …, from a list or from a JSON file of :data:`FILE_FORMS`.

    If a file has several names of a class, the first one counts. Raises DataError when a file
    cannot be read, has another form, or lacks a number.
    """
    if not isinstance(classes, Path):
        return [str(name) for name in classes]
    expected = f"expected JSON as {FILE_FORMS}, every class from 0 on"
    return read_json(classes, "classes", expected, _names_in)


def _names_in(content: Any) -> list[str]:
    """Names of classes 0, 1, … in the content of a file; raises ValueError for other forms."""
    if isinstance(content, dict):
        nested = next((key for key in ("id2label", "label2id") if key in content), None)
        content = _in_order(content[nested] if nested else content)
    if not isinstance(content, list) or not content:
        raise ValueError("it names no classes")
    return [_name(names) for names in content]


def _in_order(named: Any) -> list[Any]:
    """Values, sorted by their keys if these are class numbers; else keys, sorted by values."""
    if not isinstance(named, dict):
        raise ValueError("it names no classes")
    numbers = {str(number) for number in range(len(named))}
    by_key = [named[str(number)] for number in range(len(named))] if numbers == set(named) else None
    by_value = None
    are_whole = all(type(number) is int for number in named.values())
    if are_whole and set(named.values()) == set(range(len(named))):
        by_value = sorted(named, key=lambda name: int(named[name]))
    if by_key and by_value and list(map(str, by_key)) != by_value:
        raise ValueError("keys and values are both class numbers, and disagree; use names for one")
    if by_key is None and by_value is None:
        missing = min(numbers - set(named), key=int) if numbers - set(named) else ""
        raise ValueError(f"neither its keys nor its values are 0, 1, … (no {missing!r})")
    return by_value if by_key is None and by_value is not None else by_key or []


def _name(names: Any) -> str:
    """Name of a class, or the first of several."""
    name = names[0] if isinstance(names, list) and names else names
    if not isinstance(name, str) and type(name) is not int or name == "":
        raise ValueError(f"a class has the name {name!r}; expected text")
    return str(name)
