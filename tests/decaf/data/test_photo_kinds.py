"""Image files of every kind: each is read right, or refused by its name."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_files import BODIES, HEADERS, READ, png
from PIL import Image
from torchvision.transforms.functional import center_crop, resize

from decaf.data.photo_files import central_crop, read_header, read_photo
from decaf.errors import DataError
from decaf.studies.imagenet9.adapters import ImageNet9

# The command line ignores what Pillow warns of; pytest would not.
IGNORED = ("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
pytestmark = [*map(pytest.mark.filterwarnings, IGNORED)]
REFUSED = HEADERS | BODIES
AT_ONCE = 9
"""One message has room for ten photos."""


def photos(photo_root, variant):
    return sorted((photo_root / "bg_challenge" / variant).rglob("*.JPEG"))


@pytest.mark.parametrize("name", READ)
def test_what_is_read_has_these_pixels(name, tmp_path):
    content, pixels = READ[name]
    (tmp_path / "photo").write_bytes(content)
    image = read_photo(tmp_path / "photo")
    np.testing.assert_array_equal(np.asarray(image), pixels)
    assert read_header(tmp_path / "photo").upright() == image.size == (60, 50)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name, tmp_path):
    content, words = REFUSED[name]
    (tmp_path / "photo").write_bytes(content)
    with pytest.raises(DataError, match=r"photo cannot be (used|decoded)") as refusal:
        read_photo(tmp_path / "photo")
    assert words in str(refusal.value)
    assert ("restore it" in str(refusal.value)) == ("cannot be decoded" in str(refusal.value))
    assert "flatten" not in str(refusal.value) or "restore it" not in str(refusal.value)
    if name in BODIES:
        assert read_header(tmp_path / "photo").upright() == (60, 50)
    else:
        with pytest.raises(DataError):
            read_header(tmp_path / "photo").upright()


def test_one_pixel_becomes_a_picture_of_its_colour(tmp_path):
    (tmp_path / "photo").write_bytes(png(1, 1, 8, 2, bytes([0, 10, 20, 30])))
    pixels = central_crop(read_photo(tmp_path / "photo"))
    assert pixels.shape == (224, 224, 3)
    assert set(map(tuple, pixels.reshape(-1, 3))) == {(10, 20, 30)}


@given(sides=st.tuples(st.integers(3, 90), st.integers(3, 90)), side=st.integers(1, 30))
def test_the_pixels_are_those_of_torchvision(sides, side):
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (*sides, 3), np.uint8))
    shorter = side + 7
    expected = center_crop(resize(image, shorter), [side, side])
    np.testing.assert_array_equal(central_crop(image, shorter, side), np.asarray(expected))


@pytest.fixture
def data(photo_root):
    return ImageNet9(adapter="imagenet9", root=photo_root)


def test_every_photo_that_is_refused_is_named_and_ten_in_full(data, photo_root):
    files = [*photos(photo_root, "mixed_same"), *photos(photo_root, "mixed_rand")]
    names = [*HEADERS][:AT_ONCE]
    for file, name in zip(files, names, strict=False):
        file.write_bytes(REFUSED[name][0])
    with pytest.raises(DataError) as refusal:
        data.verify(data.pair_set())
    for file, name in zip(files, names, strict=False):
        assert str(file) in str(refusal.value)
        assert REFUSED[name][1] in str(refusal.value)
    for file in files:
        file.write_bytes(b"")
    with pytest.raises(DataError, match=": 18\n(?s:.*)and 8 more") as refusal:
        data.verify(data.pair_set())
    assert str(refusal.value).count("decoded") == 10


def replaced(photo_root, make):
    """Put something else in the place of a photo; returns its path."""
    file = photos(photo_root, "mixed_rand")[0]
    file.rename(photo_root / "aside")
    make(file)
    return file


NO_PHOTOS = {
    "a FIFO": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a folder": lambda file: file.mkdir(),
    "a dangling link": lambda file: file.symlink_to("nowhere"),
    "a link to itself": lambda file: file.symlink_to(file),
}


@pytest.mark.parametrize("name", NO_PHOTOS)
def test_what_is_no_file_is_refused_and_not_read(name, data, photo_root):
    file = replaced(photo_root, NO_PHOTOS[name])
    with pytest.raises(DataError) as refusal:
        data.pair_set()
    assert str(file) in str(refusal.value)


def test_links_to_photos_and_to_class_folders_are_followed(data, photo_root, tmp_path):
    before = data.pair_set()
    replaced(photo_root, lambda file: file.symlink_to(photo_root / "aside"))
    folder = photos(photo_root, "mixed_next")[0].parent
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    after = data.pair_set()
    assert (after.digest, after.input_set.digest) == (before.digest, before.input_set.digest)


@pytest.mark.parametrize("target", ["nowhere", "03_reptile", ".."])
def test_a_class_folder_that_leads_nowhere_or_back(target, data, photo_root):
    folder = photo_root / "bg_challenge" / "mixed_same" / "val" / "03_reptile"
    shutil.rmtree(folder)
    folder.symlink_to(target)
    with pytest.raises(DataError) as refusal:
        data.pair_set()
    assert str(folder) in str(refusal.value)
