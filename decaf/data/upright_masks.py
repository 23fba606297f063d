"""Turns of annotations: a mask, a polygon or a box is turned upright with the photo it belongs to.

decaf turns a photo as its EXIF states. Annotations of the stored pixels must turn with it;
annotations that were drawn on the turned photo must not. If the turn swaps width and height, the
size of the annotations shows which they are. If it does not (a square, mirrored or upside-down
photo), a setting decides, or else the other photos of the data; without either, annotations
describe the stored pixels, as in COCO's tools.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from decaf.data.features import Lie
from decaf.data.photo_files import Header, turn_in_words
from decaf.errors import DataError, abridge, number_of

WAYS: dict[Lie, str] = {
    "stored": "as describing the stored pixels, and turned with the photo",
    "upright": "as drawn on the turned photo, like annotations of photos whose sizes decide",
}


class AnnotatedPhoto(NamedTuple):
    """A photo that EXIF turns, and the files of its annotations."""

    name: str
    header: Header
    annotations: Sequence[Header]


class Turns(NamedTuple):
    """EXIF orientations by which annotations are turned."""

    of_photo: dict[str, int]
    """By the name of the photo; a photo that is not in it has upright annotations."""
    remarks: tuple[str, ...]


def turned_upright(mask: NDArray[np.unsignedinteger], turn: int) -> NDArray[np.unsignedinteger]:
    """(height, width) mask of stored pixels, turned as a photo of this EXIF orientation is."""
    if turn >= 5:  # noqa: PLR2004 - rows become columns
        mask = mask.T
    rows = slice(None, None, -1 if turn in (3, 4, 7, 8) else 1)
    columns = slice(None, None, -1 if turn in (2, 3, 6, 7) else 1)
    return mask[rows, columns]


def find_turns(photos: Iterable[AnnotatedPhoto], lie: Lie | None) -> Turns:
    """Decide for each photo that EXIF turns whether its annotations turn with it.

    Raises DataError if the sizes of a photo do not decide it, ``lie`` is None, and other photos
    show both ways.
    """
    by_size: dict[Lie, list[AnnotatedPhoto]] = {"stored": [], "upright": []}
    undecided: list[AnnotatedPhoto] = []
    for photo in photos:
        # A mask file with its own orientation is turned by that.
        sizes = {header.size for header in photo.annotations if header.orientation is None}
        stored, upright = photo.header.size, photo.header.upright()
        if sizes == {stored} and stored == upright:
            undecided.append(photo)
        elif sizes == {stored}:
            by_size["stored"].append(photo)
        elif sizes == {upright}:
            by_size["upright"].append(photo)
    remarks = [*_remarks_on_sizes(by_size["stored"])]
    turned = by_size["stored"]
    if undecided:
        way = lie or _way_of_others(undecided, by_size)
        turned = turned + (undecided if way == "stored" else [])
        if lie is None:
            remarks.append(
                f"EXIF turns {number_of(len(undecided), 'photo')}, and sizes do not show whether "
                f"their annotations turn, too ({_list_names(undecided)}): decaf takes them "
                f"{WAYS[way]}; to state it, set 'annotations: stored' or 'annotations: upright'"
            )
    return Turns({photo.name: photo.header.orientation or 1 for photo in turned}, tuple(remarks))


def unequal_sizes(name: str, annotation: Header, image: str, photo: Header) -> str:
    """Message about annotations and a photo whose sizes differ."""
    is_turned = photo.size != photo.upright()
    expected = "one size, that of the stored or of the turned photo" if is_turned else "one size"
    if annotation.orientation is not None and is_turned:
        expected += ", or no EXIF orientation in the mask"
    is_swapped = annotation.upright() == photo.upright()[::-1] and photo.orientation is None
    cause = "; swapped sides show that the photo has lost its EXIF orientation" * is_swapped
    (width, height), (photo_width, photo_height) = annotation.upright(), photo.upright()
    return (
        f"{name} has {width} x {height} pixels{turn_in_words(annotation)}, and its image {image} "
        f"{photo_width} x {photo_height}{turn_in_words(photo)}; expected {expected}{cause}"
    )


def _way_of_others(
    undecided: Sequence[AnnotatedPhoto], by_size: dict[Lie, list[AnnotatedPhoto]]
) -> Lie:
    if all(by_size.values()):
        stored, upright = (_list_names(photos) for photos in by_size.values())
        raise DataError(
            f"annotations of {stored} match the photo as stored, annotations of {upright} match "
            f"the photo turned by EXIF, and annotations of {_list_names(undecided)} match both: "
            "set 'annotations: stored' or 'annotations: upright'"
        )
    return "upright" if by_size["upright"] else "stored"


def _remarks_on_sizes(photos: Sequence[AnnotatedPhoto]) -> Iterator[str]:
    if photos:
        yield (
            f"annotations of {number_of(len(photos), 'photo')} have the size of the stored photo, "
            f"and are turned with it as EXIF says: {_list_names(photos)}"
        )


def _list_names(photos: Sequence[AnnotatedPhoto]) -> str:
    return abridge([photo.name for photo in photos])
