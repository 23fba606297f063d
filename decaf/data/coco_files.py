"""COCO annotations: which segmentations and boxes each image has, by category."""

from pathlib import Path
from typing import Any, NamedTuple

from decaf.data.json_files import read_json
from decaf.foundation.names import quote

EXPECTED = "expected COCO annotations, an object with 'images', 'annotations' and 'categories'"

LONGEST = 60
"""Letters of an annotation's id in a message."""


class Annotation(NamedTuple):
    """An annotation of an image."""

    name: str
    """``annotation ID``, for messages."""
    category: str
    """Id of its category."""
    segmentation: Any
    box: Any


class Annotated(NamedTuple):
    """An image of the file."""

    size: tuple[int, int]
    """Width and height, px."""
    parts: list[Annotation]


class Category(NamedTuple):
    """A category of the file."""

    name: str
    supercategory: str
    """Supercategory; the name of the category if the file states none."""


class Coco(NamedTuple):
    """Content of a file of annotations; ids are text, such as ``"7"`` for the number 7."""

    images: dict[str, Annotated]
    """By ``file_name``."""
    categories: dict[str, Category]
    """By id, in the order of the file."""
    skipped: tuple[str, ...]
    """Annotations that name an image or category that the file does not list."""


def read_coco(path: Path, *, skip_invalid: bool = False) -> Coco:
    """Read a file of annotations.

    Raises DataError if the file cannot be read, if two images or categories have one id, or if an
    annotation names an image or category that the file does not list. ``skip_invalid`` skips such
    annotations.
    """
    return read_json(path, "annotations", EXPECTED, lambda given: _parse(given, skip_invalid))


def _parse(given: Any, skip_invalid: bool) -> Coco:
    listed = {key: _objects(given, key) for key in ("images", "annotations", "categories")}
    categories: dict[str, Category] = {}
    for number, entry in enumerate(listed["categories"]):
        where = f"category {number}"
        name = _text(entry, "name", where)
        has_parent = entry.get("supercategory") is not None
        named = Category(name, _text(entry, "supercategory", where) if has_parent else name)
        category_id = _id(entry, "id", where)
        if categories.setdefault(category_id, named) != named:
            raise ValueError(f"two categories have the same id, {quote(category_id)}")
    images: dict[str, Annotated] = {}
    by_id: dict[str, Annotated] = {}
    for number, entry in enumerate(listed["images"]):
        where = f"image {number}"
        name = _text(entry, "file_name", where)
        size = _whole(entry, "width", where), _whole(entry, "height", where)
        if min(size) < 1:
            raise ValueError(f"{where} has {size[0]} x {size[1]} pixels")
        image_id = _id(entry, "id", where)
        if image_id in by_id or name in images:
            same = f"id, {quote(image_id)}" if image_id in by_id else f"file_name, {quote(name)}"
            raise ValueError(f"two images have the same {same}")
        images[name] = by_id[image_id] = Annotated(size, [])
    skipped: list[str] = []
    for number, entry in enumerate(listed["annotations"]):
        where = f"annotation {str(entry.get('id', number))[:LONGEST]}"
        image, category = (_id(entry, key, where) for key in ("image_id", "category_id"))
        for key, value, known_ids in (
            ("image_id", image, by_id),
            ("category_id", category, categories),
        ):
            if value not in known_ids:
                fault = f"{where} has the {key} {value}, which the file does not list"
                if not skip_invalid:
                    raise ValueError(fault)
                skipped.append(fault)
                break
        else:
            part = Annotation(where, category, entry.get("segmentation"), entry.get("bbox"))
            by_id[image].parts.append(part)
    return Coco(images, categories, tuple(skipped))


def _objects(given: Any, key: str) -> list[dict[str, Any]]:
    entries = given.get(key) if isinstance(given, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"'{key}' is not a list of objects")
    return entries


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str):
        raise _type_fault(value, key, where, "text")
    return value


def _id(entry: dict[str, Any], key: str, where: str) -> str:
    """Text of an id, which tools write as 7, 7.0 or '7'."""
    value = entry.get(key)
    is_text = isinstance(value, str) and value != ""
    return str(value) if is_text else str(_whole(entry, key, where, "a whole number or text"))


def _whole(entry: dict[str, Any], key: str, where: str, expected: str = "a whole number") -> int:
    value = entry.get(key)
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise _type_fault(value, key, where, expected)
    return value


def _type_fault(value: Any, key: str, where: str, expected: str) -> ValueError:
    return ValueError(f"{where} has the {key} {quote(str(value))}; expected {expected}")
