"""Class maps: which superclass each output of a classifier belongs to."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from decaf.errors import DataError, suggestion

UNMAPPED = -1
"""Superclass of an output that belongs to none."""

IMAGENET_OUTPUTS = 1000

IMAGENET9 = {
    "dog": "151-170 173-268",
    "bird": "7-24 87-100 127-146",
    "wheeled vehicle": (
        "407-408 428 436 444 468 511 547 555 561 565 569 573 586 603 609 612 627 656 661 665 "
        "670-671 675 690 705 717 734 751 757 791 802-803 817 820 829 847 864 866-867 870 880"
    ),
    "reptile": "33-68",
    "carnivore": "269-280 286-299 356-362 387-388",
    "insect": "300-326",
    "musical instrument": (
        "401-402 420 432 486 494 513 541 546 558 566 577 579 593-594 641-642 683-684 687 699 "
        "776 822 875 881 889"
    ),
    "primate": "365-384",
    "fish": "0-6 389-397",
}
"""Superclasses of ImageNet-9 in the order of their numbers, and their ImageNet-1k outputs.

Ranges include both ends (paper, appendix F: the official map of the Backgrounds Challenge).
"""


def outputs_of(ranges: str) -> list[int]:
    """Outputs that ranges such as ``"3-5 8"`` name.

    Examples
    --------
    >>> outputs_of("3-5 8")
    [3, 4, 5, 8]
    """
    bounds = [[int(end) for end in part.split("-")] for part in ranges.split()]
    return [output for bound in bounds for output in range(bound[0], bound[-1] + 1)]


def imagenet9() -> tuple[int, ...]:
    """(1000,) superclass of every ImageNet-1k output, from 0, -1 for none."""
    mapping = [UNMAPPED] * IMAGENET_OUTPUTS
    for number, ranges in enumerate(IMAGENET9.values()):
        for output in outputs_of(ranges):
            mapping[output] = number
    return tuple(mapping)


SHIPPED = {"imagenet9": imagenet9}
"""Maps that need no file, by name."""

OFFICIAL_FILES = {"imagenet9": "in_to_in9.json"}
"""Files in which the authors of a data set publish such a map."""

ARCHIVES = {"imagenet9": "bg_challenge"}
"""Folders that the photos of these data sets are unpacked to, beside which such a file lies."""


def official_file(name: str, root: Path) -> Path | None:
    """File of a shipped map in the folder of a data set; None when there is none.

    Such a file comes before the map that is shipped, which is then only its copy. Where the folder
    is that of the photos, the file may also lie beside it.
    """
    if name not in OFFICIAL_FILES:
        return None
    root = root.absolute()
    folders = [root, root.parent] if root.name == ARCHIVES[name] else [root]
    files = [folder / OFFICIAL_FILES[name] for folder in folders]
    return next((file for file in files if file.is_file()), None)


def class_map(name_or_file: Path, classes: int) -> tuple[int, ...]:
    """Superclass of every output, in the order of the outputs.

    Parameters
    ----------
    name_or_file
        The name of a shipped map, whatever files there are, or a JSON object from output to
        superclass, -1 for none.
    classes
        Number of superclasses, which count from 0.

    Raises
    ------
    DataError
        When there is neither such a map nor such a file, or it does not map outputs 0, 1, … to -1
        or a superclass, each output once and each superclass at least once; or when a file is
        called as the official one and does not map the outputs of ImageNet-1k.
    """
    shipped = SHIPPED.get(str(name_or_file))
    mapping = _read(name_or_file) if shipped is None else shipped()
    is_official = name_or_file.name in OFFICIAL_FILES.values()
    if is_official and len(mapping) != IMAGENET_OUTPUTS:
        raise DataError(
            f"class map {name_or_file} has {len(mapping)} outputs; a file of that name is expected "
            f"to map the {IMAGENET_OUTPUTS} outputs of ImageNet-1k: get it again, or give a map of "
            "your own another name"
        )
    return _checked(mapping, classes, name_or_file)


def _read(path: Path) -> tuple[int, ...]:
    try:
        given = json.loads(path.read_text(), object_pairs_hook=list)
    except OSError as error:
        raise DataError(
            f"class map {path}: {error.strerror}; give a JSON file, or the name of a map that is "
            f"shipped{suggestion(str(path), SHIPPED)}"
        ) from error
    except ValueError as error:
        raise DataError(f"class map {path} is not JSON: {error}") from error
    mapping: dict[int, int] = {}
    for output, superclass in _entries(given, path):
        if output in mapping:
            raise DataError(f"class map {path} maps output {output} twice; expected each once")
        mapping[output] = superclass
    absent = sorted(set(range(len(mapping))) - set(mapping))
    if absent:
        raise DataError(
            f"class map {path} has {len(mapping)} outputs and none is called {absent[0]}; expected "
            f"0 to {len(mapping) - 1}, each mapped to its superclass or to -1"
        )
    return tuple(mapping[output] for output in range(len(mapping)))


def _entries(given: Any, path: Path) -> Iterator[tuple[int, int]]:
    """Outputs and superclasses of a JSON object, which is a list of its pairs here."""
    for entry in given if isinstance(given, list) else [given]:
        output, superclass = entry if isinstance(entry, tuple) else (None, entry)
        # A number that has to be rounded, or true for 1, is another map than was meant.
        if not (output and output.isdecimal() and type(superclass) is int):
            raise DataError(
                f"class map {path} is not an object of whole numbers: it has "
                f"{json.dumps(output)}: {json.dumps(superclass)}; expected entries as "
                f'"12": 1, from an output to its superclass or to -1'
            )
        yield int(output), superclass


def _checked(mapping: tuple[int, ...], classes: int, name: Path) -> tuple[int, ...]:
    strays = sorted(set(mapping) - set(range(UNMAPPED, classes)))
    missing = sorted(set(range(classes)) - set(mapping))
    if strays or missing:
        raise DataError(
            f"class map {name} must map its {len(mapping)} outputs to -1 or to 0 … {classes - 1}, "
            f"each superclass at least once (never mapped to: {_listed(missing)}; no superclass: "
            f"{_listed(strays)}); correct the map, or 'classes:'"
        )
    return mapping


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
