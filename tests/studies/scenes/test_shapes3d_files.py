"""Files that are no ``3dshapes.h5``: each is refused by its name, with what was expected."""

import os
import shutil

import h5py
import numpy as np
import pytest
from ended_commands import refused, succeeded
from shapes3d_file import write_shapes3d
from small_studies import of_scenes, untrained

from decaf.errors import DataError
from decaf.foundation.extras import install_command
from decaf.studies.scenes import images
from decaf.studies.scenes.adapters import Shapes3D
from decaf.studies.scenes.images import identity, read_scenes

DATA = {"adapter": "shapes3d", "sources": 4}


@pytest.fixture(scope="module")
def usable(tmp_path_factory):
    scene = int(Shapes3D(**DATA).pair_set().inputs[0].location)
    return write_shapes3d(tmp_path_factory.mktemp("usable") / "usable.h5", [scene])


@pytest.fixture
def file(usable, tmp_path):
    return shutil.copy(usable, tmp_path / "3dshapes.h5")


def changed(change):
    """Change what is in a file."""

    def apply(path):
        with h5py.File(path, "r+") as file:
            change(file)

    return apply


def replaced(name, make):
    """Put another thing in the place of an array."""

    def apply(file):
        del file[name]
        make(file)

    return changed(apply)


def swap_rows(file):
    file["labels"][1205:1207] = file["labels"][1205:1207][::-1]


def hide_a_level(file):
    labels = file["labels"][:]
    labels[labels[:, 1] == labels[4800, 1], 1] = labels[0, 1]
    file["labels"][:] = labels


def no_number(file):
    file["labels"][479_999, 5] = np.nan


def make_virtual(file):
    layout = h5py.VirtualLayout((480_000, 64, 64, 3), np.uint8)
    layout[:] = h5py.VirtualSource("elsewhere.h5", "images", (480_000, 64, 64, 3))
    file.create_virtual_dataset("images", layout)


def make_external(file):
    held = [("/etc/hostname", 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("images", (480_000, 64, 64, 3), np.uint8, external=held)


def link(file):
    file["images"] = h5py.ExternalLink("elsewhere.h5", "images")


def point(file):
    file["images"] = h5py.SoftLink("/labels")


def make_pipe(path):
    path.unlink()
    os.mkfifo(path)


def make_folder(path):
    path.unlink()
    path.mkdir()


OWN = "holds no array 'images'"
FILES = {
    "absent": (lambda path: path.unlink(), "cannot be read: No such file"),
    "folder": (make_folder, "it is a folder, not a file"),
    "pipe": (make_pipe, "it is a pipe, not a file"),
    "empty": (lambda path: path.write_bytes(b""), "(0 bytes) cannot be read"),
    "text": (lambda path: path.write_text("images\n" * 999), "(6,993 bytes) cannot be read"),
    "cut short": (lambda path: os.truncate(path, 9000), "(9,000 bytes) cannot be read: Unable"),
    "no images": (replaced("images", lambda file: None), OWN),
    "group": (replaced("images", lambda file: file.create_group("images")), OWN),
    "link": (replaced("images", link), OWN),
    "pointer": (replaced("images", point), OWN),
    "virtual": (replaced("images", make_virtual), OWN),
    "external": (replaced("images", make_external), OWN),
    "other size": (
        replaced("images", lambda f: f.create_dataset("images", (480_000, 32, 32, 3), np.uint8)),
        "is uint8 (480000, 32, 32, 3), expected uint8 (480000, 64, 64, 3)",
    ),
    "other type": (
        replaced("labels", lambda f: f.create_dataset("labels", (480_000, 6), np.float32)),
        "is float32 (480000, 6), expected float64 (480000, 6)",
    ),
    "other order": (changed(swap_rows), "row 1206 has orientation"),
    "level missing": (changed(hide_a_level), "row 1 has wall_hue 0.0"),
    "not a number": (changed(no_number), "row 480000 has orientation nan"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used_is_refused(name, file):
    spoil, words = FILES[name]
    spoil(file)
    with pytest.raises(DataError, match="3dshapes.h5") as refusal:
        identity(file)
    assert words in str(refusal.value)
    assert str(file) in str(refusal.value)
    with pytest.raises(DataError):
        read_scenes(file, np.array([3]))


def test_the_size_of_the_official_file_with_another_content_is_damage(file, monkeypatch):
    monkeypatch.setattr(images, "OFFICIAL_BYTES", file.stat().st_size)
    with pytest.raises(DataError, match="sha256"):
        identity(file)


def damage_images(path):
    """Overwrite the compressed chunk of the only image."""
    with h5py.File(path) as file:
        chunk = file["images"].id.get_chunk_info(0)
    with path.open("r+b") as file:
        file.seek(chunk.byte_offset)
        file.write(bytes(chunk.size))


def test_damaged_images_are_told_once_before_anything_is_scored(file):
    damage_images(file)
    data = Shapes3D(**DATA, images=file)
    with pytest.raises(DataError) as refusal:
        data.verify(data.pair_set())
    assert str(refusal.value).count(str(file)) == 1


@pytest.mark.slow
def test_a_study_says_of_which_images_it_is(file, decaf, write):
    data = DATA | {"images": str(file)}
    study = of_scenes(file.parent, [untrained(file.parent, "a")], data=data)
    path = write(study)
    for done in (decaf("plan", path), decaf("data", path)):
        assert "3dshapes.h5" in succeeded(done)
    refused(
        decaf("plan", path, SURROUNDINGS="without_package=h5py"),
        f"package h5py is not installed here; {install_command('hdf5')}",
    )
