"""Image files of every kind: each is read right, or refused by its name."""

import os
import re
import shutil

import numpy as np
import pytest
from ended_commands import refused, succeeded
from picture_files import BODIES, HEADERS, READ, png

from decaf.data.photo_files import central_crop, read_photo, upright_size
from decaf.errors import DataError

# The command line ignores what Pillow warns of; pytest would not.
IGNORED = ("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
pytestmark = [*map(pytest.mark.filterwarnings, IGNORED)]
REFUSED = HEADERS | BODIES
AT_ONCE = 9
"""Foregrounds of the small study; one message has room for ten photos."""


def photos(photo_root, variant):
    return sorted((photo_root / "bg_challenge" / variant).rglob("*.JPEG"))


@pytest.mark.parametrize("name", READ)
def test_what_is_read_has_these_pixels(name, tmp_path):
    content, pixels = READ[name]
    (tmp_path / "photo").write_bytes(content)
    image = read_photo(tmp_path / "photo")
    np.testing.assert_array_equal(np.asarray(image), pixels)
    assert upright_size(tmp_path / "photo") == image.size == (60, 50)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(name, tmp_path):
    content, words = REFUSED[name]
    (tmp_path / "photo").write_bytes(content)
    with pytest.raises(DataError, match=r"photo cannot be decoded .*; restore it, or") as refusal:
        read_photo(tmp_path / "photo")
    assert words in str(refusal.value)
    if name in BODIES:
        assert upright_size(tmp_path / "photo") == (60, 50)
    else:
        with pytest.raises(DataError):
            upright_size(tmp_path / "photo")


def test_one_pixel_becomes_a_picture_of_its_colour(tmp_path):
    (tmp_path / "photo").write_bytes(png(1, 1, 8, 2, bytes([0, 10, 20, 30])))
    pixels = central_crop(read_photo(tmp_path / "photo"))
    assert pixels.shape == (224, 224, 3)
    assert set(map(tuple, pixels.reshape(-1, 3))) == {(10, 20, 30)}


def test_a_run_names_every_photo_that_it_refuses(
    photo_study, photo_root, write, decaf, prefect_server, tmp_path
):
    names = [*HEADERS][:AT_ONCE]
    files = photos(photo_root, "mixed_rand")[:AT_ONCE]
    for file, name in zip(files, names, strict=True):
        file.write_bytes(REFUSED[name][0])
    complaint = refused(decaf("run", write(photo_study), **prefect_server), *map(str, files))
    assert all(REFUSED[name][1] in complaint for name in names)
    assert not list((tmp_path / "workspace").rglob("*.npy"))
    assert not list((tmp_path / "warehouse" / "receipts" / "units").rglob("*.json"))


def test_a_message_names_ten_and_counts_the_others(
    photo_study, photo_root, write, decaf, prefect_server
):
    for variant in ("mixed_same", "mixed_next"):
        for file in photos(photo_root, variant):
            file.write_bytes(b"")
    words = "error: photos or pairs that cannot be used: 18"
    complaint = refused(decaf("run", write(photo_study), **prefect_server), words)
    assert complaint.count("cannot be decoded") == 10
    assert "and 8 more" in complaint


def replaced(photo_root, make):
    """Put something else in the place of a photo; returns its path."""
    file = photos(photo_root, "mixed_rand")[0]
    file.rename(photo_root / "aside")
    make(file)
    return file


NO_PHOTOS = {
    "a FIFO": (os.mkfifo, "no file, or a link that leads nowhere"),
    "a device": (lambda file: file.symlink_to("/dev/zero"), "no file, or a link"),
    "a folder": (lambda file: file.mkdir(), "is a folder; expected a photo"),
    "a dangling link": (lambda file: file.symlink_to("nowhere"), "a link that leads nowhere"),
    "a link to itself": (lambda file: file.symlink_to(file), "a link that leads nowhere"),
}


@pytest.mark.parametrize("name", NO_PHOTOS)
def test_what_is_no_file_is_refused_and_not_read(name, photo_study, photo_root, write, decaf):
    make, words = NO_PHOTOS[name]
    file = replaced(photo_root, make)
    refused(decaf("plan", write(photo_study)), str(file), words)


def test_links_to_photos_and_to_class_folders_are_followed(
    photo_study, photo_root, write, decaf, tmp_path
):
    def plan():
        # Memory and speed are those of one process.
        measured = r"[\d.]+ [GM]B|about \S+ s? ?\S*|[\d,]+ rows/s|batches of [\d,]+"
        return re.sub(measured, "", succeeded(decaf("plan", write(photo_study))))

    before = plan()
    replaced(photo_root, lambda file: file.symlink_to(photo_root / "aside"))
    folder = photos(photo_root, "mixed_next")[0].parent
    shutil.move(folder, tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert plan() == before


@pytest.mark.parametrize(
    ("target", "words"), [("nowhere", "leads nowhere"), ("03_reptile", "leads nowhere"), ("..", "")]
)
def test_a_class_folder_that_leads_nowhere_or_back(
    target, words, photo_study, photo_root, write, decaf
):
    folder = photo_root / "bg_challenge" / "mixed_same" / "val" / "03_reptile"
    shutil.rmtree(folder)
    folder.symlink_to(target)
    refused(decaf("plan", write(photo_study)), str(folder), words)
