"""COCO annotations: which segmentations each image has, by category or supercategory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from decaf.data.json_files import read_json
from decaf.data.photo_files import most_pixels
from decaf.foundation.names import shown

EXPECTED = "expected COCO annotations, an object with 'images', 'annotations' and 'categories'"


class Annotated(NamedTuple):
    """An image of the file."""

    size: tuple[int, int]
    """Width and height, px."""
    parts: list[tuple[str, Any]]
    """Category and segmentation of each annotation."""


class Coco(NamedTuple):
    """What a file says."""

    images: dict[str, Annotated]
    """By ``file_name``."""
    supercategory: dict[str, str]
    """Of every category, in the order of the file; its own name where none is said."""


def read_coco(path: Path) -> Coco:
    """Read a file of annotations.

    Raises DataError when it cannot be read, or names an image or category that it does not have.
    """
    return read_json(path, "annotations", EXPECTED, _parsed)


def _parsed(given: Any) -> Coco:
    listed = {key: _objects(given, key) for key in ("images", "annotations", "categories")}
    categories: dict[int, str] = {}
    supercategory: dict[str, str] = {}
    for number, one in enumerate(listed["categories"]):
        where = f"category {number}"
        name = _of(one, "name", str, where)
        categories[_of(one, "id", int, where)] = name
        supercategory[name] = _of({"supercategory": name, **one}, "supercategory", str, where)
    images: dict[str, Annotated] = {}
    by_id: dict[int, Annotated] = {}
    for number, one in enumerate(listed["images"]):
        where = f"image {number}"
        name = _of(one, "file_name", str, where)
        size = _of(one, "width", int, where), _of(one, "height", int, where)
        if min(size) < 1 or size[0] * size[1] > most_pixels():
            raise ValueError(f"{where} has {size[0]} x {size[1]} pixels")
        images[name] = by_id[_of(one, "id", int, where)] = Annotated(size, [])
    if min(len(images), len(by_id)) < len(listed["images"]):
        raise ValueError("two images have one id, or one file_name")
    for number, one in enumerate(listed["annotations"]):
        where = f"annotation {number}"
        image, category = (_of(one, key, int, where) for key in ("image_id", "category_id"))
        for key, value, known in (
            ("image_id", image, by_id),
            ("category_id", category, categories),
        ):
            if value not in known:
                raise ValueError(f"{where} has the {key} {value}, which the file does not list")
        by_id[image].parts.append((categories[category], one.get("segmentation")))
    return Coco(images, supercategory)


def _objects(given: Any, key: str) -> list[dict[str, Any]]:
    found = given.get(key) if isinstance(given, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"'{key}' is no list of objects")
    return found


def _of(one: dict[str, Any], key: str, kind: Callable[[Any], Any], where: str) -> Any:
    value = one.get(key)
    if type(value) is not kind:
        raise ValueError(f"{where} has the {key} {shown(str(value))}; expected {kind.__name__}")
    return value
