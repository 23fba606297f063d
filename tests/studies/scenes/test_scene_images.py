"""Pixels of the file of 3D Shapes, from a small file in its layout."""

import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes3d_file import write_shapes3d

from decaf.errors import DataError, MissingPackage
from decaf.studies.scenes import images
from decaf.studies.scenes.images import OFFICIAL_BYTES, identity, read_scenes, remark
from decaf.studies.scenes.render import render

SCENES = (0, 99, 100, 101, 240_007, 479_999)


@cache
def averaged_scenes():
    return np.rint(render(np.array(SCENES), 64).reshape(-1, 32, 2, 32, 2, 3).mean(axis=(2, 4)))


def averaged(scenes):
    """What a file of rendered scenes shows of them, computed another way."""
    return averaged_scenes()[[SCENES.index(scene) for scene in scenes]]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_shapes3d(tmp_path_factory.mktemp("shapes3d") / "small.h5", SCENES)


def test_a_pixel_is_the_mean_of_four_rounded_half_to_even(tmp_path):
    pixels = np.zeros((1, 64, 64, 3), np.uint8)
    pixels[0, :2, :2, 0] = [[0, 1], [1, 0]]  # 0.5
    pixels[0, :2, 2:4, 0] = [[1, 2], [1, 2]]  # 1.5
    pixels[0, :2, 4:6, 0] = [[3, 2], [3, 2]]  # 2.5
    pixels[0, :2, 6:8, 0] = [[0, 0], [0, 3]]  # 0.75
    pixels[0, 62:, 62:, 2] = 255
    path = write_shapes3d(tmp_path / "one.h5", [7], pixels)
    found = read_scenes(path, np.array([7]))[0]
    assert found[0, :4, 0].tolist() == [0, 2, 2, 1]
    assert found[31, 31].tolist() == [0, 0, 255]
    assert found.sum() == 260


@settings(max_examples=25)
@given(st.lists(st.sampled_from(SCENES), max_size=8))
def test_scenes_in_any_order_and_more_than_once(file, scenes):
    found = read_scenes(file, np.array(scenes, dtype=int))
    assert (found.shape, found.dtype) == ((len(scenes), 32, 32, 3), np.uint8)
    assert np.array_equal(found, averaged(np.array(scenes, dtype=int)))


@pytest.mark.parametrize("chunks", [(7, 64, 64, 3), (1500, 16, 32, 1), None], ids=str)
def test_files_in_any_chunks_show_the_same(tmp_path, chunks, monkeypatch):
    if chunks is None:  # the file has holes, and 5.9 GB with them
        monkeypatch.setattr(images, "file_sha256", lambda path: "of holes")
    path = write_shapes3d(tmp_path / "chunked.h5", SCENES, chunks=chunks)
    order = np.array(SCENES)[[5, 1, 2, 0]]
    assert np.array_equal(read_scenes(path, order), averaged(order))


def test_many_processes_read_one_file(file):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(read_scenes, [file] * 4, [np.array([scene]) for scene in SCENES[:4]]))
    assert np.array_equal(np.concatenate(found), averaged(np.array(SCENES[:4])))


def test_what_identifies_the_pixels_and_what_is_said_of_them(file, tmp_path):
    other = write_shapes3d(tmp_path / "other.h5", [1])
    assert identity("rendered") == "scenes 1 at 32"
    assert len({identity("rendered"), identity(file), identity(other)}) == 3
    assert "renderer" in remark("rendered")
    digest = identity(file).rpartition(" ")[2]
    assert "small.h5" in remark(file)
    assert digest in remark(file)


def test_the_official_file_is_known_by_its_digest(file, monkeypatch):
    of_another_file = remark(file)
    monkeypatch.setattr(images, "OFFICIAL_SHA256", identity(file).rpartition(" ")[2])
    assert remark(file) != of_another_file
    assert OFFICIAL_BYTES == 267_573_662


def test_without_h5py_its_extra_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    monkeypatch.setattr("decaf.foundation.extras.find_spec", lambda name: None)
    for asked in (identity, remark, lambda path: read_scenes(path, np.array([0]))):
        with pytest.raises(MissingPackage, match=r"pip install .*\[hdf5\]'"):
            asked(file)
    assert read_scenes("rendered", np.array([0])).shape == (1, 32, 32, 3)


def test_errors_travel(file):
    with pytest.raises(DataError) as refused:
        read_scenes(file.parent / "absent.h5", np.array([0]))
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
