"""Annotations and classes of PartImageNet that are not as published: refused by their names."""

import part_photos
import pytest
from part_photos import annotations

from decaf.errors import DataError
from decaf.studies.attribution.adapters import PartImageNet

FIRST = "n00000001_7.JPEG"


def renamed(name):
    return lambda said: said["images"][0].update(file_name=name)


def of_many_parts(said):
    said["categories"] += [{"id": 10 + n, "name": f"part {n}"} for n in range(64)]
    said["annotations"][0]["category_id"] = 73


def segmented(value):
    return lambda said: said["annotations"][0].update(segmentation=value)


ANNOTATIONS = {
    "another size": (
        lambda said: said["images"][1].update(width=9),
        "9 x 9 .*n00000000_3.JPEG 8 x 9",
    ),
    "no such file": (renamed("n00000001_8.JPEG"), "n00000001_8.JPEG: No such file"),
    "no WordNet id": (renamed("photo.JPEG"), "photo.JPEG: No such file"),
    "no name": (renamed(""), "0 letters"),
    "elsewhere": (renamed("../../../n00000001_7.JPEG"), "lies outside of"),
    "on this machine": (renamed("/etc/hostname"), "lies outside of"),
    "twice": (renamed("n00000000_3.JPEG"), "file_name"),
    "a polygon of words": (segmented([["a"] * 6]), FIRST),
    "an odd polygon": (segmented([[1, 2, 3, 4, 5]]), "points"),
    "a flat polygon": (segmented([1, 1, 3, 1, 3, 3]), "list of polygons"),
    "run lengths of another size": (
        segmented({"size": [12, 10], "counts": [120]}),
        r"\[12, 10\].*\[10, 12\]",
    ),
    "of too many letters": (renamed("a" * 5000), "5,000 letters"),
    "with a zero": (renamed("a\0.JPEG"), "of an image"),
    "too many parts": (
        of_many_parts,
        "68 .* 64",
    ),
    "a name that cannot be shown": (
        lambda said: said["categories"][0].update(name="Bird \x1b[2J"),
        "printed",
    ),
}
CLASSES = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "a number": b"7",
    "one class of two in a list": b'[["n00000000", "a"]]',
    "empty": b"{}",
    "one class of two": b'{"0": "n00000000"}',
    "no names": b'{"0": []}',
    "one left out": b'{"0": ["n00000000"], "2": ["n00000001"]}',
    "twice": b'{"0": ["n00000001"], "1": ["n00000001"]}',
    "others": b'{"0": ["n00000002"]}',
}


@pytest.mark.parametrize("name", ANNOTATIONS)
def test_annotations(name, tmp_path):
    spoil, words = ANNOTATIONS[name]
    said = annotations()
    spoil(said)
    data = PartImageNet(
        adapter="partimagenet",
        root=part_photos.write(tmp_path, said),
        classes=["n00000000", "n00000001"],
        crop=4,
    )
    with pytest.raises(DataError, match=words):
        data.verify(data.pair_set())


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, tmp_path):
    file = tmp_path / "classes.json"
    file.write_bytes(CLASSES[name])
    data = PartImageNet(
        adapter="partimagenet", root=part_photos.write(tmp_path / "photos"), classes=file
    )
    with pytest.raises(DataError, match=r"classes|label"):
        data.pair_set()


def test_a_link_out_of_the_folder(tmp_path):
    root = part_photos.write(tmp_path / "photos")
    photo = root / "images" / "test" / FIRST
    photo.rename(tmp_path / "elsewhere.JPEG")
    photo.symlink_to(tmp_path / "elsewhere.JPEG")
    data = PartImageNet(adapter="partimagenet", root=root, classes=["n00000000", "n00000001"])
    with pytest.raises(DataError, match=f"'{FIRST}' lies outside of"):
        data.pair_set()
