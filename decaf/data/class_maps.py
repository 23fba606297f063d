"""Class maps: which superclass each output of a classifier belongs to."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from decaf.errors import DataError, abridge, suggestion
from decaf.foundation.files import open_file

UNMAPPED = -1
"""Superclass of an output that belongs to none."""

STUDIES = Path(__file__).parents[1] / "studies"


class ShippedMap(NamedTuple):
    """A map of outputs of ImageNet-1k or the like: ``class_map.json`` in the folder of a study."""

    outputs: int
    """Number of outputs that it maps."""
    official_file: str
    """File in which the authors of a data set publish it."""
    photos: str
    """Folder of the unpacked photos; the official file may lie next to it."""
    classes: dict[str, str]
    """Outputs of every superclass, sorted by number, in the form of :func:`outputs_of`."""

    @property
    def mapping(self) -> tuple[int, ...]:
        """(outputs,) superclass of every output, from 0, -1 for none."""
        mapping = [UNMAPPED] * self.outputs
        for number, ranges in enumerate(self.classes.values()):
            for output in outputs_of(ranges):
                mapping[output] = number
        return tuple(mapping)


@cache
def load_shipped_maps() -> dict[str, ShippedMap]:
    """Maps that decaf includes, by the name of their study."""
    files = sorted(STUDIES.glob("*/class_map.json"))
    return {file.parent.name: ShippedMap(**json.loads(file.read_text())) for file in files}


def outputs_of(ranges: str) -> list[int]:
    """Outputs that ranges such as ``"3-5 8"`` name; both ends belong to a range.

    >>> outputs_of("3-5 8")
    [3, 4, 5, 8]
    """
    bounds = [[int(end) for end in part.split("-")] for part in ranges.split()]
    return [output for bound in bounds for output in range(bound[0], bound[-1] + 1)]


def official_file(name: str, root: Path) -> Path | None:
    """File of a shipped map in the folder of a data set; None when there is none.

    The file takes precedence over the shipped map, which is a copy of it. If the folder holds
    the photos, the file may also lie next to it.
    """
    if name not in load_shipped_maps():
        return None
    root = root.absolute()
    folders = [root, root.parent] if root.name == load_shipped_maps()[name].photos else [root]
    files = [folder / load_shipped_maps()[name].official_file for folder in folders]
    return next((file for file in files if file.is_file()), None)


def class_map(name_or_file: Path, classes: int) -> tuple[int, ...]:
    """Superclass of every output, in the order of the outputs.

    ``name_or_file`` names a shipped map, which takes precedence, or a file with a JSON object from
    output to superclass. Superclasses count from 0; -1 stands for no superclass. Raises DataError
    if neither exists, if an output 0, 1, … is missing or repeated, if a superclass has no output,
    or if a file with the name of a shipped map's official file has another number of outputs.
    """
    named = load_shipped_maps().get(str(name_or_file))
    mapping = _read(name_or_file) if named is None else named.mapping
    for official in load_shipped_maps().values():
        if name_or_file.name == official.official_file and len(mapping) != official.outputs:
            raise DataError(
                f"class map {name_or_file} has {len(mapping)} outputs; expected {official.outputs} "
                "in a file of this name: get the file again, or rename your own map"
            )
    return _check_map(mapping, classes, name_or_file)


def _read(path: Path) -> tuple[int, ...]:
    try:
        with open_file(path) as file:
            entries = json.load(file, object_pairs_hook=list)
    except OSError as error:
        raise DataError(
            f"class map {path}: {error.strerror or error}; give a JSON file, or the name of a map "
            f"that is shipped{suggestion(str(path), load_shipped_maps())}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"class map {path} is not JSON: {error}") from error
    mapping: dict[int, int] = {}
    for output, superclass in _entries(entries, path):
        if output in mapping:
            raise DataError(f"class map {path} maps output {output} twice; expected each once")
        mapping[output] = superclass
    absent = sorted(set(range(len(mapping))) - set(mapping))
    if absent:
        raise DataError(
            f"class map {path} has {len(mapping)} outputs, but not output {absent[0]}; expected 0 "
            f"to {len(mapping) - 1}, each mapped to its superclass or to -1"
        )
    return tuple(mapping[output] for output in range(len(mapping)))


def _entries(given: Any, path: Path) -> Iterator[tuple[int, int]]:
    """Outputs and superclasses of a JSON object, which is parsed as a list of pairs."""
    for entry in given if isinstance(given, list) else [given]:
        output, superclass = entry if isinstance(entry, tuple) else (None, entry)
        # Rounding a number, or reading true as 1, would change the map.
        is_number = output and output.isdecimal()
        if not (is_number and type(superclass) is int):
            raise DataError(
                f"class map {path} is not an object of whole numbers: it has "
                f"{json.dumps(output)[:40]}: {json.dumps(superclass)[:40]}; expected entries as "
                f'"12": 1, from an output to its superclass or to -1'
            )
        yield int(output), superclass


def _check_map(mapping: tuple[int, ...], classes: int, name: Path) -> tuple[int, ...]:
    strays = sorted(set(mapping) - set(range(UNMAPPED, classes)))
    missing = sorted(set(range(classes)) - set(mapping))
    if strays or missing:
        raise DataError(
            f"class map {name} must map its {len(mapping)} outputs to -1 or to 0 … {classes - 1}, "
            f"each superclass at least once (never mapped to: {_list_numbers(missing)}; no "
            f"superclass: {_list_numbers(strays)}); correct the map, or 'classes:'"
        )
    return mapping


def _list_numbers(numbers: list[int]) -> str:
    return abridge([*map(str, numbers)], 20) or "none"
