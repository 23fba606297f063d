"""Lists of FunnyBirds that are not as published: each is refused by its name."""

import json

import funny_birds
import pytest

from decaf.errors import DataError
from decaf.studies.attribution.birds import birds

PARTS = {part: 0 for part in funny_birds.PARTS}
BIRD = {"class_idx": 0, **{f"{part}_model": "a.glb" for part in funny_birds.PARTS}}
CLASSES = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "a number": b"7",
    "no list": b"{}",
    "empty": b"[]",
    "texts": b'["a"]',
    "no parts": b'[{"class_idx": 0}]',
    "another order": json.dumps([{"class_idx": 1, "parts": PARTS}]).encode(),
    "a part less": json.dumps([{"class_idx": 0, "parts": {"beak": 0}}]).encode(),
    "below 0": json.dumps([{"class_idx": 0, "parts": PARTS | {"eye": -1}}]).encode(),
    "fractions": json.dumps([{"class_idx": 0, "parts": PARTS | {"eye": 0.5}}]).encode(),
    "words": json.dumps([{"class_idx": 0, "parts": PARTS | {"eye": "x"}}]).encode(),
    "huge": json.dumps([{"class_idx": 0, "parts": PARTS | {"eye": 10**30}}]).encode(),
}
BIRDS = {
    "empty": [],
    "no such class": [BIRD | {"class_idx": 50}],
    "below 0": [BIRD | {"class_idx": -1}],
    "a text": [BIRD | {"class_idx": "a"}],
    "huge": [BIRD | {"class_idx": 10**30}],
    "no model": [{"class_idx": 0}],
    "no object": [3],
}


@pytest.fixture
def root(tmp_path):
    return funny_birds.write(tmp_path, shown=1)


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name, root):
    (root / "FunnyBirds" / "classes.json").write_bytes(CLASSES[name])
    with pytest.raises(DataError, match=r"classes\.json"):
        birds(root, "train")


@pytest.mark.parametrize("name", BIRDS)
def test_lists_of_birds(name, root):
    (root / "FunnyBirds" / "dataset_train.json").write_text(json.dumps(BIRDS[name]))
    with pytest.raises(DataError, match=r"dataset_train\.json"):
        birds(root, "train")


def test_a_bird_that_is_listed_and_not_there(root):
    (root / "FunnyBirds" / "train" / "0" / "000001.png").unlink()
    with pytest.raises(DataError, match=r"train/0/000001\.png"):
        birds(root, "train")


def test_a_link_out_of_the_folder(root, tmp_path):
    picture = root / "FunnyBirds" / "train" / "0" / "000001.png"
    picture.rename(tmp_path / "elsewhere.png")
    picture.symlink_to(tmp_path / "elsewhere.png")
    with pytest.raises(DataError, match=r"'0/000001\.png' lies outside of"):
        birds(root, "train")
