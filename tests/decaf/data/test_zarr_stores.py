"""Stores of zarr: the pairs of a file, read by chunks; what strangers may have put into one."""

import json
import os
import sys

import numpy as np
import pytest
import zarr
from own_data import signals

from decaf.data.adapters.arrays import Arrays
from decaf.data.array_files import map_array
from decaf.errors import DataError, MissingPackage

FACTUAL, CHANGED = signals(10)
FORMATS = {
    "2": {"zarr_format": 2, "chunks": (4, 2, 16)},
    "3": {"zarr_format": 3, "chunks": (4, 1, 5)},
    "shards": {"zarr_format": 3, "chunks": (2, 2, 8), "shards": (4, 2, 16)},
}


def store(path, zarr_format=3, **layout):
    group = zarr.open_group(path, mode="w", zarr_format=zarr_format)
    group.create_array("factual", data=FACTUAL, **layout)
    group.create_array("after", data=CHANGED, **layout)
    group.create_array("label", data=np.arange(10) % 2)
    return path


def pairs_of(path, **more):
    names = {"counterfactual": "after"} if path.suffix == ".zarr" else {}
    given = {"factual": path, "counterfactual": path, "label": path} | more
    data = Arrays(adapter="arrays", names=names, **given)
    return data, data.pair_set()


@pytest.mark.parametrize("layout", FORMATS)
def test_a_store_has_the_pairs_of_files(layout, tmp_path):
    data, pairs = pairs_of(store(tmp_path / "a.zarr", **FORMATS[layout]))
    files = {"factual": FACTUAL, "counterfactual": CHANGED, "label": np.arange(10) % 2}
    for name, array in files.items():
        np.save(tmp_path / f"{name}.npy", array)
        files[name] = tmp_path / f"{name}.npy"
    assert pairs == pairs_of(files["factual"], **files)[1]
    for row in (9, 0, 5):
        np.testing.assert_array_equal(data.read_input(pairs.inputs[row]), FACTUAL[row])
        np.testing.assert_array_equal(data.read_input(pairs.inputs[10 + row]), CHANGED[row])


def test_every_chunk_of_rows_is_read_once_and_two_are_held(tmp_path):
    rows = map_array(store(tmp_path / "a.zarr", chunks=(2, 2, 16)), "factual")
    np.testing.assert_array_equal(np.stack(list(rows)), FACTUAL)
    read = rows._chunk.cache_info()
    assert (read.misses, read.currsize) == (5, 2)
    with pytest.raises(IndexError):
        rows[10]


def test_an_array_alone_is_a_store_too(tmp_path):
    zarr.save_array(str(tmp_path / "x.zarr"), FACTUAL)
    np.testing.assert_array_equal(map_array(tmp_path / "x.zarr", "any")[3], FACTUAL[3])


def test_a_chunk_that_changes_changes_its_rows(tmp_path):
    path = store(tmp_path / "a.zarr", chunks=(4, 2, 16))
    before = pairs_of(path)[1]
    array = zarr.open_group(path)["factual"]
    array[5] = 7.0
    chunk = path / "factual" / "c" / "1" / "0" / "0"
    os.utime(chunk, ns=(1, chunk.stat().st_mtime_ns + 10**9))
    data, after = pairs_of(path)
    changed = [a != b for a, b in zip(before.inputs, after.inputs, strict=True)]
    assert np.flatnonzero(changed).tolist() == [5]
    assert (data.read_input(after.inputs[5]) == 7).all()


def test_zarr_that_is_not_installed_is_named_with_its_extra(tmp_path, monkeypatch):
    path = store(tmp_path / "a.zarr")
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingPackage, match=r"zarr .* pip install .*\[zarr\]'"):
        map_array(path, "factual")


def packed_by(*codecs):
    def change(path):
        metadata = path / "factual" / ".zarray"
        described = json.loads(metadata.read_text())
        filters = [{"id": codec} for codec in codecs]
        metadata.write_text(json.dumps(described | {"filters": filters}))

    return change


REFUSED = {
    "pickle": (packed_by("zlib", "pickle"), "pickle"),  # some versions of zarr refuse it, too
    "another codec": (packed_by("base64"), "uses the codec base64; expected blosc, "),
    "link": (
        lambda path: (path / "factual" / "0.0.0").symlink_to("/etc/hostname"),
        "has a link, .*0.0.0; put the file itself there",
    ),
    "damaged": (lambda path: (path / "factual" / "1.0.0").write_bytes(b"x"), "cannot be read: "),
    "no array": (
        lambda path: (path / "factual").rename(path / "factuals"),
        "no array 'factual'; did you mean 'factuals'",
    ),
    "no metadata": (lambda path: (path / ".zgroup").unlink(), "expected a folder that zarr wrote"),
    "no JSON": (
        lambda path: (path / "factual" / ".zarray").write_text("{"),
        "expected a folder that zarr wrote",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_store_that_cannot_be_used_is_refused(name, tmp_path):
    path = store(tmp_path / "a.zarr", zarr_format=2, chunks=(4, 2, 16))
    change, words = REFUSED[name]
    if name == "link":
        (path / "factual" / "0.0.0").unlink()
    change(path)
    with pytest.raises(DataError, match=words):
        pairs_of(path)


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "a.zarr").write_bytes(b"x")
    with pytest.raises(DataError, match=r"a\.zarr"):
        map_array(tmp_path / "a.zarr", "factual")
    with pytest.raises(DataError, match=r"none\.zarr.* No such file"):
        map_array(tmp_path / "none.zarr", "factual")
